/* steno: detects windows without speech by level and spectrum. SPDX-License-Identifier: MIT
 *
 * Without speech, models write frequent phrases of their training data. The level shows this independently of the model. A steady
 * level (audio/steady.h) is that of silence, tones, hum and steady noise. The spectrum identifies music, strokes and birds. */
#include "task/ar/sound_checks.h"
#include "audio/steady.h"

enum { SOUND_FRAMES = 5 };

/* ---- notes ---- */

enum { MOVE_FRAMES = 6, PHRASE_FRAMES = 50, SPEECH_FRAMES = 25 };
static const double DB = 40, LOUD_DB = 40, STRONG_DB = 30, MOVE_DB = 5, STAND_DB = 3; /* DB: one dB in scaled log-mel, times 40 */

/* Mean difference in dB between the shapes of two spectra, over the bands above `from` in at least one of them. Loudness does not count. */
static double shapes_differ(const float *a, const float *b, int n, float from)
{
    double sum = 0, off = 0;
    int bands = 0;
    for (int i = 0; i < n; i++) {
        if (!(fmaxf(a[i], b[i]) > from)) continue;
        sum += (double)b[i] - (double)a[i];
        bands++;
    }
    if (!bands) return 0;
    for (int i = 0; i < n; i++)
        if (fmaxf(a[i], b[i]) > from) off += fabs((double)b[i] - (double)a[i] - sum / bands);
    return DB * off / bands;
}

static float loudest(const float *x, size_t n)
{
    float most = x[0];
    for (size_t i = 1; i < n; i++) most = fmaxf(most, x[i]);
    return most;
}

/* Change of loud spectra over 60 ms, in frames: loud ones, those that stay the same, and those that move in the half second with the most
 * motion. It ends as soon as `limit` frames of a half second move, which speech reaches early. */
struct motion { int32_t loud, stand, most; };

static struct motion spectra_motion(const float *mel, int32_t frames, int n_mels, int32_t limit)
{
    const size_t row = (size_t)n_mels;
    struct motion m = { 0 };
    int32_t moving = 0;
    uint8_t moves[PHRASE_FRAMES] = { 0 };
    const float least = loudest(mel, (size_t)frames * row) - (float)(LOUD_DB / DB);
    for (int32_t t = 0; t + MOVE_FRAMES < frames && m.most < limit; t++) {
        const float *a = mel + (size_t)t * row, *b = a + MOVE_FRAMES * row;
        const float peak = fmaxf(loudest(a, row), loudest(b, row));
        const int is_loud = peak > least;
        const double d = is_loud ? shapes_differ(a, b, n_mels, peak - (float)(STRONG_DB / DB)) : 0;
        uint8_t *at = &moves[t % PHRASE_FRAMES];
        m.loud += is_loud;
        m.stand += is_loud && d < STAND_DB;
        moving -= *at;
        *at = is_loud && d > MOVE_DB;
        moving += *at;
        m.most = moving > m.most ? moving : m.most;
    }
    return m;
}

/* The spectrum of a note stays the same while it sounds, and changes at once to the next. The spectrum of speech keeps moving. Notes,
 * chords and hum change by less than 3 dB in 60 ms for more than half of the time, and no half second has 5 dB of change in half of its
 * frames. Noise changes by 3.5 dB and more, so speech in noise does not count as music. Speech over music moves if it is at least as loud
 * as the music. */
int spectra_stand(const float *mel, int32_t frames, int n_mels)
{
    if (frames < PHRASE_FRAMES + MOVE_FRAMES) return 0;
    const struct motion m = spectra_motion(mel, frames, n_mels, SPEECH_FRAMES);
    return m.most < SPEECH_FRAMES && 2 * m.stand > m.loud;
}

/* ---- strokes ---- */

