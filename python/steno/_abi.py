# steno: layout of the public headers. SPDX-License-Identifier: MIT
#
# Written by python/abi.py; a test compares it with the headers and with the compiler. A field is NAME:KIND@OFFSET.

from __future__ import annotations

VERSION = "0.1.0"

STRUCTS: dict[str, tuple[int, str]] = {
    "steno_error": (1024, (
        "status:i4@0 text:s1020@4"
    )),
    "steno_model_params": (96, (
        "size:u4@0 compute:i4@4 cpu_level:z@8 team:p@16 vocab:z@24 no_cmvn:i4@32 index_only:i4@36 alignment_heads:z@40 "
        "verify:i4@48 text_ctx:i4@52 llm:z@56 kv_type:i4@64 pad:i4@68 share_with:p@72 jieba_dict:z@80 gelu:i4@88 "
        "decoder_type:i4@92"
    )),
    "steno_reader": (32, (
        "size:u8@0 read:p@8 close:p@16 user:p@24"
    )),
    "steno_convert_tensor": (64, (
        "size:u4@0 i:i4@4 n:i4@8 name:z@16 from:z@24 to:z@32 wanted:z@40 from_bytes:i8@48 to_bytes:i8@56"
    )),
    "steno_convert_params": (96, (
        "size:u4@0 pad:i4@4 write:p@8 user:p@16 type:z@24 vocab:z@32 llm:z@40 imatrix:z@48 allow_requantize:i4@56 n_threads:i4@60 "
        "tensor:p@64 pure:i4@72 pad_pure:i4@76 form:z@80 file:p@88"
    )),
    "steno_kind": (696, (
        "size:u4@0 readable:i4@4 what:s160@8 advice:s320@168 file:s208@488"
    )),
    "steno_model_info": (328, (
        "size:u4@0 family:s16@4 name:s24@20 weight_type:s8@44 compute:s8@52 cpu_level:s16@60 n_mels:i4@76 n_audio_ctx:i4@80 "
        "n_audio_state:i4@84 n_audio_head:i4@88 n_audio_layer:i4@92 n_vocab:i4@96 n_text_ctx:i4@100 n_text_state:i4@104 "
        "n_text_head:i4@108 n_text_layer:i4@112 n_languages:i4@116 is_multilingual:i4@120 weight_bytes:i8@128 "
        "session_bytes:i8@136 parameters:i8@144 format:s24@152 alignment_heads:z@176 device:s8@184 attention:s8@192 "
        "decoder_weights:s8@200 verify:i4@208 itn:i4@212 bare_text:i4@216 jieba:i4@220 token_bytes:i8@224 kv_bytes:i8@232 "
        "chat:s16@240 alignment_unsure:i4@256 durations:s36@260 attention_before:i4@296 attention_after:i4@300 "
        "decoder_types:s16@304 draft_sources:i4@320 pad:i4@324"
    )),
    "steno_tensor": (80, (
        "size:u4@0 n_dims:i4@4 name:z@8 type:z@16 file:z@24 dim:u8*4@32 offset:u8@64 bytes:u8@72"
    )),
    "steno_text_part": (24, (
        "text:z@0 n:u8@8 flags:u4@16"
    )),
    "steno_message": (16, (
        "role:z@0 content:z@8"
    )),
    "steno_session_params": (24, (
        "size:u4@0 max_lanes:i4@4 batch:p@8 draft_model:p@16"
    )),
    "steno_source": (24, (
        "read:p@0 rewind:p@8 user:p@16"
    )),
    "steno_segment": (160, (
        "size:u4@0 id:i4@4 n_tokens:i4@8 seek_frames:i8@16 t0_ms:i8@24 t1_ms:i8@32 text:z@40 tokens:p@48 temperature:f8@56 "
        "avg_logprob:f8@64 compression_ratio:f8@72 no_speech_prob:f8@80 flags:u4@88 attempt:i4@92 language:z@96 emotion:z@104 "
        "event:z@112 itn:z@120 start:f8@128 end:f8@136 n_words:i4@144 speaker_turn:i4@148 word_source:z@152"
    )),
    "steno_word": (64, (
        "size:u4@0 n_tokens:i4@4 start:f8@8 end:f8@16 t0_ms:i8@24 t1_ms:i8@32 text:z@40 probability:f8@48 spoken:z@56"
    )),
    "steno_attempt": (128, (
        "size:u4@0 index:i4@4 at_ms:i8@8 temperature:f8@16 avg_logprob:f8@24 compression_ratio:f8@32 no_speech_prob:f8@40 "
        "entropy:f8@48 n_tokens:i4@56 flags:u4@60 with_previous:i4@64 kept:i4@68 score:p@72 n_candidates:i4@80 chosen:i4@84 "
        "margin:f8@88 margin_timestamps:f8@96 verified:i4@104 corrected:i4@108 failed:i4@112 completed:i4@116 has_ts:i4@120 "
        "seek_delta_ms:i4@124"
    )),
    "steno_step": (32, (
        "size:u4@0 lane:i4@4 at_ms:i8@8 temperature:f8@16 attempt:i4@24 n_vocab:i4@28"
    )),
    "steno_rows": (48, (
        "size:u4@0 first:i4@4 n_rows:i4@8 width:i4@12 name:z@16 at_ms:i8@24 rows:p@32 stride:i8@40"
    )),
    "steno_token": (64, (
        "size:u4@0 id:i4@4 ts_id:i4@8 p:f4@12 logprob:f4@16 ts_prob:f4@20 ts_prob_sum:f4@24 t0_ms:i8@32 t1_ms:i8@40 "
        "t_dtw_ms:i8@48 vlen:f4@56"
    )),
    "steno_transcribe_params": (528, (
        "size:u4@0 task:i4@4 language:z@8 initial_prompt:z@16 suppress_tokens:z@24 condition_on_previous_text:i4@32 "
        "without_timestamps:i4@36 suppress_blank:i4@40 sample_len:i4@44 max_initial_timestamp:f8@48 temperature:f8@56 seed:u8@64 "
        "no_speech_threshold:f8@72 logprob_threshold:f8@80 offset_ms:i8@88 duration_ms:i8@96 user:p@104 on_segment:p@112 "
        "on_progress:p@120 on_window:p@128 should_abort:p@136 temperature_increment_on_fallback:f8@144 "
        "compression_ratio_threshold:f8@152 entropy_threshold:f8@160 prompt_tokens:p@168 n_prompt_tokens:i4@176 "
        "carry_initial_prompt:i4@180 guards:i4@184 keep_audio_features:i4@188 on_attempt:p@192 logits_filter:p@200 itn:i4@208 "
        "ban_unknown_emotion:i4@212 beam_size:i4@216 best_of:i4@220 patience:f8@224 length_penalty:f8@232 prefix:z@240 "
        "prefix_tokens:p@248 n_prefix_tokens:i4@256 max_context:i4@260 suppress_regex:z@264 grammar:z@272 grammar_rule:z@280 "
        "grammar_penalty:f8@288 hotwords:z@296 hotwords_boost:f8@304 clip_timestamps:p@312 n_clip_timestamps:i4@320 "
        "independent_clips:i4@324 chunk_ms:i4@328 audio_ctx:i4@332 language_detection_segments:i4@336 "
        "language_detection_threshold:f8@344 word_timestamps:i4@352 prepend_punctuations:z@360 append_punctuations:z@368 "
        "hallucination_silence_threshold:f8@376 token_threshold:f8@384 token_timestamps:i4@392 tinydiarize:i4@396 "
        "verify_margin:f8@400 tags:i4@408 pad:i4@412 chunk_size:z@416 encoder_chunk_look_back:i4@424 "
        "decoder_chunk_look_back:i4@428 on_rows:p@432 vad_model:p@440 vad:p@448 repetition_penalty:f8@456 draft_max:i4@464 "
        "n_resume:i4@468 on_resume_point:p@472 resume:p@480 decoding:i4@488 n_best:i4@492 language_per_segment:i4@496 "
        "lookahead:i4@500 fallback_temperatures:p@504 n_fallback_temperatures:i4@512 no_repeat_ngram_size:i4@516 "
        "prompt_reset_on_temperature:f8@520"
    )),
    "steno_hypothesis": (64, (
        "size:u4@0 place:i4@4 at_ms:i8@8 text:z@16 tokens:p@24 logprobs:p@32 n_tokens:i4@40 pad:i4@44 avg_logprob:f8@48 "
        "score:f8@56"
    )),
    "steno_left_out": (64, (
        "size:u4@0 flags:u4@4 t0_ms:i8@8 t1_ms:i8@16 text:z@24 avg_logprob:f8@32 no_speech_prob:f8@40 is_window:i4@48 pad:i4@52 "
        "language:z@56"
    )),
    "steno_align_item": (40, (
        "size:u4@0 status:i4@4 of:p@8 src:p@16 params:p@24 error:p@32"
    )),
    "steno_generate_params": (152, (
        "size:u4@0 max_tokens:i4@4 temperature:f8@8 seed:u8@16 top_k:i4@24 repeat_last_n:i4@28 top_p:f8@32 min_p:f8@40 "
        "repeat_penalty:f8@48 frequency_penalty:f8@56 presence_penalty:f8@64 samplers:z@72 grammar:z@80 grammar_rule:z@88 "
        "json_schema:z@96 stop:p@104 n_stop:i4@112 ignore_eos:i4@116 user:p@120 on_token:p@128 should_abort:p@136 "
        "draft_max:i4@144 top_logprobs:i4@148"
    )),
    "steno_span": (24, (
        "size:u4@0 pad:i4@4 t0_ms:i8@8 t1_ms:i8@16"
    )),
    "steno_vad_params": (128, (
        "size:u4@0 pad:i4@4 threshold:f8@8 max_end_silence_ms:i8@16 max_segment_ms:i8@24 user:p@32 on_frame:p@40 on_span:p@48 "
        "should_abort:p@56 schedule:i4@64 streaming:i4@68 chunk_size_ms:i4@72 pad2:i4@76 min_speech_ms:i8@80 merge_ms:i8@88 "
        "on_event:p@96 neg_threshold:f8@104 speech_pad_ms:i8@112 rules:i4@120 pad3:i4@124"
    )),
    "steno_mark": (32, (
        "size:u4@0 id:i4@4 at:i8@8 end:i8@16 text:z@24"
    )),
    "steno_punctuate_params": (32, (
        "size:u4@0 go_on:i4@4 block_words:i4@8 pad:i4@12 user:p@16 should_abort:p@24"
    )),
    "steno_sentence": (48, (
        "size:u4@0 n_words:i4@4 t0_ms:i8@8 t1_ms:i8@16 text:z@24 times_ms:p@32 first_word:i8@40"
    )),
    "steno_embed_params": (32, (
        "size:u4@0 pooling:i4@4 normalize:i4@8 truncate:i4@12 user:p@16 should_abort:p@24"
    )),
    "steno_embedding": (32, (
        "size:u4@0 n:i4@4 vector:p@8 n_tokens:i4@16 is_truncated:i4@20 pooling:i4@24 pad:i4@28"
    )),
    "steno_batch_params": (48, (
        "size:u4@0 max_windows:i4@4 max_lanes:i4@8 pad:i4@12 user:p@16 on_done:p@24 steps_between_encodes:i4@32 pad2:i4@36 "
        "draft_model:p@40"
    )),
    "steno_heard": (24, (
        "size:u4@0 pad:i4@4 samples:i8@8 loudest:f8@16"
    )),
    "steno_request_params": (56, (
        "size:u4@0 priority:i4@4 transcribe:p@8 heard:p@16 find_speech:p@24 ids:p@32 generate:p@40 n_ids:i4@48 pad:i4@52"
    )),
    "steno_param": (80, (
        "size:u4@0 kind:i4@4 name:z@8 min:f8@16 max:f8@24 value:f8@32 none:f8@40 has_none:i4@48 served:i4@52 text:z@56 "
        "reason:z@64 offset:u4@72 pad:u4@76"
    )),
    "steno_param_names": (32, (
        "size:u4@0 pad:i4@4 user:p@8 name:p@16 asked:p@24"
    )),
    "steno_timings": (160, (
        "size:u4@0 n_windows:i4@4 n_encodes:i4@8 n_prompts:i4@12 n_steps:i4@16 n_prompt_tokens:i8@24 n_wakes:i8@32 load_us:i8@40 "
        "source_us:i8@48 mel_us:i8@56 encode_us:i8@64 cross_us:i8@72 prompt_us:i8@80 decode_us:i8@88 n_verified:i4@96 "
        "n_corrected:i4@100 verify_us:i8@104 n_drafted:i8@112 n_accepted:i8@120 n_vad:i8@128 vad_us:i8@136 n_reused:i8@144 "
        "draft_us:i8@152"
    )),
    "steno_request_timings": (56, (
        "size:u4@0 n_windows:i4@4 queued_us:i8@8 first_window_us:i8@16 encode_us:i8@24 decode_us:i8@32 total_us:i8@40 "
        "vad_us:i8@48"
    )),
    "steno_media_params": (72, (
        "size:u4@0 spool_dir:z@8 stop:p@16 user:p@24 live:i4@32 track:i4@36 open:p@40 head:p@48 head_sz:i8@56 unclocked:i4@64 "
        "once:i4@68"
    )),
    "steno_media_state": (80, (
        "size:u4@0 ended:i4@4 truncated:i4@8 promised_ms:i8@16 read_ms:i8@24 damaged_packets:i8@32 start_ms:i8@40 gaps:i8@48 "
        "gaps_ms:i8@56 dropped_ms:i8@64 jumps:i8@72"
    )),
    "steno_output_params": (64, (
        "size:u4@0 task:i4@4 word_times:i4@8 token_times:i4@12 model:p@16 input:z@24 style:z@32 max_len:i4@40 split_on_word:i4@44 "
        "max_line_width:i4@48 max_line_count:i4@52 max_words_per_line:i4@56 highlight_words:i4@60"
    )),
    "steno_live_event": (64, (
        "size:u4@0 kind:i4@4 turn:i4@8 spaces:i4@12 t0_ms:i8@16 t1_ms:i8@24 decoded_ms:i8@32 pushed_ms:i8@40 text:z@48 "
        "language:z@56"
    )),
    "steno_live_params": (64, (
        "size:u4@0 step_ms:i4@4 max_turn_ms:i4@8 vad:p@16 find:p@24 text:p@32 on_event:p@40 user:p@48 audio_padding_ms:i4@56 "
        "last_pass:i4@60"
    )),
    "steno_prefix": (24, (
        "ids:p@0 banned:p@8 n:i4@16 n_banned:i4@20"
    )),
}

