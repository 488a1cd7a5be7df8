/* steno: requirements and conflicts of options of transcribe and translate that the library does not check. SPDX-License-Identifier: MIT
 *
 * As in the library's table, each row has the condition under which a typed option has an effect, and the reason if it has none. An
 * option without effect is refused. */
#include "verbs/opt_rules.h"
#include "cli/message.h"
#include "cli/option_names.h"
#include "reshape.h"
#include <math.h>

typedef const struct opt_scene *scene_t;

#define BIT(format) (1u << WRITER_##format)

enum {
    CUES = BIT(SRT) | BIT(VTT) | BIT(WTS) | BIT(ASS),
    UNDERLINED = BIT(SRT) | BIT(VTT),
    KARAOKE = BIT(WTS) | BIT(ASS),
    OBJECTS = BIT(JSON) | BIT(VERBOSE_JSON) | BIT(JSONL) | BIT(JSON_FULL),
    WITH_SPEAKERS = BIT(TXT) | BIT(LRC) | BIT(CSV) | BIT(TSV) | OBJECTS | UNDERLINED | BIT(ASS)
};

static int has_aligner(scene_t s) { return s->o->aligner.model != NULL; }
static int no_aligner(scene_t s) { return !has_aligner(s); }
static int has_words(scene_t s)
{
    return s->o->decode.word_timestamps || s->formats & KARAOKE || s->o->subtitles.ruled || has_aligner(s);
}
static int has_transcript(scene_t s) { return s->o->task != STENO_TRANSLATE; }
static int may_align(scene_t s) { return s->o->decode.word_timestamps || !option_was_given(s->o->engine.given, "word-timestamps"); }
static int has_vad(scene_t s) { return s->o->vad.kind != VAD_OFF; }
static int no_vad_chunks(scene_t s) { return !has_vad(s) || isnan(s->o->decode.chunk_s); }
static int no_vad(scene_t s) { return !has_vad(s); }
static int no_clips(scene_t s) { return !has_vad(s) || !s->o->decode.clip_timestamps; }
static int has_cues(scene_t s) { return (s->formats & CUES) != 0; }
static int underlines_words(scene_t s) { return !s->o->subtitles.highlight_words || has_words(s); }
static int underlines(scene_t s) { return !s->o->subtitles.highlight_words || s->formats & UNDERLINED; }
static int counts_frames(scene_t s) { return s->o->subtitles.ruled && s->o->subtitles.cues.style == CUE_STYLE_NETFLIX; }
static int has_lists(scene_t s) { return (s->formats & (OBJECTS & ~BIT(JSON_FULL))) != 0; }
static int diarizes(scene_t s) { return s->o->diarize; }
static int has_speakers(scene_t s) { return s->o->diarize || s->o->channel != JOB_MIX; }
static int colors_speakers(scene_t s) { return (s->formats & (BIT(VTT) | KARAOKE)) != 0; }
static int has_vtt(scene_t s) { return (s->formats & BIT(VTT)) != 0; }
static int no_rules(scene_t s) { return !s->o->subtitles.ruled; }
static int has_karaoke(scene_t s) { return (s->formats & KARAOKE) != 0; }
static int has_numbers(scene_t s) { return (s->formats & BIT(SRT)) != 0; }
static int has_objects(scene_t s) { return !s->o->decode.token_timestamps || (s->formats & OBJECTS) != 0; }
static int shows_speakers(scene_t s) { return (s->formats & WITH_SPEAKERS) != 0 || s->o->engine.verbose; }
static int has_width(scene_t s) { return s->o->subtitles.max_line_width > 0 || s->o->subtitles.ruled; }
static int no_line_count(scene_t s) { return !s->o->subtitles.max_line_count; }
static int cuts(scene_t s) { return !s->o->subtitles.split_on_word || s->o->subtitles.max_len > 0; }
static int has_folder(scene_t s) { return s->o->out_dir != NULL; }
static int prints_text(scene_t s) { return s->o->engine.verbose || (!s->o->out_dir && s->formats & BIT(TXT)); }
static int is_fast(scene_t s) { return s->o->engine.compute != ENGINE_F32; }
static int is_greedy(scene_t s) { return s->o->decode.beam_size <= 0 && s->o->decode.temperature == 0; }
static int is_one_sequence(scene_t s)
{
    const struct decode_opts *o = &s->o->decode;
    return o->beam_size <= 0 && isnan(o->patience) && (o->best_of > 1 || (o->n_best < 2 && isnan(o->length_penalty)));
}
static int sets_draft_max(scene_t s) { return s->o->decode.draft_max != 0; }
static int verifies(scene_t s) { return s->o->engine.verify; }
static int has_styles(scene_t s) { return s->o->print_colors || s->o->print_confidence; }
static int one_style(scene_t s) { return !s->o->print_colors || !s->o->print_confidence; }
static int one_text(scene_t s) { return !s->o->decode.keep_tags || !s->o->decode.rich_text; }
static int shows_no_tokens(scene_t s) { return !has_styles(s) && !s->o->print_special; }
static int has_post(scene_t s) { return s->o->post.model != NULL; }
static int shows_post(scene_t s) { return (s->formats & (BIT(TXT) | BIT(JSON) | BIT(JSONL) | BIT(VERBOSE_JSON))) != 0; }
static int one_punctuation(scene_t s) { return !s->o->punctuation.none; }
static int may_color(scene_t s) { return s->o->color != CONSOLE_COLOR_NEVER; }

