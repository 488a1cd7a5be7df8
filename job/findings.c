/* steno: finds reasons for notes on a result. SPDX-License-Identifier: MIT */
#include "findings.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- loudness of audio ------------------------------------------------------------------------------------------------------- */

void level_add(struct level *l, const float *pcm, int64_t n)
{
    const float full = 32767.0f / 32768;
    for (int64_t i = 0; i < n; i++) {
        const float a = fabsf(pcm[i]);
        l->squares += (double)a * (double)a;
        l->n_full += a >= full;
        if ((double)a > l->peak) l->peak = (double)a;
    }
    l->n += n;
}

static double power_db(double power)
{
    const double v = power > 0 ? 10 * log10(power) : LEVEL_NONE;
    return v > LEVEL_NONE ? v : LEVEL_NONE;
}

double level_db(const struct level *l)
{
    return l->n ? power_db(l->squares / (double)l->n) : LEVEL_NONE;
}

double level_peak_db(const struct level *l)
{
    return power_db(l->peak * l->peak);
}

static int64_t read_measured(void *user, float *pcm, int64_t n)
{
    struct level_source *l = user;
    const int64_t got = l->from.read(l->from.user, pcm, n);
    if (got > 0) level_add(&l->level, pcm, got);
    return got;
}

static int rewind_measured(void *user)
{
    struct level_source *l = user;
    l->level = (struct level){ 0 };
    return l->from.rewind(l->from.user);
}

steno_source level_source(struct level_source *l, const steno_source *from)
{
    *l = (struct level_source){ .from = *from };
    return (steno_source){ read_measured, from->rewind ? rewind_measured : NULL, l };
}

/* ---- reasons for notes ------------------------------------------------------------------------------------------------------- */

static double s_of(int64_t ms)
{
    return (double)ms / 1000;
}

static const char *plural(int64_t n)
{
    return n == 1 ? "" : "s";
}

/* ---- audio ------------------------------------------------------------------------------------------------------------------- */

void findings_media(struct notes *n, const steno_media *m)
{
    steno_media_state s = { .size = sizeof s };
    if (steno_media_state_get(m, &s) == STENO_OK) findings_state(n, s);
}

void findings_state(struct notes *n, steno_media_state s)
{
    if (s.truncated && s.promised_ms >= s.read_ms + 10)
        notes_add(n, NOTE_CUT_SHORT, "is cut short: it promises %.2f s and holds %.2f s", s_of(s.promised_ms), s_of(s.read_ms));
    else if (s.truncated) notes_add(n, NOTE_CUT_SHORT, "is cut short: it holds %.2f s, and its end is missing", s_of(s.read_ms));
    if (s.damaged_packets > 0) notes_add(n, NOTE_DAMAGED, "%lld damaged packets were skipped", (long long)s.damaged_packets);
    if (s.start_ms > 0)
        notes_add(n, NOTE_SOUND_LATE, "the sound begins %.3f s after the file's start; times count from the file's start",
                  s_of(s.start_ms));
    if (s.start_ms < 0)
        notes_add(n, NOTE_SOUND_EARLY, "the sound begins %.3f s before the file's start; that part is left out", s_of(-s.start_ms));
    if (s.gaps > 0)
        notes_add(n, NOTE_GAPS, "the sound has %lld gap%s, %.3f s in all; there is silence in the place of %s", (long long)s.gaps,
                  plural(s.gaps), s_of(s.gaps_ms), s.gaps == 1 ? "it" : "them");
    if (s.dropped_ms > 0) notes_add(n, NOTE_OVERLAP, "%.3f s of sound lie under other sound and are left out", s_of(s.dropped_ms));
    if (s.jumps > 0)
        notes_add(n, NOTE_CLOCK_JUMP, "the clock of the sound jumps %lld time%s without a gap; times count on as if there were no jump",
                  (long long)s.jumps, plural(s.jumps));
}

void findings_level(struct notes *n, const struct level *l)
{
    enum { SHARE = 100 }; /* a note needs this number of full-scale samples, and at least one in this number of samples */
    if (!l->n || l->n_full < l->n / SHARE || l->n_full < SHARE) return;
    notes_add(n, NOTE_CLIPPED, "%.1f %% of the samples are at full scale: louder sound is cut off there (clipped); record it lower",
              100.0 * (double)l->n_full / (double)l->n);
}

void findings_no_speech(struct notes *n, const struct level *l, int mixed)
{
    if (!l->n) notes_add(n, NOTE_NO_SPEECH, "no speech was found: there is no sound");
    else if (l->peak <= 0 && mixed > 1)
        notes_add(n, NOTE_NO_SPEECH, "no speech was found: all samples are 0 in the mix of %d channels, which may cancel each other",
                  mixed);
    else if (l->peak <= 0) notes_add(n, NOTE_NO_SPEECH, "no speech was found: all samples are 0");
    else
        notes_add(n, NOTE_NO_SPEECH, "no speech was found (level %.1f dBFS, peak %.1f dBFS)", level_db(l), level_peak_db(l));
}

