/* steno: stand-in. SPDX-License-Identifier: MIT */
#include "search/grammar.h"
#include "search/hotwords.h"
int grammar_open(struct grammar **out, const char *text, const char *start, steno_error *e) { (void)out; (void)text; (void)start; return err_set(e, STENO_EUNSUPPORTED, "no grammar"); }
void grammar_close(struct grammar *g) { (void)g; }
int matcher_open(struct matcher **out, const struct grammar *g, const struct vocab *v, int32_t n_text, int32_t eot, steno_error *e) { (void)out; (void)g; (void)v; (void)n_text; (void)eot; return err_set(e, STENO_EUNSUPPORTED, "no grammar"); }
void matcher_close(struct matcher *m) { (void)m; }
int32_t matcher_start(const struct matcher *m) { (void)m; return 0; }
int32_t matcher_next(struct matcher *m, int32_t state, int32_t id) { (void)m; (void)state; (void)id; return 0; }
int matcher_complete(struct matcher *m, int32_t state) { (void)m; (void)state; return 1; }
const uint32_t *matcher_mask(struct matcher *m, int32_t state) { (void)m; (void)state; return NULL; }
int hotwords_open(struct hotwords **out, const char *lines, const struct bpe *b, steno_error *e) { (void)out; (void)lines; (void)b; return err_set(e, STENO_EUNSUPPORTED, "no hot words"); }
void hotwords_close(struct hotwords *h) { (void)h; }
void hotwords_push(const struct hotwords *h, float *logits, const int32_t *ids, int32_t n, float boost) { (void)h; (void)logits; (void)ids; (void)n; (void)boost; }
