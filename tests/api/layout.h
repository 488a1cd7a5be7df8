/* steno tests: the layout of every public struct on 64-bit processors. SPDX-License-Identifier: MIT
 *
 * S(name, size) is a row for each struct, F(struct, name, offset) one for each of its fields. Programs that were compiled with an older
 * header read and write these places, so a row never changes. A new field goes to the end of its struct and gets a row here. */
#ifndef STENO_TESTS_API_LAYOUT_H
#define STENO_TESTS_API_LAYOUT_H

#define EACH_PLACE(S, F)                                                                                                                \
    S(steno_error, 1024) F(steno_error, status, 0) F(steno_error, text, 4)                                                             \
    S(steno_model_params, 96) F(steno_model_params, size, 0) F(steno_model_params, compute, 4) F(steno_model_params, cpu_level, 8)     \
    F(steno_model_params, team, 16) F(steno_model_params, vocab, 24) F(steno_model_params, no_cmvn, 32)                                \
    F(steno_model_params, index_only, 36) F(steno_model_params, alignment_heads, 40) F(steno_model_params, verify, 48)                 \
    F(steno_model_params, text_ctx, 52) F(steno_model_params, llm, 56) F(steno_model_params, kv_type, 64)                              \
    F(steno_model_params, pad, 68) F(steno_model_params, share_with, 72) F(steno_model_params, jieba_dict, 80)                         \
    F(steno_model_params, gelu, 88) F(steno_model_params, decoder_type, 92)                                                            \
    S(steno_reader, 32) F(steno_reader, size, 0) F(steno_reader, read, 8) F(steno_reader, close, 16) F(steno_reader, user, 24)         \
    S(steno_convert_tensor, 64) F(steno_convert_tensor, size, 0) F(steno_convert_tensor, i, 4) F(steno_convert_tensor, n, 8)           \
    F(steno_convert_tensor, name, 16) F(steno_convert_tensor, from, 24) F(steno_convert_tensor, to, 32)                                \
    F(steno_convert_tensor, wanted, 40) F(steno_convert_tensor, from_bytes, 48) F(steno_convert_tensor, to_bytes, 56)                  \
    S(steno_convert_params, 96) F(steno_convert_params, size, 0) F(steno_convert_params, pad, 4) F(steno_convert_params, write, 8)     \
    F(steno_convert_params, user, 16) F(steno_convert_params, type, 24) F(steno_convert_params, vocab, 32)                             \
    F(steno_convert_params, llm, 40) F(steno_convert_params, imatrix, 48) F(steno_convert_params, allow_requantize, 56)                \
    F(steno_convert_params, n_threads, 60) F(steno_convert_params, tensor, 64) F(steno_convert_params, pure, 72)                       \
    F(steno_convert_params, pad_pure, 76) F(steno_convert_params, form, 80) F(steno_convert_params, file, 88)                          \
    S(steno_kind, 696) F(steno_kind, size, 0) F(steno_kind, readable, 4) F(steno_kind, what, 8) F(steno_kind, advice, 168)             \
    F(steno_kind, file, 488)                                                                                                           \
    S(steno_model_info, 328) F(steno_model_info, size, 0) F(steno_model_info, family, 4) F(steno_model_info, name, 20)                 \
    F(steno_model_info, weight_type, 44) F(steno_model_info, compute, 52) F(steno_model_info, cpu_level, 60)                           \
    F(steno_model_info, n_mels, 76) F(steno_model_info, n_audio_ctx, 80) F(steno_model_info, n_audio_state, 84)                        \
    F(steno_model_info, n_audio_head, 88) F(steno_model_info, n_audio_layer, 92) F(steno_model_info, n_vocab, 96)                      \
    F(steno_model_info, n_text_ctx, 100) F(steno_model_info, n_text_state, 104) F(steno_model_info, n_text_head, 108)                  \
    F(steno_model_info, n_text_layer, 112) F(steno_model_info, n_languages, 116) F(steno_model_info, is_multilingual, 120)             \
    F(steno_model_info, weight_bytes, 128) F(steno_model_info, session_bytes, 136) F(steno_model_info, parameters, 144)                \
    F(steno_model_info, format, 152) F(steno_model_info, alignment_heads, 176) F(steno_model_info, device, 184)                        \
    F(steno_model_info, attention, 192) F(steno_model_info, decoder_weights, 200) F(steno_model_info, verify, 208)                     \
    F(steno_model_info, itn, 212) F(steno_model_info, bare_text, 216) F(steno_model_info, jieba, 220)                                  \
    F(steno_model_info, token_bytes, 224) F(steno_model_info, kv_bytes, 232) F(steno_model_info, chat, 240)                            \
    F(steno_model_info, alignment_unsure, 256) F(steno_model_info, durations, 260) F(steno_model_info, attention_before, 296)           \
    F(steno_model_info, attention_after, 300) F(steno_model_info, decoder_types, 304) F(steno_model_info, draft_sources, 320)            \
    F(steno_model_info, pad, 324)                                                                                                      \
    S(steno_tensor, 80) F(steno_tensor, size, 0) F(steno_tensor, n_dims, 4) F(steno_tensor, name, 8) F(steno_tensor, type, 16)         \
    F(steno_tensor, file, 24) F(steno_tensor, dim, 32) F(steno_tensor, offset, 64) F(steno_tensor, bytes, 72)                          \
    S(steno_text_part, 24) F(steno_text_part, text, 0) F(steno_text_part, n, 8) F(steno_text_part, flags, 16)                          \
    S(steno_message, 16) F(steno_message, role, 0) F(steno_message, content, 8)                                                        \
    S(steno_session_params, 24) F(steno_session_params, size, 0) F(steno_session_params, max_lanes, 4)                                 \
    F(steno_session_params, batch, 8) F(steno_session_params, draft_model, 16)                                                         \
    S(steno_source, 24) F(steno_source, read, 0) F(steno_source, rewind, 8) F(steno_source, user, 16)                                  \
    S(steno_segment, 160) F(steno_segment, size, 0) F(steno_segment, id, 4) F(steno_segment, n_tokens, 8)                              \
    F(steno_segment, seek_frames, 16) F(steno_segment, t0_ms, 24) F(steno_segment, t1_ms, 32) F(steno_segment, text, 40)               \
    F(steno_segment, tokens, 48) F(steno_segment, temperature, 56) F(steno_segment, avg_logprob, 64)                                   \
    F(steno_segment, compression_ratio, 72) F(steno_segment, no_speech_prob, 80) F(steno_segment, flags, 88)                           \
    F(steno_segment, attempt, 92) F(steno_segment, language, 96) F(steno_segment, emotion, 104) F(steno_segment, event, 112)           \
    F(steno_segment, itn, 120) F(steno_segment, start, 128) F(steno_segment, end, 136) F(steno_segment, n_words, 144)                  \
    F(steno_segment, speaker_turn, 148) F(steno_segment, word_source, 152)                                                             \
    S(steno_word, 64) F(steno_word, size, 0) F(steno_word, n_tokens, 4) F(steno_word, start, 8) F(steno_word, end, 16)                 \
    F(steno_word, t0_ms, 24) F(steno_word, t1_ms, 32) F(steno_word, text, 40) F(steno_word, probability, 48)                           \
    F(steno_word, spoken, 56)                                                                                                          \
    S(steno_attempt, 128) F(steno_attempt, size, 0) F(steno_attempt, index, 4) F(steno_attempt, at_ms, 8)                              \
    F(steno_attempt, temperature, 16) F(steno_attempt, avg_logprob, 24) F(steno_attempt, compression_ratio, 32)                        \
    F(steno_attempt, no_speech_prob, 40) F(steno_attempt, entropy, 48) F(steno_attempt, n_tokens, 56) F(steno_attempt, flags, 60)      \
    F(steno_attempt, with_previous, 64) F(steno_attempt, kept, 68) F(steno_attempt, score, 72) F(steno_attempt, n_candidates, 80)      \
    F(steno_attempt, chosen, 84) F(steno_attempt, margin, 88) F(steno_attempt, margin_timestamps, 96)                                  \
    F(steno_attempt, verified, 104) F(steno_attempt, corrected, 108) F(steno_attempt, failed, 112) F(steno_attempt, completed, 116)    \
    F(steno_attempt, has_ts, 120) F(steno_attempt, seek_delta_ms, 124)                                                                 \
    S(steno_step, 32) F(steno_step, size, 0) F(steno_step, lane, 4) F(steno_step, at_ms, 8) F(steno_step, temperature, 16)             \
    F(steno_step, attempt, 24) F(steno_step, n_vocab, 28)                                                                              \
    S(steno_align_item, 40) F(steno_align_item, size, 0) F(steno_align_item, status, 4) F(steno_align_item, of, 8)                     \
    F(steno_align_item, src, 16) F(steno_align_item, params, 24) F(steno_align_item, error, 32)                                        \
    S(steno_rows, 48) F(steno_rows, size, 0) F(steno_rows, first, 4) F(steno_rows, n_rows, 8) F(steno_rows, width, 12)                 \
    F(steno_rows, name, 16) F(steno_rows, at_ms, 24) F(steno_rows, rows, 32) F(steno_rows, stride, 40)                                 \
    S(steno_token, 64) F(steno_token, size, 0) F(steno_token, id, 4) F(steno_token, ts_id, 8) F(steno_token, p, 12)                    \
    F(steno_token, logprob, 16) F(steno_token, ts_prob, 20) F(steno_token, ts_prob_sum, 24) F(steno_token, t0_ms, 32)                  \
    F(steno_token, t1_ms, 40) F(steno_token, t_dtw_ms, 48) F(steno_token, vlen, 56)                                                    \
    S(steno_transcribe_params, 528) F(steno_transcribe_params, size, 0) F(steno_transcribe_params, task, 4)                            \
    F(steno_transcribe_params, language, 8) F(steno_transcribe_params, initial_prompt, 16)                                             \
    F(steno_transcribe_params, suppress_tokens, 24) F(steno_transcribe_params, condition_on_previous_text, 32)                         \
    F(steno_transcribe_params, without_timestamps, 36) F(steno_transcribe_params, suppress_blank, 40)                                  \
    F(steno_transcribe_params, sample_len, 44) F(steno_transcribe_params, max_initial_timestamp, 48)                                   \
    F(steno_transcribe_params, temperature, 56) F(steno_transcribe_params, seed, 64)                                                   \
    F(steno_transcribe_params, no_speech_threshold, 72) F(steno_transcribe_params, logprob_threshold, 80)                              \
    F(steno_transcribe_params, offset_ms, 88) F(steno_transcribe_params, duration_ms, 96) F(steno_transcribe_params, user, 104)        \
    F(steno_transcribe_params, on_segment, 112) F(steno_transcribe_params, on_progress, 120)                                           \
    F(steno_transcribe_params, on_window, 128) F(steno_transcribe_params, should_abort, 136)                                           \
    F(steno_transcribe_params, temperature_increment_on_fallback, 144) F(steno_transcribe_params, compression_ratio_threshold, 152)    \
    F(steno_transcribe_params, entropy_threshold, 160) F(steno_transcribe_params, prompt_tokens, 168)                                  \
    F(steno_transcribe_params, n_prompt_tokens, 176) F(steno_transcribe_params, carry_initial_prompt, 180)                             \
    F(steno_transcribe_params, guards, 184) F(steno_transcribe_params, keep_audio_features, 188)                                       \
    F(steno_transcribe_params, on_attempt, 192) F(steno_transcribe_params, logits_filter, 200) F(steno_transcribe_params, itn, 208)    \
    F(steno_transcribe_params, ban_unknown_emotion, 212) F(steno_transcribe_params, beam_size, 216)                                    \
    F(steno_transcribe_params, best_of, 220) F(steno_transcribe_params, patience, 224)                                                 \
    F(steno_transcribe_params, length_penalty, 232) F(steno_transcribe_params, prefix, 240)                                            \
    F(steno_transcribe_params, prefix_tokens, 248) F(steno_transcribe_params, n_prefix_tokens, 256)                                    \
    F(steno_transcribe_params, max_context, 260) F(steno_transcribe_params, suppress_regex, 264)                                       \
    F(steno_transcribe_params, grammar, 272) F(steno_transcribe_params, grammar_rule, 280)                                             \
    F(steno_transcribe_params, grammar_penalty, 288) F(steno_transcribe_params, hotwords, 296)                                         \
    F(steno_transcribe_params, hotwords_boost, 304) F(steno_transcribe_params, clip_timestamps, 312)                                   \
    F(steno_transcribe_params, n_clip_timestamps, 320) F(steno_transcribe_params, independent_clips, 324)                              \
    F(steno_transcribe_params, chunk_ms, 328) F(steno_transcribe_params, audio_ctx, 332)                                               \
    F(steno_transcribe_params, language_detection_segments, 336) F(steno_transcribe_params, language_detection_threshold, 344)         \
    F(steno_transcribe_params, word_timestamps, 352) F(steno_transcribe_params, prepend_punctuations, 360)                             \
    F(steno_transcribe_params, append_punctuations, 368) F(steno_transcribe_params, hallucination_silence_threshold, 376)              \
    F(steno_transcribe_params, token_threshold, 384) F(steno_transcribe_params, token_timestamps, 392)                                 \
    F(steno_transcribe_params, tinydiarize, 396) F(steno_transcribe_params, verify_margin, 400)                                        \
    F(steno_transcribe_params, tags, 408) F(steno_transcribe_params, pad, 412) F(steno_transcribe_params, chunk_size, 416)             \
    F(steno_transcribe_params, encoder_chunk_look_back, 424) F(steno_transcribe_params, decoder_chunk_look_back, 428)                  \
    F(steno_transcribe_params, on_rows, 432) F(steno_transcribe_params, vad_model, 440) F(steno_transcribe_params, vad, 448)           \
    F(steno_transcribe_params, repetition_penalty, 456) F(steno_transcribe_params, draft_max, 464)                                     \
    F(steno_transcribe_params, n_resume, 468) F(steno_transcribe_params, on_resume_point, 472)                                         \
    F(steno_transcribe_params, resume, 480) F(steno_transcribe_params, decoding, 488) F(steno_transcribe_params, n_best, 492)          \
    F(steno_transcribe_params, language_per_segment, 496) F(steno_transcribe_params, lookahead, 500)                                   \
    F(steno_transcribe_params, fallback_temperatures, 504) F(steno_transcribe_params, n_fallback_temperatures, 512)                    \
    F(steno_transcribe_params, no_repeat_ngram_size, 516) F(steno_transcribe_params, prompt_reset_on_temperature, 520)                 \
    S(steno_hypothesis, 64) F(steno_hypothesis, size, 0) F(steno_hypothesis, place, 4) F(steno_hypothesis, at_ms, 8)                   \
    F(steno_hypothesis, text, 16) F(steno_hypothesis, tokens, 24) F(steno_hypothesis, logprobs, 32)                                    \
    F(steno_hypothesis, n_tokens, 40) F(steno_hypothesis, pad, 44) F(steno_hypothesis, avg_logprob, 48)                                \
    F(steno_hypothesis, score, 56)                                                                                                     \
    S(steno_left_out, 64) F(steno_left_out, size, 0) F(steno_left_out, flags, 4) F(steno_left_out, t0_ms, 8)                           \
    F(steno_left_out, t1_ms, 16) F(steno_left_out, text, 24) F(steno_left_out, avg_logprob, 32)                                        \
    F(steno_left_out, no_speech_prob, 40) F(steno_left_out, is_window, 48) F(steno_left_out, pad, 52) F(steno_left_out, language, 56)  \
    S(steno_generate_params, 152) F(steno_generate_params, size, 0) F(steno_generate_params, max_tokens, 4)                            \
    F(steno_generate_params, temperature, 8) F(steno_generate_params, seed, 16) F(steno_generate_params, top_k, 24)                    \
    F(steno_generate_params, repeat_last_n, 28) F(steno_generate_params, top_p, 32) F(steno_generate_params, min_p, 40)                \
    F(steno_generate_params, repeat_penalty, 48) F(steno_generate_params, frequency_penalty, 56)                                       \
    F(steno_generate_params, presence_penalty, 64) F(steno_generate_params, samplers, 72) F(steno_generate_params, grammar, 80)        \
    F(steno_generate_params, grammar_rule, 88) F(steno_generate_params, json_schema, 96) F(steno_generate_params, stop, 104)           \
    F(steno_generate_params, n_stop, 112) F(steno_generate_params, ignore_eos, 116) F(steno_generate_params, user, 120)                \
    F(steno_generate_params, on_token, 128) F(steno_generate_params, should_abort, 136) F(steno_generate_params, draft_max, 144)       \
    F(steno_generate_params, top_logprobs, 148)                                                                                        \
    S(steno_span, 24) F(steno_span, size, 0) F(steno_span, pad, 4) F(steno_span, t0_ms, 8) F(steno_span, t1_ms, 16)                    \
    S(steno_vad_params, 128) F(steno_vad_params, size, 0) F(steno_vad_params, pad, 4) F(steno_vad_params, threshold, 8)                \
    F(steno_vad_params, max_end_silence_ms, 16) F(steno_vad_params, max_segment_ms, 24) F(steno_vad_params, user, 32)                  \
    F(steno_vad_params, on_frame, 40) F(steno_vad_params, on_span, 48) F(steno_vad_params, should_abort, 56)                           \
    F(steno_vad_params, schedule, 64) F(steno_vad_params, streaming, 68) F(steno_vad_params, chunk_size_ms, 72)                        \
    F(steno_vad_params, pad2, 76) F(steno_vad_params, min_speech_ms, 80) F(steno_vad_params, merge_ms, 88)                             \
    F(steno_vad_params, on_event, 96) F(steno_vad_params, neg_threshold, 104) F(steno_vad_params, speech_pad_ms, 112)                  \
    F(steno_vad_params, rules, 120) F(steno_vad_params, pad3, 124)                                                                     \
    S(steno_mark, 32) F(steno_mark, size, 0) F(steno_mark, id, 4) F(steno_mark, at, 8) F(steno_mark, end, 16)                          \
    F(steno_mark, text, 24)                                                                                                            \
    S(steno_punctuate_params, 32) F(steno_punctuate_params, size, 0) F(steno_punctuate_params, go_on, 4)                               \
    F(steno_punctuate_params, block_words, 8) F(steno_punctuate_params, pad, 12) F(steno_punctuate_params, user, 16)                   \
    F(steno_punctuate_params, should_abort, 24)                                                                                        \
    S(steno_sentence, 48) F(steno_sentence, size, 0) F(steno_sentence, n_words, 4) F(steno_sentence, t0_ms, 8)                         \
    F(steno_sentence, t1_ms, 16) F(steno_sentence, text, 24) F(steno_sentence, times_ms, 32) F(steno_sentence, first_word, 40)         \
    S(steno_embed_params, 32) F(steno_embed_params, size, 0) F(steno_embed_params, pooling, 4) F(steno_embed_params, normalize, 8)     \
    F(steno_embed_params, truncate, 12) F(steno_embed_params, user, 16) F(steno_embed_params, should_abort, 24)                        \
    S(steno_embedding, 32) F(steno_embedding, size, 0) F(steno_embedding, n, 4) F(steno_embedding, vector, 8)                          \
    F(steno_embedding, n_tokens, 16) F(steno_embedding, is_truncated, 20) F(steno_embedding, pooling, 24)                              \
    F(steno_embedding, pad, 28)                                                                                                        \
    S(steno_batch_params, 48) F(steno_batch_params, size, 0) F(steno_batch_params, max_windows, 4)                                     \
    F(steno_batch_params, max_lanes, 8) F(steno_batch_params, pad, 12) F(steno_batch_params, user, 16)                                 \
    F(steno_batch_params, on_done, 24) F(steno_batch_params, steps_between_encodes, 32) F(steno_batch_params, pad2, 36)                \
    F(steno_batch_params, draft_model, 40)                                                                                             \
    S(steno_heard, 24) F(steno_heard, size, 0) F(steno_heard, pad, 4) F(steno_heard, samples, 8) F(steno_heard, loudest, 16)           \
    S(steno_request_params, 56) F(steno_request_params, size, 0) F(steno_request_params, priority, 4)                                  \
    F(steno_request_params, transcribe, 8) F(steno_request_params, heard, 16) F(steno_request_params, find_speech, 24)                 \
    F(steno_request_params, ids, 32) F(steno_request_params, generate, 40) F(steno_request_params, n_ids, 48)                          \
    F(steno_request_params, pad, 52)                                                                                                   \
    S(steno_param, 80) F(steno_param, size, 0) F(steno_param, kind, 4) F(steno_param, name, 8) F(steno_param, min, 16)                 \
    F(steno_param, max, 24) F(steno_param, value, 32) F(steno_param, none, 40) F(steno_param, has_none, 48)                            \
    F(steno_param, served, 52) F(steno_param, text, 56) F(steno_param, reason, 64) F(steno_param, offset, 72)                          \
    F(steno_param, pad, 76)                                                                                                            \
    S(steno_param_names, 32) F(steno_param_names, size, 0) F(steno_param_names, pad, 4) F(steno_param_names, user, 8)                  \
    F(steno_param_names, name, 16) F(steno_param_names, asked, 24)                                                                     \
    S(steno_timings, 160) F(steno_timings, size, 0) F(steno_timings, n_windows, 4) F(steno_timings, n_encodes, 8)                      \
    F(steno_timings, n_prompts, 12) F(steno_timings, n_steps, 16) F(steno_timings, n_prompt_tokens, 24)                                \
    F(steno_timings, n_wakes, 32) F(steno_timings, load_us, 40) F(steno_timings, source_us, 48) F(steno_timings, mel_us, 56)           \
    F(steno_timings, encode_us, 64) F(steno_timings, cross_us, 72) F(steno_timings, prompt_us, 80) F(steno_timings, decode_us, 88)     \
    F(steno_timings, n_verified, 96) F(steno_timings, n_corrected, 100) F(steno_timings, verify_us, 104)                               \
    F(steno_timings, n_drafted, 112) F(steno_timings, n_accepted, 120) F(steno_timings, n_vad, 128) F(steno_timings, vad_us, 136)      \
    F(steno_timings, n_reused, 144) F(steno_timings, draft_us, 152)                                                                    \
    S(steno_request_timings, 56) F(steno_request_timings, size, 0) F(steno_request_timings, n_windows, 4)                              \
    F(steno_request_timings, queued_us, 8) F(steno_request_timings, first_window_us, 16) F(steno_request_timings, encode_us, 24)       \
    F(steno_request_timings, decode_us, 32) F(steno_request_timings, total_us, 40) F(steno_request_timings, vad_us, 48)                \
    S(steno_media_params, 72) F(steno_media_params, size, 0) F(steno_media_params, spool_dir, 8) F(steno_media_params, stop, 16)       \
    F(steno_media_params, user, 24) F(steno_media_params, live, 32) F(steno_media_params, track, 36)                                   \
    F(steno_media_params, open, 40) F(steno_media_params, head, 48) F(steno_media_params, head_sz, 56)                                 \
    F(steno_media_params, unclocked, 64) F(steno_media_params, once, 68)                                                               \
    S(steno_media_state, 80) F(steno_media_state, size, 0) F(steno_media_state, ended, 4) F(steno_media_state, truncated, 8)           \
    F(steno_media_state, promised_ms, 16) F(steno_media_state, read_ms, 24) F(steno_media_state, damaged_packets, 32)                  \
    F(steno_media_state, start_ms, 40) F(steno_media_state, gaps, 48) F(steno_media_state, gaps_ms, 56)                                \
    F(steno_media_state, dropped_ms, 64) F(steno_media_state, jumps, 72)                                                               \
    S(steno_live_event, 64) F(steno_live_event, size, 0) F(steno_live_event, kind, 4) F(steno_live_event, turn, 8)                     \
    F(steno_live_event, spaces, 12)                                                                                                    \
    F(steno_live_event, t0_ms, 16) F(steno_live_event, t1_ms, 24) F(steno_live_event, decoded_ms, 32)                                  \
    F(steno_live_event, pushed_ms, 40) F(steno_live_event, text, 48) F(steno_live_event, language, 56)                                 \
    S(steno_live_params, 64) F(steno_live_params, size, 0) F(steno_live_params, step_ms, 4) F(steno_live_params, max_turn_ms, 8)       \
    F(steno_live_params, vad, 16) F(steno_live_params, find, 24) F(steno_live_params, text, 32) F(steno_live_params, on_event, 40)     \
    F(steno_live_params, user, 48) F(steno_live_params, audio_padding_ms, 56) F(steno_live_params, last_pass, 60)                       \
    S(steno_output_params, 64) F(steno_output_params, size, 0) F(steno_output_params, task, 4) F(steno_output_params, word_times, 8)   \
    F(steno_output_params, token_times, 12) F(steno_output_params, model, 16) F(steno_output_params, input, 24)                        \
    F(steno_output_params, style, 32) F(steno_output_params, max_len, 40) F(steno_output_params, split_on_word, 44)                    \
    F(steno_output_params, max_line_width, 48) F(steno_output_params, max_line_count, 52)                                              \
    F(steno_output_params, max_words_per_line, 56) F(steno_output_params, highlight_words, 60)
#endif
