/* steno: vocabularies that live in files of their own. SPDX-License-Identifier: MIT */
#include "load/vocab_file.h"

int weights_read_vocab(struct weights *w, const char *path, steno_error *e)
{
    (void)path;
    return err_set(e, STENO_ENOVOCAB, "%s: no vocabulary", w->name);
}
