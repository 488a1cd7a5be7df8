/* steno tests: the effect that each option of the program must have. SPDX-License-Identifier: MIT
 *
 * Rows for test_tool_every_option.c: one per option and verb, or several for different families. A row has the families that serve the
 * option, a value that is not the default, and other options it needs. If the output does not show the effect, the row names the test
 * that does. */
#ifndef STENO_TESTS_OPTION_PROMISES_H
#define STENO_TESTS_OPTION_PROMISES_H
#include <stddef.h>

enum { MANY = 1, ENGLISH_ONLY = 2, TAGS = 4, VAD = 8, LM = 16, VECTORS = 32, NANO = 64, N_FAMILIES = 7 };
enum { DECODES = MANY | ENGLISH_ONLY, TIMED = DECODES | TAGS /* families that know when words are spoken */, SPEECH = TIMED | NANO,
       TEXTS = LM | VECTORS, ALL = SPEECH | VAD | TEXTS };

struct promise {
    const char *option;
    unsigned on;        /* families that serve it */
    const char *words;  /* the option with a value that is not its default */
    const char *beside; /* other options that it needs */
    /* the test that shows the effect if the output does not change; NULL: the output changes here; "": it changes, and all families
     * serve the default */
    const char *shown;
};

/* Windows begin at their usual places and are decoded once. Text is passed from one to the next, for any output of a random model. */
#define COLD "--temperature-increment-on-fallback 0" /* also beside every option whose row has no temperature */
#define WARM "--temperature-increment-on-fallback 0.2"
#define WINDOWS "--without-timestamps " COLD
#define VAD_ON "--vad fsmn --vad-model %v"

#define SPEED "it is about speed"