void findings_past_end(struct notes *n, int64_t audio_ms)
{
    notes_add(n, NOTE_NO_SPEECH, "no speech was found: the audio ends at %.3f s, before the part that is transcribed", s_of(audio_ms));
}

/* ---- channels that cancel out -------------------------------------------------------------------------------------------------- */

enum { LOOK_S = 30, PIECE = 4096, CHANNELS = 8 };
static const double AUDIBLE = 1e-3, LEFT = 1e-3; /* peaks: of an audible sound; of a mix, relative to that of a channel */

/* Peak of the first 30 s; reading stops at a peak that is high enough. @return a status */
static int look(double *peak, steno_media *m)
{
    float pcm[PIECE];
    steno_source src;
    struct level l = { 0 };
    int64_t got = 1;
    steno_media_source(m, &src);
    while (l.n < LOOK_S * 16000 && l.peak < AUDIBLE && got > 0) {
        got = src.read(src.user, pcm, PIECE);
        if (got > 0) level_add(&l, pcm, got);
    }
    *peak = l.peak;
    return got < 0 ? (int)got : STENO_OK;
}

int findings_channel(struct notes *n, steno_media *m, int *channel)
{
    const int channels = steno_media_channels(m);
    double mix, one = 0;
    *channel = STENO_MEDIA_MIX;
    if (channels < 2) return STENO_OK;
    int rc = look(&mix, m), best = 0;
    for (int c = 0; rc == STENO_OK && mix < AUDIBLE && c < channels && c < CHANNELS && one < AUDIBLE; c++) {
        rc = steno_media_select(m, c);
        if (rc == STENO_OK) rc = look(&one, m);
        best = c;
    }
    if (rc == STENO_OK && one >= AUDIBLE && mix <= one * LEFT + 2.0 / 32768) {
        *channel = best;
        notes_add(n, NOTE_CHANNELS_CANCEL, "its channels cancel each other: the mix is silent, so channel %d is read",
                  best);
    }
    return rc == STENO_OK ? steno_media_select(m, *channel) : rc;
}

/* ---- text -------------------------------------------------------------------------------------------------------------------- */

void findings_language(struct notes *n, const char *language, double probability)
{
    if (probability >= 0 && probability < 0.5)
        notes_add(n, NOTE_LANGUAGE_UNSURE, "the language %s is uncertain, with a probability of %.2f; --language sets it", language,
                  probability);
}

void findings_other_language(struct notes *n, const char *language, const char *other, int64_t ms)
{
    if (ms > 0)
        notes_add(n, NOTE_LANGUAGE_OTHER, "at least %.0f s seem to be in %s and not in %s: that text is doubtful or left out; "
                  "--language-per-segment detects the language of each window", s_of(ms), other, language);
}

enum { MOST_LANGUAGES = 128 };

/* Adds time that seems to be in another language than the text. */
static void time_add(int64_t ms[MOST_LANGUAGES], const steno_model *m, const char *own, const char *code, int64_t t0_ms, int64_t t1_ms)
{
    const int id = code && strcmp(code, own) != 0 ? steno_language_id(m, code) : -1;
    if (id >= 0 && id < MOST_LANGUAGES) ms[id] += t1_ms - t0_ms;
}

/* Notes the other language with the most time, in segments and in text that was left out. */
static void look_at_languages(struct notes *n, const steno_model *m, const steno_session *s)
{
    const char *own = steno_language(s);
    int64_t ms[MOST_LANGUAGES] = { 0 };
    int most = 0;
    steno_segment seg = { .size = sizeof seg };
    steno_left_out left = { .size = sizeof left };
    for (int i = 0; !steno_segment_get(s, i, &seg); i++) time_add(ms, m, own, seg.language, seg.t0_ms, seg.t1_ms);
    for (int i = 0; !steno_left_out_get(s, i, &left); i++) time_add(ms, m, own, left.language, left.t0_ms, left.t1_ms);
    for (int i = 1; i < MOST_LANGUAGES; i++)
        if (ms[i] > ms[most]) most = i;
    if (ms[most] > 0) findings_other_language(n, own, steno_model_language(m, most), ms[most]);
}

static void look_at_prompt(struct notes *n, const steno_model *m, const steno_model_info *info, const steno_transcribe_params *p)
{
    const int32_t half = info->n_text_ctx / 2 - 1, most = p->max_context >= 0 && p->max_context < half ? p->max_context : half;
    const char *text = p->initial_prompt;
    if (!text || strcmp(info->family, "whisper") != 0 || strlen(text) <= (size_t)half) return;
    findings_prompt(n, steno_tokenize(m, text, NULL, 0), most);
}

void findings_prompt(struct notes *n, int count, int32_t most)
{
    if (count > most)
        notes_add(n, NOTE_PROMPT_CUT, "the prompt has %d tokens; the last %d are used, which is as many as the model takes", count,
                  (int)most);
}

