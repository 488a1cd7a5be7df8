/* steno: from a source to rows of filter banks. SPDX-License-Identifier: MIT */
#include "lib/rows.h"
#include <string.h>
#include "base/os.h"

size_t rows_memory(const struct fbank_bank *bank, const steno_team *team)
{
    return fbank_memory(bank, team) + ROWS_CHUNK * sizeof(float);
}

int rows_init(struct rows *r, struct arena *a, const struct fbank_bank *bank, steno_team *team, steno_error *e)
{
    memset(r, 0, sizeof *r);
    const int rc = fbank_open(&r->fbank, a, bank, team, e);
    if (rc) return rc;
    r->pcm = arena_array(a, ROWS_CHUNK, sizeof *r->pcm);
    return r->pcm ? STENO_OK : err_nomem(e, ROWS_CHUNK * sizeof *r->pcm, "audio");
}

void rows_close(struct rows *r)
{
    fbank_close(r->fbank);
    r->fbank = NULL;
}

/* At most n samples into r->pcm. @return their number, 0 at the end, or a status */
static int64_t pull(struct rows *r, int64_t n, steno_error *e)
{
    if (r->should_stop && r->should_stop(r->user)) return err_set(e, STENO_ECANCELED, "canceled while reading audio");
    if (n > r->left) n = r->left;
    if (n > ROWS_CHUNK) n = ROWS_CHUNK;
    const int64_t t = os_now_ns(), got = n > 0 ? r->src->read(r->src->user, r->pcm, n) : 0;
    r->source_ns += os_now_ns() - t;
    if (got < 0 || got > n) return err_set(e, STENO_ESOURCE, "the audio source failed after %lld samples", (long long)r->samples);
    r->samples += got;
    r->left -= got;
    if (!got) r->ended = 1;
    return got;
}

int rows_begin(struct rows *r, const steno_source *src, int64_t skip, int64_t most, steno_error *e)
{
    r->src = src;
    r->samples = 0;
    r->ended = r->flushed = 0;
    r->left = INT64_MAX;
    while (r->samples < skip && !r->ended) {
        const int64_t got = pull(r, skip - r->samples, e);
        if (got < 0) return (int)got;
    }
    r->left = most ? most : INT64_MAX;
    fbank_begin(r->fbank);
    return STENO_OK;
}

int rows_clip(struct rows *r, int64_t samples, float *out, size_t ld, int *n, steno_error *e)
{
    int64_t rows = 0;
    *n = 0;
    fbank_begin(r->fbank);
    while (samples > 0 && !r->ended) {
        const int64_t got = pull(r, samples, e);
        if (got < 0) return (int)got;
        const int64_t t = os_now_ns();
        rows += fbank_push(r->fbank, r->pcm, got, out + (size_t)rows * ld, ld);
        r->fbank_ns += os_now_ns() - t;
        samples -= got;
    }
    *n = (int)(rows + fbank_end(r->fbank, out + (size_t)rows * ld, ld));
    return STENO_OK;
}

int rows_next(struct rows *r, int most, float *out, size_t ld, int *n, steno_error *e)
{
    int64_t rows = 0;
    *n = 0;
    while (!r->flushed) {
        if (!r->ended && rows + fbank_rows_for(r->fbank, ROWS_CHUNK, 1) <= most) {
            const int64_t got = pull(r, ROWS_CHUNK, e);
            if (got < 0) return (int)got;
            const int64_t t = os_now_ns();
            rows += fbank_push(r->fbank, r->pcm, got, out + (size_t)rows * ld, ld);
            r->fbank_ns += os_now_ns() - t;
            continue;
        }
        if (r->ended) {
            rows += fbank_end(r->fbank, out + (size_t)rows * ld, ld);
            r->flushed = 1;
        }
        break;
    }
    *n = (int)rows;
    return STENO_OK;
}