/* transcribe -m MODEL ... SPEECH; the output is JSON unless `beside` selects another format */
static const struct promise transcribe[] = {
    { "model", SPEECH, "", "", "everything here" },
    { "vocab", TAGS, "--vocab %m", "", "cli/models.sh" }, /* other families have their own vocabulary */
    { "llm", 0, "--llm %m", "", "golden/test_nano.c" }, /* the folder contains a language model */
    { "ctx-size", NANO, "--ctx-size 700", "", "golden/qwen/test_qwen3_asr.c" },
    { "draft", DECODES | NANO, "--draft %m", "", "golden/test_draft_model.c, cli/draft.sh" },
    { "alignment-heads", DECODES, "--alignment-heads 0,1", "--word-timestamps", NULL },
    { "cmvn", TAGS, "--no-cmvn", "", NULL },
    { "gelu", DECODES, "--gelu tanh", "", NULL },
    { "decoder-type", 0, "--decoder-type ctc", "", "golden/parakeet/test_parakeet_heads.c" },
    { "demo", 0, "--demo", "", NULL }, /* not together with -m */
    { "language", SPEECH, "-l en", "", "api/test_options.c" },
    { "offset-ms", SPEECH, "--offset-ms 700", "", NULL },
    { "duration-ms", SPEECH, "--duration-ms 700", "", NULL },
    { "audio-track", SPEECH, "", "", "cli/channels.sh" }, /* a WAV file has a single track */
    { "channels", SPEECH, "--channels 1", "%2", NULL },
    { "diarize", SPEECH, "--diarize", "%2", NULL },
    { "language-detection-segments", MANY, "--language-detection-segments 3", "-l auto", "api/test_languages.c" },
    { "language-detection-threshold", MANY, "--language-detection-threshold 0", "-l auto --language-detection-segments 3",
      "api/test_languages.c" },
    { "language-per-segment", MANY, "--language-per-segment", "", "api/test_languages.c" },
    { "clip-timestamps", DECODES, "--clip-timestamps 0.5,1", "", NULL },
    { "chunk-length", DECODES | NANO, "--chunk-length 1", "", NULL },
    { "audio-ctx", DECODES, "--audio-ctx 40", "", NULL },
    { "chunk-size", 0, "--chunk-size 0,8,4", "", "golden/test_cif_stream.c" },
    { "encoder-chunk-look-back", 0, "--encoder-chunk-look-back 2", "", "golden/test_cif_stream.c" },
    { "decoder-chunk-look-back", 0, "--decoder-chunk-look-back 2", "", "golden/test_cif_stream.c" },
    { "lookahead", 0, "--lookahead 1", "", "golden/parakeet/test_parakeet_stream.c" },
    { "vad", SPEECH, "--vad fsmn", "--vad-model %v", "cli/vad_clips.sh, cli/funasr.sh" },
    { "no-vad", SPEECH, "--no-vad", "", "cli/funasr.sh" },
    { "vad-model", SPEECH, "--vad-model %v", "--vad fsmn", "cli/vad_clips.sh, cli/funasr.sh" },
    { "vad-threshold", SPEECH, "--vad-threshold -1", VAD_ON " %f", NULL },
    { "vad-min-speech-ms", SPEECH, "--vad-min-speech-ms 100000", VAD_ON, NULL },
    { "vad-min-silence-ms", SPEECH, "--vad-min-silence-ms 0", VAD_ON, "cli/funasr.sh" },
    { "vad-speech-pad-ms", DECODES, "--vad-speech-pad-ms 10", VAD_ON, "cli/funasr.sh" },
    { "vad-max-speech-s", SPEECH, "--vad-max-speech-s 0.3", VAD_ON, NULL },
    { "vad-neg-threshold", 0, "--vad-neg-threshold 0.1", VAD_ON, "cli/vad_silero.sh" },
    { "vad-rules", 0, "--vad-rules whisper-cpp", VAD_ON, "cli/vad_silero.sh" },
    { "vad-join", DECODES, "--vad-join", VAD_ON, "unit/test_job_join.c" },
    { "vad-samples-overlap", DECODES, "--vad-samples-overlap 0.05", VAD_ON " --vad-join", "unit/test_job_join.c" },
    { "vad-merge-s", TAGS | NANO, "--vad-merge-s 5", VAD_ON " --vad-max-speech-s 0.3", NULL },
    { "punctuation", SPEECH, "--punctuation tests/data/punctuation_streaming", "", NULL },
    { "post", SPEECH, "", "", "cli/post.sh" },
    { "post-prompt", SPEECH, "", "", "cli/post.sh" },
    { "jieba-dict", SPEECH, "", "", "cli/punctuate.sh" },
    { "no-punctuation", SPEECH, "--no-punctuation", "", "cli/punctuate.sh" },
    { "output-format", SPEECH, "-f csv", "", NULL },
    { "output-dir", SPEECH, "-o %o", "", NULL },
    { "recursive", SPEECH, "--recursive", "", "cli/many_inputs.sh" },
    { "resume", SPEECH, "--resume", "-o %o", "cli/resume.sh" },
    { "output-template", SPEECH, "--output-template other-{stem}.{format}", "-o %o", NULL },
    { "offset-n", SPEECH, "--offset-n 5", "-f srt", NULL },
    { "max-line-width", SPEECH, "--max-line-width 4", "-f srt", "unit/test_write_cues.c" },
    { "max-line-count", DECODES, "--max-line-count 1", "-f srt --max-line-width 4 --word-timestamps " WINDOWS, NULL },
    { "max-words-per-line", DECODES, "--max-words-per-line 1", "-f srt --word-timestamps " WINDOWS, NULL },
    { "highlight-words", TIMED, "--highlight-words", "-f srt --word-timestamps", NULL },
    { "style", SPEECH, "--style bbc", "-f vtt", "unit/test_out_cues.c, cli/lint_subs.sh" },
    { "min-cue-ms", SPEECH, "--min-cue-ms 20000", "-f vtt --max-cue-ms 30000", "unit/test_out_cues.c" },
    { "max-cue-ms", SPEECH, "--max-cue-ms 100", "-f vtt --min-cue-ms 0", "unit/test_out_cues.c" },
    { "max-cps", SPEECH, "--max-cps 1", "-f vtt --style plain", "unit/test_out_cues.c" },
    { "min-gap-ms", SPEECH, "--min-gap-ms 300", "-f vtt --style plain", "unit/test_out_cues.c" },
    { "close-gap-ms", SPEECH, "--close-gap-ms 3000", "-f vtt --style plain", "unit/test_out_cues.c" },
    { "frame-rate", SPEECH, "--frame-rate 5", "-f vtt --style netflix", "unit/test_out_cues.c" },
    { "speaker-names", SPEECH, "--speaker-names A,B", "-f vtt --channels 1 %2", NULL },
    { "speaker-colors", SPEECH, "--speaker-colors", "-f vtt --channels 1 %2", NULL },
    { "vtt-regions", SPEECH, "--vtt-regions", "-f vtt --diarize %2", "cli/speakers.sh" },
    { "max-len", TIMED, "--max-len 4", "", "" },
    { "split-on-word", TIMED, "--split-on-word", "--max-len 4", "unit/test_write_reshape.c" },
    { "font", TIMED, "--font Serif", "-f ass", NULL },
    { "token-logprobs", SPEECH, "--token-logprobs", "", NULL },
    { "dump", SPEECH, "--dump %o", "", "cli/dump.sh" },
    { "log-scores", SPEECH, "--log-scores", "-o %o", NULL },
    { "initial-prompt", DECODES, "--initial-prompt one", "", NULL },
    { "carry-initial-prompt", DECODES, "--carry-initial-prompt", "--initial-prompt one,two,three,four,five,six " WINDOWS, NULL },
    { "prompt-tokens", DECODES, "--prompt-tokens 5,6,7", "", NULL },
    { "prefix", DECODES, "--prefix a", "", NULL },
    { "hotwords", SPEECH, "--hotwords a,b", "", "api/test_hotwords.c, golden/test_ctc_search.c, golden/parakeet/test_parakeet_search.c" },
    { "hotwords-boost", TIMED, "--hotwords-boost 20", "--hotwords a,b", "api/test_hotwords.c, golden/test_ctc_search.c" },
    { "repetition-penalty", DECODES, "--repetition-penalty 1.3", "", NULL },
    { "repetition-penalty", NANO, "--repetition-penalty 1.3", "", "golden/test_nano.c" },
    { "no-repeat-ngram-size", DECODES, "--no-repeat-ngram-size 1", "", NULL },
    { "condition-on-previous-text", DECODES, "--no-condition-on-previous-text", WINDOWS, NULL },
    { "max-context", DECODES, "--max-context 1", WINDOWS, NULL },
    { "without-timestamps", DECODES, "--without-timestamps", "", NULL },
    { "max-initial-timestamp", DECODES, "--max-initial-timestamp 0.02", "", NULL },
    { "itn", TAGS, "--itn", "", NULL },
    { "itn", NANO, "--no-itn", "", NULL },
    { "keep-tags", TAGS, "--keep-tags", "", NULL },
    { "rich-text", TAGS, "--rich-text", "", "unit/test_rich_text.c" },
    { "ban-unknown-emotion", TAGS, "--ban-unknown-emotion", "", "golden/test_ctc.c" },
    { "word-timestamps", TIMED, "--word-timestamps", "", NULL },
    { "prepend-punctuations", DECODES, "--prepend-punctuations ABCabcdefghijklm", "--word-timestamps", "unit/test_split.c" },
    { "append-punctuations", DECODES, "--append-punctuations ABCabcdefghijklm", "--word-timestamps", "unit/test_split.c" },
    { "hallucination-silence-threshold", DECODES, "--hallucination-silence-threshold 0.01", "--word-timestamps " WINDOWS, NULL },
    { "token-timestamps", DECODES, "--token-timestamps", "", NULL },
    { "word-threshold", DECODES, "--word-threshold 0", "--token-timestamps", "unit/test_token_times.c" },
    { "decoding", DECODES, "--decoding whisper.cpp", "", "cli/compat_whisper_cli.sh" },
    { "tinydiarize", DECODES, "--tinydiarize", "", NULL },
    { "suppress-tokens", DECODES, "--suppress-tokens 50,60,70,80", "", NULL },
    { "suppress-non-speech", DECODES, "--no-suppress-non-speech", "", NULL },
    { "suppress-blank", DECODES, "--no-suppress-blank", "-f score", "api/test_options.c" },
    { "suppress-regex", DECODES, "--suppress-regex .*[a-m].*", "", NULL },
    { "grammar", DECODES, "--grammar root::=[a-c]+", "", NULL },
    { "grammar-rule", DECODES, "--grammar-rule other", "--grammar other::=[a-c]+", NULL },
    { "grammar-penalty", DECODES, "--grammar-penalty 0.1", "--grammar root::=[a-c]+", NULL },
    { "beam-size", TIMED, "--beam-size 3", "", "api/test_search.c, golden/test_ctc_beam.c, golden/parakeet/test_parakeet_search.c" },
    { "patience", DECODES, "--patience 3", "--beam-size 2 " COLD, "unit/test_search_beam.c" },
    { "n-best", TIMED, "--n-best 2", "--beam-size 3", "api/test_n_best.c, golden/parakeet/test_parakeet_search.c" },
    { "best-of", DECODES, "--best-of 1", "--temperature 1", NULL },
    { "greedy", DECODES, "--greedy", "--temperature 1", NULL },
    { "length-penalty", DECODES, "--length-penalty 1", "--beam-size 3 -v " COLD, "unit/test_search_beam.c" },
    { "temperature", DECODES, "--temperature 0.4", "", NULL },
    { "prompt-reset-on-temperature", DECODES, "--prompt-reset-on-temperature 0.3", "--temperature 0.4", "api/test_fallback.c" },
    { "temperature-increment-on-fallback", DECODES, "--temperature-increment-on-fallback 0", WARM, NULL },
    { "fallback-temperatures", DECODES, "--fallback-temperatures 0.5,0.9", "--temperature 0.2", NULL },
    { "compression-ratio-threshold", DECODES, "--compression-ratio-threshold 0.01", "--logprob-threshold none " WARM, NULL },
    { "compression-ratio-threshold", NANO, "--compression-ratio-threshold 2", "--guards retry", "golden/test_nano_guards.c" },
    { "entropy-threshold", DECODES, "--entropy-threshold 100", "--logprob-threshold none " WARM, "api/test_fallback.c" },
    { "entropy-threshold", NANO, "--entropy-threshold 100", "--guards retry", "golden/test_nano_guards.c" },
    { "draft-max", DECODES, "--draft-max 3", "--draft %m", "golden/test_draft_model.c" },
    { "draft-max", NANO, "--draft-max 0", "", "golden/qwen/test_qwen3_asr_draft.c, cli/lm/draft.sh" },
    { "guards", DECODES, "--guards off", "--guards flag", NULL },
    { "guards", TAGS | NANO, "--guards off", "", "golden/test_silence.c" },
    { "seed", DECODES, "--seed 7", WARM, NULL },
    { "sample-length", DECODES | NANO, "--sample-length 3", "", NULL },
    { "no-speech-threshold", DECODES, "--no-speech-threshold 0", WARM, NULL },
    { "logprob-threshold", DECODES, "--logprob-threshold none", WARM, NULL },
    { "logprob-threshold", NANO, "--logprob-threshold -5", "--guards retry", "golden/test_nano_guards.c" },
    { "device", SPEECH, "--device cpu", "", SPEED },
    { "compute", SPEECH, "--compute f32", "", NULL },
    { "cpu", SPEECH, "--cpu c", "", NULL },
    { "threads", SPEECH, "-t 2", "", SPEED },
    { "numa", SPEECH, "", "", "cli/numa.sh" },
    { "verify", DECODES, "--verify", "--compute int8", NULL },
    { "verify-margin", DECODES, "--verify-margin 0", "--compute int8 --verify", NULL },
    { "batch-size", SPEECH, "-b 2", "", SPEED },
    { "strict", SPEECH, "--strict", "", "cli/cut.sh" },
    { "url-limit", SPEECH, "--url-limit 100", "", "hub/test_url.py" },
    { "progress", SPEECH, "--progress lines", "", NULL },
    { "quiet", SPEECH, "-q", "", "cli/verbs.sh" },
    { "no-prints", SPEECH, "--no-prints", "", "cli/console.sh" },
    { "verbose", SPEECH, "-v", "", NULL },
    { "print-colors", SPEECH, "--print-colors", "-f txt --color always", NULL },
    { "print-confidence", SPEECH, "--print-confidence", "-f txt --color always", NULL },
    { "print-special", DECODES, "--print-special", "-f txt", NULL },
    { "color", SPEECH, "--color always", "-f txt --print-colors", NULL },
    { "print-timings", SPEECH, "--print-timings", "", NULL },
    { "align-model", SPEECH, "--align-model tests/data/qwen3_aligner", "", "cli/aligner.sh" }, /* the last two rows: not in translate */
    { "task", MANY, "--task translate", "", NULL },
};