FUNCTIONS: dict[str, str] = {
    "steno_status_text": "z:i",
    "steno_version": "z:",
    "steno_cpu_level_name": "z:i",
    "steno_cpu_level_usable": "i:i",
    "steno_team_open": "i:pip",
    "steno_team_threads": "i:p",
    "steno_team_close": "v:p",
    "steno_compute_auto": "i:i",
    "steno_model_params_fill": "v:pI",
    "steno_model_open": "i:pzpp",
    "steno_model_open_memory": "i:ppQpp",
    "steno_model_open_reader": "i:pppp",
    "steno_model_open_random": "i:pzzQpp",
    "steno_convert_params_fill": "v:pI",
    "steno_model_convert": "i:zpp",
    "steno_model_close": "v:p",
    "steno_kind_get": "i:zpp",
    "steno_model_info_get": "i:pp",
    "steno_model_language": "z:pi",
    "steno_model_file": "z:pi",
    "steno_language_id": "i:pz",
    "steno_language_name": "z:z",
    "steno_language_code": "z:z",
    "steno_plan_dump": "i:ppp",
    "steno_tensors_list": "i:zppp",
    "steno_tokenize": "i:pzpi",
    "steno_tokenize_text": "i:pzQIpi",
    "steno_tokenize_parts": "i:ppiIpi",
    "steno_chat_tokenize": "i:ppiIpip",
    "steno_token_bytes": "q:pipQ",
    "steno_token_ends": "i:pi",
    "steno_detokenize": "q:ppipQ",
    "steno_detokenizer_open": "i:ppip",
    "steno_detokenizer_push": "z:pip",
    "steno_detokenizer_end": "z:pp",
    "steno_detokenizer_close": "v:p",
    "steno_token_id": "i:pi",
    "steno_mel": "q:ppqpq",
    "steno_session_params_fill": "v:pI",
    "steno_session_memory": "q:ppp",
    "steno_session_open": "i:ppppp",
    "steno_session_close": "v:p",
    "steno_last_error": "z:p",
    "steno_cancel": "v:p",
    "steno_mel_read": "q:pppp",
    "steno_transcribe_params_fill": "v:pI",
    "steno_transcribe": "i:ppqp",
    "steno_transcribe_source": "i:ppp",
    "steno_detect_language": "i:pppi",
    "steno_language_prob": "f:pi",
    "steno_audio_features": "p:ppp",
    "steno_result_select": "i:pi",
    "steno_segment_count": "i:p",
    "steno_segment_get": "i:pip",
    "steno_hypothesis_count": "i:p",
    "steno_hypothesis_get": "i:pip",
    "steno_left_out_count": "i:p",
    "steno_left_out_get": "i:pip",
    "steno_token_get": "i:piip",
    "steno_word_get": "i:piip",
    "steno_text": "z:p",
    "steno_language": "z:p",
    "steno_duration_ms": "q:p",
    "steno_align": "i:ppzp",
    "steno_align_result": "i:pppp",
    "steno_align_results": "i:ppi",
    "steno_generate_params_fill": "v:pI",
    "steno_encode": "i:ppq",
    "steno_generate": "i:ppip",
    "steno_generate_continue": "i:ppip",
    "steno_prefill": "i:ppi",
    "steno_prefill_continue": "i:ppi",
    "steno_logits": "p:pp",
    "steno_generated": "p:pp",
    "steno_generated_text": "z:p",
    "steno_generated_get": "i:pip",
    "steno_generated_top": "i:piip",
    "steno_generate_finish": "i:p",
    "steno_vad_params_fill": "v:pI",
    "steno_find_speech": "i:ppp",
    "steno_span_count": "i:p",
    "steno_span_get": "i:pip",
    "steno_punctuate_params_fill": "v:pI",
    "steno_punctuate": "i:pzp",
    "steno_mark_count": "i:p",
    "steno_mark_get": "i:pip",
    "steno_punctuate_result": "i:ppp",
    "steno_sentence_count": "i:p",
    "steno_sentence_get": "i:pip",
    "steno_embed_params_fill": "v:pI",
    "steno_embed": "i:ppip",
    "steno_embedding_count": "i:p",
    "steno_embedding_get": "i:pip",
    "steno_batch_params_fill": "v:pI",
    "steno_batch_memory": "q:ppp",
    "steno_batch_open": "i:ppppp",
    "steno_batch_close": "v:p",
    "steno_listen": "i:pppp",
    "steno_request_params_fill": "v:pI",
    "steno_batch_submit": "i:pppp",
    "steno_batch_add": "i:pppp",
    "steno_batch_run_as": "i:pi",
    "steno_batch_wake": "v:p",
    "steno_batch_stop": "v:p",
    "steno_batch_run": "i:p",
    "steno_param_get": "i:piip",
    "steno_serves": "i:piz",
    "steno_params_check": "i:pippp",
    "steno_timings_get": "i:pp",
    "steno_timings_reset": "v:p",
    "steno_request_timings_get": "i:pp",
    "steno_profile_enable": "v:pi",
    "steno_profile_get": "i:pippp",
    "steno_bench_phase": "q:pzi",
    "steno_bench_text": "q:ppipii",
    "steno_media_open": "i:pzppp",
    "steno_media_params_init": "v:p",
    "steno_media_open_params": "i:pzpp",
    "steno_media_close": "v:p",
    "steno_media_source": "v:pp",
    "steno_media_skip": "q:pq",
    "steno_media_channels": "i:p",
    "steno_media_select": "i:pi",
    "steno_media_tracks": "i:p",
    "steno_media_select_track": "i:pi",
    "steno_media_duration_ms": "q:p",
    "steno_media_error": "z:p",
    "steno_media_status": "i:p",
    "steno_media_damaged_packets": "q:p",
    "steno_media_state_get": "i:pp",
    "steno_media_interrupt": "v:p",
    "steno_resampler_open": "i:piiip",
    "steno_resampler_push": "q:ppQpp",
    "steno_resampler_end": "q:ppp",
    "steno_resampler_close": "v:p",
    "steno_media_backend": "z:",
    "steno_output_params_init": "v:p",
    "steno_output_format": "z:i",
    "steno_output_write": "i:pzpppp",
    "steno_output_text": "i:pppzpp",
    "steno_live_params_init": "v:p",
    "steno_live_open": "i:pppppp",
    "steno_live_push": "i:ppqqp",
    "steno_live_end": "i:pp",
    "steno_live_close": "v:p",
    "steno_prefix_filter": "v:ppppi",
}