enum { HELD_FRAMES = 6, LONG_FRAMES = 10, STROKES = 6, FEW_STROKES = 3 };
enum { STOPS_FRAMES = 28, STILL_FRAMES = 10 }; /* of 50 that move: fewer than between stops, fewer than those of three syllables */
static const double HELD_DB = 6, SWING_DB = 12, ABOVE_DB = 6, GROUND_DB = 25; /* level of the loudest band */

/* Level above which a frame counts as loud, by its loudest band. *range: dB between the background and the loudest frames. */
static float loud_from(const float *mel, int32_t frames, size_t row, double *range)
{
    int32_t count[LEVEL_BINS] = { 0 };
    for (int32_t t = 0; t < frames; t++) count[level_bin(4 * (double)loudest(mel + (size_t)t * row, row) - 4)]++;
    const double bins = LEVELS_PER_B / 10.0, top = level_at(count, frames - SOUND_FRAMES), ground = level_at(count, frames / 10);
    *range = (top - ground) / bins;
    const double least = fmax(top - LOUD_DB * bins, ground + ABOVE_DB * bins) / LEVELS_PER_B - 10;
    return (float)((least + 4) / 4);
}

/* Strokes of a sound, and the number of frames after which the level is held for 60 ms and for 100 ms. */
struct strokes { int32_t n, held, held_long; };

static int is_held(const float *last, int32_t t, int32_t n, float least)
{
    float low = last[t % (LONG_FRAMES + 1)], high = low;
    if (t < n) return 0;
    for (int32_t i = 1; i <= n; i++) {
        low = fminf(low, last[(t - i) % (LONG_FRAMES + 1)]);
        high = fmaxf(high, last[(t - i) % (LONG_FRAMES + 1)]);
    }
    return low > least && high - low < (float)(HELD_DB / DB);
}

static struct strokes strokes_count(const float *mel, int32_t frames, size_t row, float least)
{
    struct strokes s = { 0 };
    float last[LONG_FRAMES + 1], turn = least; /* the minimum since the last stroke, or the maximum of this one */
    int rises = 0;
    for (int32_t t = 0; t < frames; t++) {
        const float level = loudest(mel + (size_t)t * row, row), v = fmaxf(level, least);
        last[t % (LONG_FRAMES + 1)] = level;
        s.held += is_held(last, t, HELD_FRAMES, least);
        s.held_long += is_held(last, t, LONG_FRAMES, least);
        turn = rises ? fmaxf(turn, v) : fminf(turn, v);
        if (fabsf(v - turn) <= (float)(SWING_DB / DB)) continue;
        rises = !rises;
        s.n += rises;
        turn = v;
    }
    return s;
}

/* A voice holds its vowels, and its spectra move. Clicks, knocks, claps and drums, 25 dB above the background, hold no level within 6 dB
 * for 60 ms, or for 100 ms where they move less. The shortest vowels between stops, at 380 words a minute, move in 30 of 50 frames, knocks
 * in 26. Three to five strokes may be words, which move in 16 frames or more; those of a metronome move in 3. */
int sound_strikes(const float *mel, int32_t frames, int n_mels)
{
    const size_t row = (size_t)n_mels;
    double range;
    if (frames < PHRASE_FRAMES + MOVE_FRAMES) return 0;
    const float least = loud_from(mel, frames, row, &range);
    if (range < GROUND_DB) return 0;
    const struct strokes s = strokes_count(mel, frames, row, least);
    const int few = s.n < STROKES;
    if (s.n < FEW_STROKES || s.held_long || (few && s.held)) return 0;
    const int32_t limit = few ? STILL_FRAMES : s.held ? SPEECH_FRAMES : STOPS_FRAMES;
    return spectra_motion(mel, frames, n_mels, limit).most < limit;
}

/* Birds, whistles and beeps have no energy below 1 kHz, a third of the bands. A voice has some there in 24 of 25 loud frames, even a
 * whispering one. */