/* align -m MODEL ... SPEECH TEXT */
static const struct promise align[] = {
    { "model", DECODES, "", "", "everything here" },
    { "vocab", 0, "--vocab %m", "", NULL },
    { "alignment-heads", DECODES, "--alignment-heads 0,1", "", "api, golden: test_words" },
    { "demo", 0, "--demo", "", NULL },
    { "language", DECODES, "-l en", "", "api/test_options.c" },
    { "json", DECODES, "--json", "", NULL },
    { "output-format", DECODES, "-f srt", "", NULL },
    { "output-dir", DECODES, "-o %o", "-f srt", "cli/align.sh" },
    { "style", DECODES, "--style netflix", "-f srt", "unit/test_out_cues.c" },
    { "min-cue-ms", DECODES, "--min-cue-ms 5000", "-f srt", "unit/test_out_cues.c" },
    { "max-cue-ms", DECODES, "--max-cue-ms 100", "-f srt --min-cue-ms 0", "unit/test_out_cues.c" },
    { "max-cps", DECODES, "--max-cps 1", "-f srt", "unit/test_out_cues.c" },
    { "min-gap-ms", DECODES, "--min-gap-ms 300", "-f srt", "unit/test_out_cues.c" },
    { "close-gap-ms", DECODES, "--close-gap-ms 3000", "-f srt", "unit/test_out_cues.c" },
    { "frame-rate", DECODES, "--frame-rate 5", "-f srt --style netflix", "unit/test_out_cues.c" },
    { "max-line-width", DECODES, "--max-line-width 2", "-f srt", "unit/test_out_cues.c" },
    { "max-line-count", DECODES, "--max-line-count 1", "-f srt --max-line-width 2", "unit/test_out_cues.c" },
    { "device", DECODES, "--device cpu", "", SPEED },
    { "compute", DECODES, "--compute f32", "", SPEED },
    { "cpu", DECODES, "--cpu c", "", SPEED },
    { "threads", DECODES, "-t 2", "", SPEED },
    { "numa", DECODES, "", "", "cli/numa.sh" },
    { "quiet", DECODES, "-q", "", "cli/verbs.sh" },
};

