/* steno: Parakeet's front end. SPDX-License-Identifier: MIT
 *
 * Filters and window follow from the numbers of bands and samples. Forms that store them usually store these, with other rounding; then
 * those computed here are used, so that all forms of a model give the same bits. Others are taken from the file. */
#include <math.h>
#include "model/features.h"
#include "model/parakeet.h"

/* Read a stored list of n numbers. *out NULL: the file has none, or it equals `usual` except for rounding. */
static int read_other(float **out, struct weights *w, struct arena *a, const char *name, const uint64_t dim[4], const float *usual,
                      steno_error *e)
{
    const size_t n = (size_t)(dim[0] * (dim[1] ? dim[1] : 1));
    struct tensor *t;
    float most = 0;
    int differs = 0;
    *out = NULL;
    if (!weights_find(w, name)) return STENO_OK;
    int rc = weights_get(w, name, dim, &t, e);
    float *x = rc ? NULL : arena_array(a, n, sizeof *x);
    if (!rc && !x) rc = err_nomem(e, n * sizeof *x, "the front end");
    if (!rc) rc = tensor_read_f32(t, x, e);
    for (size_t i = 0; i < n && !rc; i++) {
        if (x[i] < 0) rc = err_set(e, STENO_EFORMAT, "%s: tensor %s has %g, want no number below 0", w->name, name, (double)x[i]);
        most = fmaxf(most, usual[i]);
    }
    for (size_t i = 0; i < n && !rc; i++) differs |= !(fabsf(x[i] - usual[i]) <= 1e-6f * most);
    if (differs) *out = x;
    return rc;
}

int parakeet_open_front(steno_model *m, struct weights *w, const struct parakeet_shape *s, steno_error *e)
{
    const uint64_t of_filters[4] = { (uint64_t)s->n_mels, FBANK_FFT / 2 + 1 }, of_window[4] = { FBANK_WINDOW };
    struct fbank_bank *bank = m->front = arena_alloc(&m->arena, sizeof *bank);
    struct fbank_centred p = { .n_mels = s->n_mels, .stack = PARAKEET_STACK, .lead = s->is_causal ? PARAKEET_STACK - 1 : 0,
                               .is_normalised = !s->is_causal };
    const struct features_served served = { FBANK_FFT, FBANK_WINDOW, s->n_mels, 0.97 };
    float *filters = NULL, *window = NULL;
    if (!bank) return err_nomem(e, sizeof *bank, "filter banks");
    int rc = features_check(w, &served, e);
    if (!rc) rc = fbank_bank_centred(bank, &m->arena, &p, &m->kern, e);
    if (!rc) rc = read_other(&filters, w, &m->arena, "preprocessor.featurizer.fb", of_filters, bank->spectrum.weight, e);
    p.filters = filters;
    if (!rc && filters) rc = fbank_bank_centred(bank, &m->arena, &p, &m->kern, e);
    if (!rc) rc = read_other(&window, w, &m->arena, "preprocessor.featurizer.window", of_window, bank->spectrum.window, e);
    for (int i = 0; !rc && window && i < FBANK_WINDOW; i++) bank->spectrum.window[i] = window[i];
    return rc;
}
