/* steno: stand-in until words are timed. SPDX-License-Identifier: MIT */
#include "lib/words.h"
void words_free(struct words *w) { buf_free(&w->word); buf_free(&w->text); }
int words_time(struct words *w, steno_session *s, const struct words_request *q, const struct words_window *at, struct draft *drafts, int *n_drafts, double *last_speech, int64_t *seek)
{ (void)w; (void)q; (void)at; (void)drafts; (void)n_drafts; (void)last_speech; (void)seek; return err_set(&s->error, STENO_EUNSUPPORTED, "word times are not here yet"); }