/* detect -m MODEL ... SPEECH */
static const struct promise detect[] = {
    { "model", MANY, "", "", "everything here" },
    { "vocab", 0, "--vocab %m", "", NULL },
    { "demo", 0, "--demo", "", NULL },
    { "number", MANY, "-n 2", "", NULL },
    { "json", MANY, "--json", "", NULL },
    { "device", MANY, "--device cpu", "", SPEED },
    { "compute", MANY, "--compute f32", "", SPEED },
    { "cpu", MANY, "--cpu c", "", SPEED },
    { "threads", MANY, "-t 2", "", SPEED },
    { "numa", MANY, "", "", "cli/numa.sh" },
    { "quiet", MANY, "-q", "", "cli/verbs.sh" },
};

/* vad -m MODEL ... SPEECH */
static const struct promise find[] = {
    { "model", VAD, "", "", "everything here" },
    { "cmvn", VAD, "--no-cmvn", "%f", NULL },
    { "vad-threshold", VAD, "--vad-threshold -1", "%f", NULL },
    { "vad-min-silence-ms", VAD, "--vad-min-silence-ms 100", "", "cli/funasr.sh" },
    { "vad-max-speech-s", VAD, "--vad-max-speech-s 0.3", "", NULL },
    { "vad-min-speech-ms", VAD, "--vad-min-speech-ms 100000", "", NULL },
    { "vad-neg-threshold", 0, "--vad-neg-threshold 0.1", "", "golden/test_silero.c" },
    { "vad-speech-pad-ms", 0, "--vad-speech-pad-ms 10", "", "golden/test_silero.c" },
    { "vad-rules", 0, "--vad-rules whisper-cpp", "", "golden/test_silero.c" },
    { "vad-merge-s", VAD, "--vad-merge-s 5", "--vad-max-speech-s 0.3", NULL },
    { "vad-schedule", VAD, "--vad-schedule live", "", "unit/test_vad.c" },
    { "vad-chunk-ms", VAD, "--vad-chunk-ms 100", "", "unit/test_vad.c" },
    { "streaming", VAD, "--streaming", "", NULL },
    { "json", VAD, "--json", "", NULL },
    { "output-format", VAD, "-f srt", "", NULL },
    { "output-dir", VAD, "-o %o", "-f srt", "cli/align.sh" },
    { "device", VAD, "--device cpu", "", SPEED },
    { "cpu", VAD, "--cpu c", "", SPEED },
    { "threads", VAD, "-t 2", "", SPEED },
    { "numa", VAD, "", "", "cli/numa.sh" },
    { "quiet", VAD, "-q", "", "cli/verbs.sh" },
};