void findings_heads(struct notes *n, const steno_model_info *info)
{
    if (info->alignment_unsure)
        notes_add(n, NOTE_HEADS_UNSURE, "the model is large-v1 or large-v2, and its path names neither: word times use all heads of the "
                                        "upper half of the layers; --alignment-heads large-v1 or large-v2 selects the official ones");
}

void findings_text(struct notes *n, const steno_model *m, const steno_session *s, const steno_transcribe_params *p)
{
    steno_model_info info = { .size = sizeof info };
    const int n_segments = steno_segment_count(s), id = steno_language_id(m, steno_language(s));
    int repeated = 0, silent = 0;
    steno_model_info_get(m, &info);
    look_at_prompt(n, m, &info, p);
    if (p->word_timestamps) findings_heads(n, &info);
    if (id >= 0 && n_segments > 0) findings_language(n, steno_language(s), steno_language_prob(s, id));
    if (!strcmp(info.family, "whisper") && !p->language_per_segment) look_at_languages(n, m, s);
    for (int i = 0; i < n_segments; i++) {
        steno_segment seg = { .size = sizeof seg };
        steno_segment_get(s, i, &seg);
        if (!seg.text || !seg.text[strspn(seg.text, " ")]) continue;
        repeated += (seg.flags & STENO_FLAG_REPETITION) != 0;
        silent += !(seg.flags & STENO_FLAG_REPETITION) && seg.flags & STENO_FLAG_NO_SPEECH;
    }
    findings_segments(n, n_segments, repeated, silent);
}

void findings_segments(struct notes *n, int n_segments, int repeated, int silent)
{
    if (repeated + silent > 0)
        notes_add(n, NOTE_DOUBTFUL, "%d of %d segment%s may be invented (%d repeat%s, %d lie%s where the model finds no speech)",
                  repeated + silent, n_segments, plural(n_segments), repeated, repeated == 1 ? "s itself" : " themselves", silent,
                  silent == 1 ? "s" : "");
}

/* ---- text commands ------------------------------------------------------------------------------------------------------------- */

static int is_blank(const char *text)
{
    return !text[strspn(text, " \t\r\n")];
}

/* Does the text have marks that end a clause, as punctuation models insert them? */
static int has_marks(const char *text)
{
    static const char *const marks[] = { ",", ".", "?", "!", ";", ":", "，", "。", "？", "！", "；", "：", "、" };
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        for (const char *p = text; (p = strstr(p, marks[i])) != NULL; p += strlen(marks[i])) {
            const char behind = p[strlen(marks[i])];
            if ((marks[i][0] & 0x80) || !behind || behind == ' ') return 1; /* the point of "3.5" does not count */
        }
    return 0;
}

void findings_punctuation_line(struct marks_count *c, const char *before, const char *after)
{
    c->lines++;
    if (is_blank(before)) c->empty++;
    else if (has_marks(before)) c->marked++;
    else if (strcmp(before, after) == 0) c->unchanged++;
}

void findings_punctuation(struct notes *n, const struct marks_count *c)
{
    if (c->empty == c->lines) notes_add(n, NOTE_NO_TEXT, "there is no text in it");
    if (c->unchanged)
        notes_add(n, NOTE_NO_MARKS, "%lld of %lld line%s got no punctuation", (long long)c->unchanged, (long long)c->lines,
                  plural(c->lines));
    if (c->marked)
        notes_add(n, NOTE_MARKED_BEFORE, "%lld of %lld line%s had punctuation before: marks may stand twice, or in other places",
                  (long long)c->marked, (long long)c->lines, plural(c->lines));
}

void findings_answer(struct notes *n, const char *text, enum steno_finish why, int n_prompt, int n_made, int n_ctx)
{
    if (why == STENO_FINISH_LENGTH && n_prompt + n_made >= n_ctx)
        notes_add(n, NOTE_CONTEXT_FULL, "the context of %d tokens is full, and the answer ends here: --ctx-size makes room", n_ctx);
    else if (why == STENO_FINISH_LENGTH)
        notes_add(n, NOTE_LIMIT, "the answer ends after %d token%s, which is its limit: --max-tokens sets another", n_made, plural(n_made));
    if (is_blank(text) && why != STENO_FINISH_CANCELED && why != STENO_FINISH_NONE)
        notes_add(n, NOTE_NO_ANSWER, "the answer is empty: the model %s", why == STENO_FINISH_STOP ? "began with a text of --stop"
                  : n_made > 1 ? "made tokens without text" : "ended the text at once");
}

void findings_vectors(struct notes *n, int64_t cut, int64_t empty)
{
    if (cut)
        notes_add(n, NOTE_INPUT_CUT, "%lld text%s longer than the model takes: only the beginning was read", (long long)cut,
                  cut == 1 ? " is" : "s are");
    if (empty)
        notes_add(n, NOTE_EMPTY_LINE, "%lld line%s no text and no vector", (long long)empty, empty == 1 ? " has" : "s have");
}

void findings_hits(struct notes *n, int64_t hits)
{
    if (!hits) notes_add(n, NOTE_NO_RESULT, "nothing was found: there is no line with text in the files");
}
