/* steno: tables of filter banks. SPDX-License-Identifier: MIT */
#include <math.h>
#include "audio/fbank.h"
#include "audio/mel.h"
#include "audio/steady.h"

enum { N_BINS = FBANK_FFT / 2 + 1 };
static const struct spectrum_log ln_floored = { 1.1920929e-07f, -15.942385f, 0.693147181f, 1.0f, 0 };
static const struct spectrum_log ln_guarded = { 0x1p-25f, -17.0f, 0.693147181f, 1.0f, 0x1p-24f };

static double hz_to_mel(double hz)
{
    return 1127.0 * log(1.0 + hz / 700.0);
}

/* out[n_mels, N_BINS]: triangles in mel, not normalised; the bin at 8 kHz has no weight. */
static void filters_fill(float *out, int n_mels)
{
    const double low = hz_to_mel(20.0), step = (hz_to_mel(FBANK_RATE / 2.0) - low) / (n_mels + 1);
    for (int m = 0; m < n_mels; m++) {
        const double left = low + m * step, right = left + 2 * step;
        for (int k = 0; k < N_BINS; k++) {
            const double mel = hz_to_mel(k * (double)FBANK_RATE / FBANK_FFT);
            const double up = (mel - left) / step, down = (right - mel) / step, tri = up < down ? up : down;
            out[m * N_BINS + k] = tri > 0 && k < N_BINS - 1 ? (float)tri : 0.0f;
        }
    }
}

static int bank_check(const struct fbank_bank *b, steno_error *e)
{
    if (b->n_mels < 1 || b->n_mels > SPECTRUM_BANDS)
        return err_set(e, STENO_EUNSUPPORTED, "front end: n_mels is %d, want 1..%d", b->n_mels, SPECTRUM_BANDS);
    if (b->lfr_m < 1 || b->lfr_m > FBANK_LFR_MAX || b->lfr_n < 1 || b->lfr_n > b->lfr_m)
        return err_set(e, STENO_EUNSUPPORTED, "front end: lfr_m, lfr_n are %d, %d, want 1 <= lfr_n <= lfr_m <= %d", b->lfr_m,
                       b->lfr_n, FBANK_LFR_MAX);
    return STENO_OK;
}

int fbank_bank_init(struct fbank_bank *b, struct arena *a, const struct fbank_params *p, const struct kern *kern, steno_error *e)
{
    const int n_mels = p->n_mels, lfr_m = p->lfr_m, lfr_n = p->lfr_n;
    *b = (struct fbank_bank){ .n_mels = n_mels, .lfr_m = lfr_m, .lfr_n = lfr_n, .kern = kern, .shift = p->shift, .scale = p->scale };
    const int rc = bank_check(b, e);
    if (rc) return rc;
    float *f = arena_array(a, (size_t)n_mels * N_BINS, sizeof *f);
    if (!f) return err_nomem(e, (size_t)n_mels * N_BINS * sizeof *f, "mel filters");
    filters_fill(f, n_mels);
    spectrum_init(&b->spectrum, FBANK_FFT, f, (uint32_t)n_mels, &ln_floored);
    for (int i = 0; i < FBANK_WINDOW; i++) {
        const double turn = 2.0 * 3.14159265358979323846 * i / (FBANK_WINDOW - 1);
        b->spectrum.window[i] = 32768.0f * (float)(0.54 - 0.46 * cos(turn));
    }
    level_init(b, &(struct level_window){ f, b->spectrum.window, FBANK_WINDOW, FBANK_FFT });
    return STENO_OK;
}

/* The window of centred frames stands at the first points: its place does not change the power. */
int fbank_bank_centred(struct fbank_bank *b, struct arena *a, const struct fbank_centred *p, const struct kern *kern, steno_error *e)
{
    const float *filters = p->filters;
    *b = (struct fbank_bank){ .kind = FBANK_CENTRED, .n_mels = p->n_mels, .lfr_m = p->stack, .lfr_n = p->stack, .kern = kern,
                              .lead = p->lead, .is_normalised = p->is_normalised };
    const int rc = bank_check(b, e);
    if (rc) return rc;
    float *own = filters ? NULL : arena_array(a, (size_t)b->n_mels * N_BINS, sizeof *own);
    if (!filters && !own) return err_nomem(e, (size_t)b->n_mels * N_BINS * sizeof *own, "mel filters");
    if (own) mel_filters_slaney(own, b->n_mels, FBANK_FFT);
    spectrum_init(&b->spectrum, FBANK_FFT, own ? own : filters, (uint32_t)b->n_mels, &ln_guarded);
    for (int i = 0; i < FBANK_WINDOW; i++)
        b->spectrum.window[i] = (float)(0.5 - 0.5 * cos(2.0 * 3.14159265358979323846 * i / (FBANK_WINDOW - 1)));
    level_init(b, &(struct level_window){ own ? own : filters, b->spectrum.window, FBANK_WINDOW, FBANK_FFT });
    return STENO_OK;
}

int fbank_bank_log_mel(struct fbank_bank *b, struct arena *a, int n_mels, int stack, int chunk, const struct kern *kern, steno_error *e)
{
    struct mel_bank mel;
    *b = (struct fbank_bank){ .kind = FBANK_LOG_MEL, .n_mels = n_mels, .lfr_m = stack, .lfr_n = stack, .chunk = chunk, .kern = kern };
    const int rc = bank_check(b, e);
    float *filters = rc ? NULL : arena_array(a, (size_t)n_mels * MEL_BINS, sizeof *filters);
    if (rc || !filters) return rc ? rc : err_nomem(e, (size_t)n_mels * MEL_BINS * sizeof *filters, "mel filters");
    mel_filters_slaney(filters, n_mels, MEL_FFT);
    mel_bank_init(&mel, filters, n_mels, kern);
    b->spectrum = mel.spectrum;
    level_init(b, &(struct level_window){ filters, b->spectrum.window, MEL_FFT, MEL_FFT });
    return STENO_OK;
}

void fbank_bank_frames(struct fbank_bank *b, int frame, int margin, const struct kern *kern)
{
    *b = (struct fbank_bank){ .n_mels = 1, .lfr_m = 1, .lfr_n = 1, .kern = kern, .frame = frame, .margin = margin };
}