/* stream -m MODEL ... SPEECH */
static const struct promise listen[] = {
    { "model", SPEECH, "", "", "everything here" },
    { "vocab", TAGS, "--vocab %m", "", "cli/models.sh" },
    { "decoder-type", 0, "--decoder-type ctc", "", "golden/parakeet/test_parakeet_heads.c" },
    { "demo", 0, "--demo", "", NULL },
    { "raw", SPEECH, "--raw s16le", "", NULL },
    { "raw-rate", SPEECH, "--raw-rate 8000", "--raw s16le", NULL },
    { "raw-channels", SPEECH, "--raw-channels 2", "--raw s16le", NULL },
    { "realtime", SPEECH, "--realtime", "", "cli/stream.sh" },
    { "mic", SPEECH, "", "", "cli/stream.sh" }, /* FILE and a device exclude each other */
    { "language", SPEECH, "-l en", "", "api/test_options.c" },
    { "output-format", SPEECH, "-f txt", "", NULL },
    { "task", MANY, "--task translate", "", "cli/stream.sh" },
    { "initial-prompt", DECODES, "--initial-prompt ab", "", "cli/stream.sh" },
    { "hotwords", SPEECH, "--hotwords a,b", "", "cli/stream.sh" },
    { "hotwords-boost", TIMED, "--hotwords-boost 20", "--hotwords a,b", "cli/stream.sh" },
    { "guards", SPEECH, "--guards off", "", "cli/online.sh" },
    { "beam-size", TIMED, "--beam-size 3", "", "cli/stream.sh" },
    { "vad", SPEECH, "--vad fsmn", "--vad-model %v", "cli/stream.sh" },
    { "vad-model", SPEECH, "--vad-model %v", "--vad fsmn", "cli/stream.sh" },
    { "vad-threshold", SPEECH, "--vad-threshold -1", VAD_ON, "cli/stream.sh" },
    { "vad-min-silence-ms", SPEECH, "--vad-min-silence-ms 0", VAD_ON, "cli/stream.sh" },
    { "step", SPEECH, "--step 0.3", "", NULL },
    { "audio-padding", DECODES, "--audio-padding 0.5", "", "unit/test_live_updates.c, cli/stream.sh" },
    { "last-pass", DECODES, "--last-pass turn", "", "unit/test_live_updates.c, cli/stream.sh" },
    { "max-turn", SPEECH, "--max-turn 2", "", "unit/test_live.c, cli/stream.sh" },
    { "chunk-size", 0, "--chunk-size 0,8,4", "", "golden/test_live_chunks.c" },
    { "encoder-chunk-look-back", 0, "--encoder-chunk-look-back 2", "", "golden/test_live_chunks.c" },
    { "decoder-chunk-look-back", 0, "--decoder-chunk-look-back 2", "", "golden/test_live_chunks.c" },
    { "lookahead", 0, "--lookahead 1", "", "golden/parakeet/test_parakeet_stream.c" },
    { "device", SPEECH, "--device cpu", "", SPEED },
    { "compute", SPEECH, "--compute f32", "", SPEED },
    { "cpu", SPEECH, "--cpu c", "--step 5", SPEED },
    { "threads", SPEECH, "-t 2", "", SPEED },
    { "numa", SPEECH, "", "", "cli/numa.sh" },
    { "quiet", SPEECH, "-q", "", "cli/verbs.sh" },
};