int sound_whistles(const float *mel, int32_t frames, int n_mels)
{
    static const double LOW_DB = 20, SHARE = 0.95;
    const size_t row = (size_t)n_mels;
    int32_t loud = 0, high = 0;
    double range;
    if (frames < PHRASE_FRAMES + MOVE_FRAMES) return 0;
    const float least = loud_from(mel, frames, row, &range);
    if (range < GROUND_DB) return 0;
    for (int32_t t = 0; t < frames; t++) {
        const float *x = mel + (size_t)t * row, peak = loudest(x, row);
        loud += peak > least;
        high += peak > least && peak - loudest(x, row / 3) > (float)(LOW_DB / DB);
    }
    return high > SHARE * loud;
}

/* ---- the level ---- */

/* Mean over the bands, for each frame. Scaled log-mel is at most 80 dB below the loudest bin of the file, so digital silence is as steady
 * as a tone. */
void window_levels(struct window_decoder *w, const float *mel)
{
    struct decoder_content *window = &w->window;
    const int n_mels = mel_bank_of(w->s->model)->n_mels;
    for (int32_t t = 0; t < window->frames; t++) {
        double sum = 0;
        for (int i = 0; i < n_mels; i++) sum += (double)mel[(size_t)t * (size_t)n_mels + (size_t)i];
        window->level[t] = (float)(4 * sum / n_mels - 4);
    }
    window->voiceless = spectra_stand(mel, window->frames, n_mels) || sound_strikes(mel, window->frames, n_mels) ||
                        sound_whistles(mel, window->frames, n_mels);
}

int window_steady(const struct window_decoder *w, int64_t from, int64_t to)
{
    return levels_are_steady(w->window.level + (from - w->position.seek), to - from);
}

enum { NEAR_FRAMES = 50 }; /* precision of timestamps: sound this close to a segment belongs to it */

static int is_mute(const struct window_decoder *w, int64_t t0_ms, int64_t t1_ms)
{
    const struct decoder_position *position = &w->position;
    const int64_t from = t0_ms / 10 - NEAR_FRAMES, to = t1_ms / 10 + NEAR_FRAMES, end = position->seek + w->window.frames;
    return window_steady(w, from > position->seek ? from : position->seek, to < end ? to : end);
}

/* Words that come faster than speech were not found in the sound. */
static int are_found(const struct draft *d)
{
    static const double LEAST_S = 0.05; /* minimum length of a word */
    return d->n_words && d->end - d->start >= LEAST_S * d->n_words;
}

/* Uses word times if there are any, else the timestamps of the model. A segment after the last sound counts as silence. */
void drafts_judge(struct window_decoder *w, int n)
{
    if (w->request->p.guards == STENO_GUARDS_OFF) return;
    for (int i = 0; i < n; i++) {
        const struct draft *d = &w->window.drafts[i];
        w->window.mute[i] = are_found(d) ? is_mute(w, ms_of(d->start), ms_of(d->end))
                                         : is_mute(w, ms_of(d->model_start), ms_of(d->model_end));
    }
}

void drafts_end_with_sound(struct decoder_content *window, int64_t seek, int n)
{
    const double end = (double)(seek + window->frames) / 100;
    double before = (double)seek / 100;
    for (int i = 0; i < n; i++) {
        struct draft *d = &window->drafts[i];
        if (d->start >= end && d->end > d->start) d->start = fmax(before, end - (d->end - d->start));
        d->start = fmin(d->start, end);
        d->end = fmin(d->end, end);
        before = fmax(before, d->end);
        struct word *v = (struct word *)(void *)window->words.word.p;
        for (int32_t k = 0; k < d->n_words; k++) {
            v[d->first_word + k].start = fmin(v[d->first_word + k].start, end);
            v[d->first_word + k].end = fmin(v[d->first_word + k].end, end);
        }
    }
}

int drafts_mute(const struct decoder_content *window, int n)
{
    int mute = 0;
    for (int i = 0; i < n; i++) mute += window->mute[i];
    return mute == n;
}
