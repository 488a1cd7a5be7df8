/* steno: word lists of FunASR's models. SPDX-License-Identifier: MIT */
#include "model/funasr_lines.h"
#include <string.h>
#include "model/funasr.h"

enum { LINE_MAX = 1 << 16, LINES_MAX_SZ = 1 << 28 };

static int add_line(void *user, uint64_t i, const char *s, size_t n)
{
    struct buf *text = user;
    (void)i;
    buf_add(text, s, n);
    buf_str(text, "\n");
    return text->err || text->len > LINES_MAX_SZ ? STENO_ENOMEM : STENO_OK;
}

int funasr_read_lines(struct weights *w, const char *file, const char *key, struct arena *a, const char **text, size_t *n, steno_error *e)
{
    const struct meta_list *list = funasr_is_gguf(w) ? meta_find_list(&w->meta, key) : NULL;
    struct buf lines = { 0 };
    struct file f;
    *text = NULL;
    *n = 0;
    if (list) {
        int rc = meta_list_texts(list, LINE_MAX, add_line, &lines, e);
        if (rc == STENO_ENOMEM) rc = err_nomem(e, lines.len, "a dictionary");
        *n = lines.len;
        if (!rc && !(*text = arena_strdup(a, lines.p ? lines.p : "", lines.len))) rc = err_nomem(e, lines.len, "a dictionary");
        buf_free(&lines);
        return rc;
    }
    const int found = model_source_find(&w->source, file, a, &f, e);
    if (found <= 0) return found;
    const int rc = file_text(&f, LINES_MAX_SZ, a, text, e);
    *n = (size_t)f.size;
    file_close(&f);
    return rc;
}