/* info -m MODEL ... */
static const struct promise info[] = {
    { "model", ALL, "", "", "everything here" },
    { "vocab", TAGS, "--vocab %m", "", "cli/models.sh" },
    { "llm", 0, "--llm %m", "", "golden/test_nano.c" },
    { "alignment-heads", DECODES, "--alignment-heads 0,1", "", NULL },
    { "decoder-type", 0, "--decoder-type ctc", "", "golden/parakeet/test_parakeet_heads.c" },
    { "demo", 0, "--demo", "", NULL },
    { "plan", ALL, "--plan", "", NULL },
    { "tensors", ALL, "--tensors", "", NULL },
    { "json", ALL, "--json", "", NULL },
    { "device", ALL, "--device cpu", "", SPEED },
    { "compute", SPEECH | TEXTS, "--compute f32", "--cpu c", SPEED },
    { "cpu", ALL, "--cpu c", "", NULL },
    { "threads", ALL, "-t 2", "", NULL },
    { "numa", ALL, "", "", "cli/numa.sh" },
    { "quiet", ALL, "-q", "", "cli/verbs.sh" },
};

/* convert MODEL FILE, quantize MODEL FILE TYPE */
static const struct promise convert[] = {
    { "vocab", TAGS, "--vocab %m", "", "cli/convert.sh" },
    { "llm", 0, "--llm %m", "", "golden/test_nano.c" },
    { "imatrix", 0, "--imatrix %m", "", "cli/quantize.sh" },
    { "allow-requantize", ALL, "--allow-requantize", "", "cli/quantize.sh" },
    { "pure", 0, "--pure", "", "cli/quantize.sh" },
    { "threads", ALL, "-t 2", "", SPEED },
    { "quiet", ALL, "-q", "", NULL },
    { "to", ALL, "--to gguf", "", "cli/whisper_forms.sh" },
    { "type", TAGS | NANO, "--type f16", "", "" }, /* all models serve its default. The last row: not in quantize */
};

