/* steno: options of other programs and their steno equivalents. SPDX-License-Identifier: MIT
 *
 * A long option that steno has under the same name ("--beam-size") counts as steno's option. The exception is a row with a value that
 * steno does not accept. True, False and None after a steno option need no row (foreign.c). */
#include "compat/other_cli.h"

#define CPP(there, value, here) { there, value, here, OTHER_WHISPER_CPP }
#define OAI(there, value, here) { there, value, here, OTHER_OPENAI }
#define FAST(there, value, here) { there, value, here, OTHER_FASTER }
#define FUN(there, value, here) { there, value, here, OTHER_FUNASR }

/* An option of whisper.cpp with two spellings. */
#define CPP2(letters, name, value, here) CPP(letters, value, here), CPP(name, value, here)
/* A Python option that is on or off. */
#define SWITCH(F, there, on, off) F(there, "True", on), F(there, "False", off), F(there, "true", on), F(there, "false", off)

#define ON_CPU "" /* selects a device: steno computes on the CPU only */
#define NO_SPEAKERS "!speakers are distinguished by channels only (--diarize)"
#define MICROPHONE "!a microphone comes through a pipe: arecord -f S16_LE -r 16000 | steno stream"
#define EACH_IS_ONE "!each of them is an option: --vad-threshold, --vad-min-silence-ms, --vad-speech-pad-ms, ..."
#define OTHER_CACHE "!the caches are named by the environment: HF_HUB_CACHE, XDG_CACHE_HOME; -m takes a path, too"