static const struct {
    const char *option;
    int (*holds)(scene_t s);
    const char *reason;
} rules[] = {
    { "verify", is_fast, "has no effect with --compute f32: everything is f32 already" },
    { "verify-margin", verifies, "needs --verify" },
    { "draft", is_greedy, "works with greedy search: it excludes --beam-size and --temperature above 0" },
    { "greedy", is_one_sequence, "follows one sequence: it excludes --beam-size, --patience, --n-best and --length-penalty" },
    { "draft", sets_draft_max, "and --draft-max 0 exclude each other" },
    { "no-vad", no_vad, "and --vad exclude each other" },
    { "clip-timestamps", no_clips, "and --vad exclude each other" },
    { "chunk-length", no_vad_chunks, "and --vad exclude each other" },
    { "alignment-heads", no_aligner, "and --align-model exclude each other" },
    { "alignment-heads", has_words, "needs --word-timestamps, or the output formats ass or wts" },
    { "align-model", has_transcript, "is for transcripts: the words of a translation are not in the audio" },
    { "align-model", may_align, "and --no-word-timestamps exclude each other" },
    { "align-model", shows_no_tokens, "excludes --print-colors, --print-confidence and --print-special, which print tokens as they are "
                                      "decoded" },
    { "diarize", shows_speakers, "shows in txt, srt, vtt, ass, tsv, csv, lrc and the JSON formats: add one of these output formats" },
    { "keep-tags", one_text, "and --rich-text exclude each other" },
    { "punctuation", shows_no_tokens, "excludes --print-colors, --print-confidence and --print-special, which print tokens as they are "
                                      "decoded" },
    { "post", shows_no_tokens, "excludes --print-colors, --print-confidence and --print-special, which print tokens as they are decoded" },
    { "post", shows_post, "shows in txt, json, jsonl and verbose_json: add one of these output formats" },
    { "post-prompt", has_post, "needs --post" },
    { "punctuation", one_punctuation, "and --no-punctuation exclude each other" },
    { "output-template", has_folder, "needs --output-dir" },
    { "resume", has_folder, "needs --output-dir" },
    { "offset-n", has_numbers, "is for the output format srt" },
    { "max-line-count", has_width, "needs --max-line-width" },
    { "max-words-per-line", has_words, "needs --word-timestamps" },
    { "max-words-per-line", no_line_count, "has no effect with --max-line-count; leave one of them out" },
    { "highlight-words", underlines_words, "needs --word-timestamps" },
    { "highlight-words", underlines, "is for the output formats srt and vtt" },
    { "max-line-width", has_cues, "is for the output formats srt, vtt, ass and wts: add -f srt" },
    { "max-line-count", has_cues, "is for the output formats srt, vtt, ass and wts: add -f srt" },
    { "max-words-per-line", has_cues, "is for the output formats srt, vtt, ass and wts: add -f srt" },
    { "max-words-per-line", no_rules, "excludes --style and the limits of cues, which decide where cues end" },
    { "highlight-words", no_rules, "excludes --style and the limits of cues: each cue would last one word" },
    { "speaker-names", has_speakers, "needs --diarize or --channels" },
    { "speaker-names", has_cues, "is for the output formats srt, vtt, ass and wts: add -f srt" },
    { "speaker-colors", has_speakers, "needs --diarize or --channels" },
    { "speaker-colors", colors_speakers, "is for the output formats vtt, ass and wts" },
    { "vtt-regions", diarizes, "needs --diarize" },
    { "vtt-regions", has_vtt, "is for the output format vtt" },
    { "style", has_cues, "is for the output formats srt, vtt, ass and wts: add -f srt" },
    { "min-cue-ms", has_cues, "is for the output formats srt, vtt, ass and wts: add -f srt" },
    { "max-cue-ms", has_cues, "is for the output formats srt, vtt, ass and wts: add -f srt" },
    { "max-cps", has_cues, "is for the output formats srt, vtt, ass and wts: add -f srt" },
    { "min-gap-ms", has_cues, "is for the output formats srt, vtt, ass and wts: add -f srt" },
    { "close-gap-ms", has_cues, "is for the output formats srt, vtt, ass and wts: add -f srt" },
    { "frame-rate", counts_frames, "needs --style netflix" },
    { "split-on-word", cuts, "needs --max-len" },
    { "font", has_karaoke, "is for the output formats ass and wts" },
    { "token-timestamps", has_objects, "shows in the output formats json, verbose_json, jsonl and json_full: add one of these" },
    { "n-best", has_lists, "shows in the output formats json, verbose_json and jsonl: add one of these" },
    { "token-logprobs", has_lists, "shows in the output formats json, verbose_json and jsonl: add one of these" },
    { "print-colors", one_style, "and --print-confidence exclude each other" },
    { "print-colors", may_color, "and --color never exclude each other" },
    { "print-confidence", may_color, "and --color never exclude each other" },
    { "print-colors", prints_text, "needs text on standard output (the output format txt without --output-dir), or -v" },
    { "print-confidence", prints_text, "needs text on standard output (the output format txt without --output-dir), or -v" },
    { "print-special", prints_text, "needs text on standard output (the output format txt without --output-dir), or -v" },
    { "color", has_styles, "needs --print-colors or --print-confidence" },
};