/* bench -m MODEL ... */
static const struct promise bench[] = {
    { "shape", 0, "--shape tiny", "", NULL }, /* not together with -m */
    { "type", 0, "--type f32", "", NULL },
    { "draft", 0, "--draft tiny", "", "cli/bench.sh" },
    { "prompt", 0, "--prompt README.md", "", "cli/bench.sh" }, /* the two options need each other */
    { "answer", 0, "--answer README.md", "", "cli/bench.sh" },
    { "tokenizer", 0, "--tokenizer %m", "", "cli/bench.sh" },
    { "model", ALL, "", "", "everything here" },
    { "runs", ALL, "--runs 2", "", "cli/bench.sh" },
    { "output-format", ALL, "-f tsv", "", NULL },
    { "json", ALL, "--json", "", NULL },
    { "device", ALL, "--device cpu", "", SPEED },
    { "compute", SPEECH, "--compute f32", "", NULL },
    { "cpu", ALL, "--cpu c", "", NULL },
    { "threads", ALL, "-t 2", "", SPEED },
    { "numa", ALL, "", "", "cli/numa.sh" },
    { "quiet", ALL, "-q", "", "cli/bench.sh" },
};

/* generate -m MODEL ..., chat -m MODEL ... <LINES */
#define DRAWS "--temperature 3"
#define LM_OPTIONS \
    { "model", LM, "", "", "everything here" }, \
    { "system", LM, "--system Brief", "", NULL }, \
    { "prompt-template", LM, "--prompt-template {prompt}:", "", NULL }, \
    { "think", LM, "--no-think", "--prompt-template chatml", NULL }, \
    { "temperature", LM, "--temperature 3", "", NULL }, \
    { "top-k", LM, "--top-k 2", DRAWS, NULL }, \
    { "top-p", LM, "--top-p 0.1", DRAWS, NULL }, \
    { "min-p", LM, "--min-p 0.9", DRAWS, NULL }, \
    { "repeat-penalty", LM, "--repeat-penalty 50", "", NULL }, \
    { "repeat-last-n", LM, "--repeat-last-n 2", "--repeat-penalty 50", NULL }, \
    { "frequency-penalty", LM, "--frequency-penalty 50", "", NULL }, \
    { "presence-penalty", LM, "--presence-penalty 50", "", NULL }, \
    { "samplers", LM, "--samplers temperature;top_p", DRAWS " --top-p 0.5", NULL }, \
    { "seed", LM, "--seed 7", DRAWS, NULL }, \
    { "grammar", LM, "--grammar root::=[a-c]+", "", NULL }, \
    { "grammar-file", LM, "--grammar-file %r", "", NULL }, \
    { "json-schema", LM, "--json-schema {}", "", NULL }, \
    { "json-schema-file", LM, "--json-schema-file %j", "", NULL }, \
    { "max-tokens", LM, "-n 3", "", NULL }, \
    { "stop", LM, "--stop b", "--grammar root::=[a-b]+", NULL }, \
    { "ignore-eos", LM, "--ignore-eos", "--temperature 50 -n 0", NULL }, \
    { "ctx-size", LM, "-c 60", "-n 0 --ignore-eos", NULL }, \
    { "draft", LM, "--draft %m", "", SPEED }, \
    { "kv-type", LM, "--kv-type f32", "", SPEED }, \
    { "draft-max", LM, "--draft-max 4", "", SPEED }, \
    { "device", LM, "--device cpu", "", SPEED }, \
    { "compute", LM, "--compute f32", "", SPEED }, \
    { "cpu", LM, "--cpu c", "", SPEED }, \
    { "threads", LM, "-t 2", "", SPEED }, \
    { "numa", LM, "", "", "cli/numa.sh" }, \
    { "quiet", LM, "-q", "", "cli/verbs.sh" }