const struct other_word other_words[] = {
    /* whisper.cpp: output formats. Letters that also mean something in steno ("-lpt": Portuguese) count as whisper.cpp's if a number
     * follows */
    CPP2("-otxt", "--output-txt", 0, ":txt"),
    CPP2("-osrt", "--output-srt", 0, ":srt"),
    CPP2("-ovtt", "--output-vtt", 0, ":vtt"),
    CPP2("-olrc", "--output-lrc", 0, ":lrc"),
    CPP2("-ocsv", "--output-csv", 0, ":csv"),
    CPP2("-oj", "--output-json", 0, ":json"),
    CPP2("-ojf", "--output-json-full", 0, ":json_full"),
    CPP2("-owts", "--output-words", 0, ":wts"),
    CPP2("-of", "--output-file", "%", ">"),
    CPP2("-f", "--file", OTHER_PATH, "%"),
    CPP("--file", "%", "%"),
    CPP2("-fp", "--font-path", "%", "--font %"),
    CPP2("-nt", "--no-timestamps", 0, ""), /* steno's text has no timestamps */
    CPP2("-ls", "--log-score", 0, "--log-scores"),
    CPP2("-on", "--offset-n", OTHER_NUMBER, "--offset-n %"),
    /* lengths and counts */
    CPP2("-ml", "--max-len", OTHER_NUMBER, "--max-len %"),
    CPP2("-sow", "--split-on-word", 0, "--split-on-word"),
    CPP2("-bs", "--beam-size", "%", "--beam-size %"),
    CPP2("-bo", "--best-of", "%", "--best-of %"),
    CPP2("-ac", "--audio-ctx", "%", "--audio-ctx %"),
    CPP2("-mc", "--max-context", OTHER_NUMBER, "--max-context %"),
    CPP2("-ot", "--offset-t", OTHER_NUMBER, "--offset-ms %"),
    CPP2("-d", "--duration", "%", "--duration-ms %"),
    CPP2("-p", "--processors", "%", ""),
    CPP2("-wt", "--word-thold", "%", "--word-threshold %"),
    CPP2("-et", "--entropy-thold", "%", "--entropy-threshold %"),
    CPP2("-lpt", "--logprob-thold", OTHER_NUMBER, "--logprob-threshold %"),
    CPP2("-nth", "--no-speech-thold", "%", "--no-speech-threshold %"),
    CPP2("-tp", "--temperature", "%", "--temperature %"),
    CPP2("-tpi", "--temperature-inc", "%", "--temperature-increment-on-fallback %"),
    CPP2("-nf", "--no-fallback", 0, "--temperature-increment-on-fallback 0"),
    /* tasks */
    CPP2("-tr", "--translate", 0, "--task translate"),
    CPP2("-di", "--diarize", 0, "--diarize"),
    CPP2("-tdrz", "--tinydiarize", 0, "--tinydiarize"),
    CPP2("-dl", "--detect-language", 0, "=detect"),
    CPP("--prompt", "%", "--initial-prompt %"),
    CPP2("-sns", "--suppress-nst", 0, "--suppress-non-speech"),
    CPP2("-dtw", "--dtw", "%", "--word-timestamps --alignment-heads %"),
    /* console output */
    CPP2("-np", "--no-prints", 0, "-q"),
    CPP2("-ps", "--print-special", 0, "--print-special"),
    CPP2("-pc", "--print-colors", 0, "--print-colors"),
    CPP2("-pp", "--print-progress", 0, "--progress lines"),
    CPP2("-debug", "--debug-mode", 0, "-v"),
    /* device */
    CPP2("-ng", "--no-gpu", 0, ON_CPU),
    CPP("-dev", "%", ON_CPU),
    CPP("--device", "0", ON_CPU),
    CPP2("-fa", "--flash-attn", 0, ""),
    CPP2("-nfa", "--no-flash-attn", 0, ""),
    CPP2("-ug", "--use-gpu", 0, ON_CPU),
    CPP2("-oved", "--ov-e-device", "%", ON_CPU),
    /* voice activity */
    CPP("--vad", OTHER_ALONE, "--vad silero"),
    CPP("-vm", OTHER_VAD, "--vad-model %"),
    CPP("--vad-model", "%", "--vad-model %"),
    CPP("-vt", OTHER_PATH, "--vad-threshold %"),
    CPP2("-vspd", "--vad-min-speech-duration-ms", "%", "--vad-min-speech-ms %"),
    CPP2("-vsd", "--vad-min-silence-duration-ms", "%", "--vad-min-silence-ms %"),
    CPP2("-vmsd", "--vad-max-speech-duration-s", "%", "--vad-max-speech-s %"),
    CPP2("-vp", "--vad-speech-pad-ms", "%", "--vad-speech-pad-ms %"),
    CPP2("-vo", "--vad-samples-overlap", "%", ""),

    /* openai-whisper */
    SWITCH(OAI, "--fp16", "", "--compute f32"),
    OAI("--model_dir", "%", "!-m takes the path of the file itself, or a name in the caches, ~/.cache/whisper among them"),
    OAI("-output", "%", "-o %"), /* abbreviation of --output_dir */
    OAI("-out", "%", "-o %"),
    OAI("--device", "cuda", ON_CPU),
    OAI("--device", "cuda:0", ON_CPU),
    OAI("--device", "mps", ON_CPU),

    /* whisper-ctranslate2, faster-whisper-xxl and similar programs */
    FAST("--model_directory", "%", "-m %"),
    FAST("--compute_type", "int8", "--compute int8"),
    FAST("--compute_type", "int8_float32", "--compute int8"),
    FAST("--compute_type", "int8_float16", "--compute int8"),
    FAST("--compute_type", "int8_bfloat16", "--compute int8"),
    FAST("--compute_type", "int16", "--compute int16"),
    FAST("--compute_type", "float32", "--compute f32"),
    FAST("--compute_type", "bfloat16", "--compute bf16"),
    FAST("--compute_type", "%", ""),
    SWITCH(FAST, "--vad_filter", "--vad silero", ""),
    FAST("--vad_onset", "%", "--vad-threshold %"),
    FAST("--vad_min_speech_duration_ms", "%", "--vad-min-speech-ms %"),
    FAST("--vad_min_silence_duration_ms", "%", "--vad-min-silence-ms %"),
    FAST("--vad_max_speech_duration_s", "%", "--vad-max-speech-s %"),
    SWITCH(FAST, "--batched", "--batch-size 8", ""),
    FAST("--device_index", "%", ON_CPU),
    FAST("--cpu_threads", "%", "--threads %"),
    SWITCH(FAST, "--pretty_json", "", ""),
    SWITCH(FAST, "--local_files_only", "", ""),
    SWITCH(FAST, "--log_progress", "--progress lines", ""),
    FAST("--cache_directory", "%", OTHER_CACHE),
    FAST("--model_size_or_path", "%", "-m %"),
    FAST("--download_root", "%", OTHER_CACHE),
    FAST("--log_prob_threshold", "%", "--logprob-threshold %"),
    FAST("--max_new_tokens", "%", "--sample-length %"),
    FAST("--num_workers", "%", ""),
    FAST("--vad_parameters", "%", EACH_IS_ONE),
    FAST("--vad_offset", "%", "--vad-neg-threshold %"),
    FAST("--neg_threshold", "%", "--vad-neg-threshold %"),
    FAST("--min_speech_duration_ms", "%", "--vad-min-speech-ms %"),
    FAST("--min_silence_duration_ms", "%", "--vad-min-silence-ms %"),
    FAST("--max_speech_duration_s", "%", "--vad-max-speech-s %"),
    FAST("--speech_pad_ms", "%", "--vad-speech-pad-ms %"),
    FAST("--vad_method", "%", "--vad silero"),
    FAST("--multilingual", OTHER_ALONE, "--language-per-segment"),
    SWITCH(FAST, "--multilingual", "--language-per-segment", ""),
    FAST("--hf_token", "%", NO_SPEAKERS),
    FAST("--speaker_name", "%", NO_SPEAKERS),
    FAST("--speaker_num", "%", NO_SPEAKERS),
    SWITCH(FAST, "--live_transcribe", MICROPHONE, ""),
    FAST("--live_volume_threshold", "%", MICROPHONE),
    FAST("--live_input_device", "%", MICROPHONE),
    FAST("--live_input_device_sample_rate", "%", MICROPHONE),
    FAST("--standard", 0, "--word-timestamps --max-line-width 42 --max-line-count 2"),

    /* FunASR: the programs of its runtime, and its command line of settings */
    FUN("-a", "%", "%"),
    FUN("--srt", 0, ":srt"),
    FUN("--vad", OTHER_PATH, "--vad fsmn --vad-model %"),
    FUN("--vad-maxseg", "%", "--vad-max-speech-s %ms"),
    FUN("--chunk", "%", "--chunk-length %"),
    FUN("--rep", "%", "--repetition-penalty %"),
    FUN("--backend", "%", ON_CPU),
    FUN("--model-dir", "%", "-m %"),
    FUN("--vad-dir", "%", "--vad fsmn --vad-model %"),
    FUN("--punc-dir", "%", "--punctuation %"),
    FUN("--wav-path", "%", "%"),
    FUN("--hotword", "%", "--hotwords @%"),
    FUN("--thread-num", "%", "--threads %"),
    SWITCH(FUN, "--quantize", "", ""),
    FUN("++model=", "%", "-m %"),
    FUN("++input=", "%", "%"),
    FUN("++vad_model=", "%", "--vad fsmn"),
    FUN("++punc_model=", "%", "--punctuation %"),
    FUN("++language=", "%", "-l %"),
    FUN("++output_dir=", "%", "-o %"),
    FUN("++hotword=", "%", "--hotwords %"),
    FUN("++batch_size=", "%", "--batch-size %"),
    FUN("++device=", "%", ON_CPU),
    FUN("++ncpu=", "%", "--threads %"),
    SWITCH(FUN, "++use_itn=", "--itn", "--no-itn"),
    FUN("++", "%", "!here settings are options; \"steno --help transcribe\" lists them"),
    { 0 },
};