int opt_rules_check(const struct args_given *g, const struct opt_scene *s)
{
    char name[OPTION_TEXT_SZ];
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (option_was_given(g, rules[i].option) && !rules[i].holds(s))
            return message_usage("%s %s", option_name(name, g, rules[i].option), rules[i].reason);
    return EXIT_OK;
}

/* ---- audio past the end ------------------------------------------------------------------------------------------------------ */

enum { GRID_MS = 10 /* clips are aligned to frames */ };

/* As in the reference, audio past the end gives no text, and a clip that reaches past the end is cut there. A message reports both. */
void past_end_report(const char *file, int64_t audio_ms, int64_t offset_ms, const double *clips, int32_t n)
{
    const double end = (double)audio_ms / 1000;
    int32_t behind = 0, cut = 0;
    if (offset_ms > 0 && offset_ms >= audio_ms)
        message("%s: --offset-ms %lld is past the end of the audio, which is %lld ms long: there is no text", file, (long long)offset_ms,
                (long long)audio_ms);
    for (int32_t i = 0; i < n; i += 2) {
        if (clips[i] > 0 && clips[i] >= end) behind++;
        else if (i + 1 < n && clips[i + 1] * 1000 >= (double)(audio_ms + GRID_MS)) cut++;
    }
    const int32_t all = (n + 1) / 2;
    if (behind)
        message("%s: %d of %d clip%s of --clip-timestamps begin%s past the end of the audio, at %g s: there is no text", file, (int)behind,
                (int)all, all == 1 ? "" : "s", behind == 1 ? "s" : "", end);
    if (cut)
        message("%s: %d of %d clip%s of --clip-timestamps reach%s past the end of the audio: cut at %g s", file, (int)cut, (int)all,
                all == 1 ? "" : "s", cut == 1 ? "es" : "", end);
}
