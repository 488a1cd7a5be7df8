/* steno: measures of repetition. SPDX-License-Identifier: MIT */
#include "text/repetition.h"
#include <math.h>
#include <zlib.h>

enum { ENTROPY_TOKENS = 32, LOOP_NGRAM = 8, LOOP_TIMES = 4, LOOP_TOKENS = 8 };

double token_entropy(const int32_t *ids, int32_t n)
{
    const int32_t from = n > ENTROPY_TOKENS ? n - ENTROPY_TOKENS : 0, seen = n - from;
    double sum = 0;
    for (int32_t i = from; i < n; i++) { /* each token adds its share of its id's term */
        int count = 0;
        for (int32_t k = from; k < n; k++) count += ids[k] == ids[i];
        sum -= log((double)count / seen) / seen;
    }
    return sum;
}

int tokens_loop(const int32_t *ids, int32_t n, int32_t text_end)
{
    int32_t last[LOOP_NGRAM] = { 0 }; /* ring of the latest text tokens */
    int32_t same[LOOP_NGRAM + 1] = { 0 }; /* same[n]: number of consecutive tokens equal to the one n places before */
    int32_t text = 0;
    for (int32_t i = 0; i < n; i++) {
        if (ids[i] >= text_end) continue; /* timestamps differ where words repeat */
        for (int32_t k = 1; k <= LOOP_NGRAM; k++) {
            same[k] = text >= k && last[(text - k) % LOOP_NGRAM] == ids[i] ? same[k] + 1 : 0;
            const int32_t stretch = same[k] + k;
            if (same[k] && stretch >= LOOP_TIMES * k && stretch >= LOOP_TOKENS) return 1;
        }
        last[text++ % LOOP_NGRAM] = ids[i];
    }
    return 0;
}

double compression_ratio(const char *text, size_t n)
{
    z_stream z = { 0 };
    Bytef out[1024];
    union { const char *c; Bytef *b; } in = { text }; /* zlib only reads, despite the type */
    if (deflateInit(&z, 6) != Z_OK) return -1;
    z.next_in = in.b;
    z.avail_in = (uInt)n;
    int rc;
    do {
        z.next_out = out;
        z.avail_out = sizeof out;
        rc = deflate(&z, Z_FINISH);
    } while (rc == Z_OK);
    const double ratio = rc == Z_STREAM_END ? (double)n / (double)z.total_out : 0;
    deflateEnd(&z);
    return ratio;
}