static const struct promise chat[] = { LM_OPTIONS };
static const struct promise generate[] = {
    { "prompt", LM, "", "", "cli/generate.sh" }, /* not together with PROMPT */
    { "file", LM, "", "", "cli/generate.sh" },
    { "prompts", LM, "", "", "cli/generate.sh" },
    { "batch-size", LM, "", "", "cli/generate.sh" }, /* needs --prompts */
    { "raw", LM, "--raw", "", NULL },
    { "ids", LM, "--ids", "", NULL },
    { "json", LM, "--json", "", NULL },
    LM_OPTIONS,
};

/* embed -m MODEL ... TEXT, search -m MODEL ... QUERY TRANSCRIPT */
#define EMBED_OPTIONS \
    { "model", TEXTS, "", "", "everything here" }, \
    { "pooling", TEXTS, "--pooling cls", "", NULL }, \
    { "device", TEXTS, "--device cpu", "", SPEED }, \
    { "compute", TEXTS, "--compute f32", "", SPEED }, \
    { "cpu", TEXTS, "--cpu c", "", SPEED }, \
    { "threads", TEXTS, "-t 2", "", SPEED }, \
    { "numa", TEXTS, "", "", "cli/numa.sh" }, \
    { "quiet", TEXTS, "-q", "", "cli/verbs.sh" }
static const struct promise embed[] = {
    { "normalize", TEXTS, "--no-normalize", "", NULL },
    { "truncate", TEXTS, "--truncate", "%l", NULL }, /* without it the text is refused */
    { "output-format", TEXTS, "-f npy", "", NULL },
    EMBED_OPTIONS,
};
static const struct promise search[] = {
    { "top", TEXTS, "-k 1", "", NULL },
    { "json", TEXTS, "--json", "", NULL },
    EMBED_OPTIONS,
};

/* tokenize -m MODEL ... TEXT */
static const struct promise tokenize[] = {
    { "model", TEXTS | DECODES, "", "", "everything here" },
    { "vocab", 0, "--vocab %m", "", "cli/models.sh" }, /* these families have their own vocabulary */
    { "special", TEXTS, "--special", "", NULL },
    { "whole", TEXTS, "--whole", "", NULL },
    { "decode", TEXTS | DECODES, "", "", "cli/tokenize.sh" }, /* its operand is not text */
    { "ids", TEXTS | DECODES, "--ids", "", NULL },
    { "json", TEXTS | DECODES, "--json", "", NULL },
    { "quiet", TEXTS | DECODES, "-q", "", "cli/verbs.sh" },
};

/* doctor MODEL ... */
static const struct promise doctor[] = {
    { "json", ALL, "--json", "", NULL },
    { "measure", 0, "--measure", "", NULL }, /* about the machine, not a model */
};
#endif