ENUMS: dict[str, dict[str, int]] = {
    "steno_status": {
        "STENO_OK": 0,
        "STENO_EARG": -1,
        "STENO_ENOMEM": -2,
        "STENO_EIO": -3,
        "STENO_EFORMAT": -4,
        "STENO_EUNSUPPORTED": -5,
        "STENO_ECANCELED": -6,
        "STENO_ESOURCE": -7,
        "STENO_ENOVOCAB": -8,
    },
    "steno_compute": {
        "STENO_COMPUTE_AUTO": 0,
        "STENO_COMPUTE_F32": 1,
        "STENO_COMPUTE_BF16": 2,
        "STENO_COMPUTE_INT8": 3,
        "STENO_COMPUTE_INT16": 4,
    },
    "steno_kv_type": {
        "STENO_KV_AUTO": 0,
        "STENO_KV_F32": 1,
        "STENO_KV_F16": 2,
        "STENO_KV_Q8_0": 3,
    },
    "steno_gelu": {
        "STENO_GELU_ERF": 0,
        "STENO_GELU_TANH": 1,
    },
    "steno_decoder_type": {
        "STENO_DECODER_AUTO": 0,
        "STENO_DECODER_CTC": 1,
        "STENO_DECODER_RNNT": 2,
        "STENO_DECODER_TDT": 3,
    },
    "steno_draft_source": {
        "STENO_DRAFTS_OF_MODEL": 1,
        "STENO_DRAFTS_OF_TEXT": 2,
    },
    "steno_tokenize_flags": {
        "STENO_TOKENIZE_SPECIAL": 1,
        "STENO_TOKENIZE_WHOLE": 2,
    },
    "steno_chat_flags": {
        "STENO_CHAT_ANSWER": 1,
        "STENO_CHAT_NO_THINKING": 2,
        "STENO_CHAT_AS_CHATML": 256,
        "STENO_CHAT_AS_LLAMA2": 512,
        "STENO_CHAT_AS_LLAMA3": 768,
        "STENO_CHAT_AS_GEMMA": 1024,
    },
    "steno_special": {
        "STENO_TOKEN_END": 0,
        "STENO_TOKEN_START": 1,
        "STENO_TOKEN_LANGUAGE": 2,
        "STENO_TOKEN_TRANSLATE": 3,
        "STENO_TOKEN_TRANSCRIBE": 4,
        "STENO_TOKEN_START_LM": 5,
        "STENO_TOKEN_PREVIOUS": 6,
        "STENO_TOKEN_NO_SPEECH": 7,
        "STENO_TOKEN_NO_TIMESTAMPS": 8,
        "STENO_TOKEN_TIMESTAMP": 9,
    },
    "steno_task": {
        "STENO_TRANSCRIBE": 0,
        "STENO_TRANSLATE": 1,
        "STENO_TRANSCRIBE_AND_TRANSLATE": 2,
    },
    "steno_flag": {
        "STENO_FLAG_REPETITION": 1,
        "STENO_FLAG_NO_SPEECH": 2,
        "STENO_FLAG_LOW_CONFIDENCE": 4,
        "STENO_FLAG_RETRIED": 8,
        "STENO_FLAG_UNFINISHED": 16,
    },
    "steno_guards": {
        "STENO_GUARDS_OFF": 0,
        "STENO_GUARDS_FLAG": 1,
        "STENO_GUARDS_RETRY": 2,
    },
    "steno_tags": {
        "STENO_TAGS_APART": 0,
        "STENO_TAGS_KEEP": 1,
        "STENO_TAGS_RICH": 2,
    },
    "steno_lookahead": {
        "STENO_LOOKAHEAD_MOST": -1,
        "STENO_LOOKAHEAD_USUAL": -2,
    },
    "steno_decoding": {
        "STENO_DECODING_OPENAI": 0,
        "STENO_DECODING_GGML": 1,
    },
    "steno_finish": {
        "STENO_FINISH_NONE": 0,
        "STENO_FINISH_END": 1,
        "STENO_FINISH_STOP": 2,
        "STENO_FINISH_LENGTH": 3,
        "STENO_FINISH_CALLER": 4,
        "STENO_FINISH_CANCELED": 5,
    },
    "steno_vad_schedule": {
        "STENO_VAD_SCHEDULE_FILE": 0,
        "STENO_VAD_SCHEDULE_LIVE": 1,
    },
    "steno_vad_rules": {
        "STENO_VAD_RULES_OWN": 0,
        "STENO_VAD_RULES_CPP": 1,
    },
    "steno_pooling": {
        "STENO_POOLING_MODEL": 0,
        "STENO_POOLING_MEAN": 1,
        "STENO_POOLING_CLS": 2,
        "STENO_POOLING_LAST": 3,
    },
    "steno_priority": {
        "STENO_PRIORITY_AUTO": -1,
        "STENO_PRIORITY_END_OF_TURN": 0,
        "STENO_PRIORITY_LIVE": 1,
        "STENO_PRIORITY_FIRST": 2,
        "STENO_PRIORITY_LATER": 3,
    },
    "steno_run_mode": {
        "STENO_RUN_DRAIN": 0,
        "STENO_RUN_SERVE": 1,
        "STENO_RUN_POLL": 2,
    },
    "steno_call": {
        "STENO_CALL_TRANSCRIBE": 0,
        "STENO_CALL_ALIGN": 1,
        "STENO_CALL_FIND_SPEECH": 2,
        "STENO_CALL_OPEN": 3,
        "STENO_CALL_PUNCTUATE": 4,
        "STENO_CALL_EMBED": 5,
        "STENO_CALL_GENERATE": 6,
    },
    "steno_param_kind": {
        "STENO_PARAM_FLAG": 0,
        "STENO_PARAM_CHOICE": 1,
        "STENO_PARAM_INT32": 2,
        "STENO_PARAM_INT64": 3,
        "STENO_PARAM_UINT64": 4,
        "STENO_PARAM_NUMBER": 5,
        "STENO_PARAM_TEXT": 6,
        "STENO_PARAM_LIST": 7,
        "STENO_PARAM_CALL": 8,
    },
    "steno_media_number": {
        "STENO_MEDIA_PATH": -1,
        "STENO_MEDIA_FAILED": -2,
        "STENO_MEDIA_MIX": -1,
    },
    "steno_sample_type": {
        "STENO_SAMPLES_S16LE": 0,
        "STENO_SAMPLES_F32LE": 1,
        "STENO_SAMPLES_S32LE": 2,
        "STENO_SAMPLES_U8": 3,
        "STENO_SAMPLES_ULAW": 4,
        "STENO_SAMPLES_ALAW": 5,
    },
    "steno_live_kind": {
        "STENO_LIVE_PARTIAL": 0,
        "STENO_LIVE_FINAL": 1,
        "STENO_LIVE_ENDPOINT": 2,
    },
    "steno_live_last": {
        "STENO_LIVE_LAST_WINDOW": 0,
        "STENO_LIVE_LAST_TURN": 1,
    },
}
