/* steno: fuzzing of the reader of subtitles and of what judges them. SPDX-License-Identifier: MIT
 *
 * The first byte selects the form and whether there are rules. Texts lie in the file's, one behind the other, and are valid UTF-8; lines go
 * on; no fault is reported for a cue that is not there. Any text is cut into pieces that lie in it, in order. */
#include <stdlib.h>
#include <string.h>
#include "sub_check.h"
#include "text_shape.h"
#include "utf8.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void hear(void *user, const struct sub_fault *fault)
{
    const struct sub_file *f = user;
    if (fault->cue > f->n || fault->line < 0 || !sub_rule_name(fault->rule)) abort();
}

static void check_pieces(const struct sub_file *f, const struct sub_cue *c)
{
    const char *s = f->text + c->text;
    struct text_piece p;
    char *may = malloc(c->n + 1);
    if (!may) return;
    text_breaks(may, s, c->n);
    for (size_t at = 0, end = 0; text_piece_next(&p, s, c->n, may, &at); end = p.to)
        if (p.from < end || p.to <= p.from || p.to > c->n || at < p.to) abort();
    free(may);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static const char *const names[] = { "a.srt", "a.vtt", "a.ass", "a", "a.sbv", "a.lrc" };
    enum { N_NAMES = sizeof names / sizeof *names };
    struct sub_file f;
    struct cue_rules r;
    struct cue_choice choice = CUE_CHOICE_UNSET;
    if (!n) return 0;
    const char *bytes = (const char *)data + 1;
    choice.style = data[0] / N_NAMES % N_CUE_STYLES;
    if (sub_read(&f, sub_form_of(names[data[0] % N_NAMES], bytes, n - 1), bytes, n - 1) == 0) {
        size_t at = 0;
        for (size_t i = 0; i < f.n; i++) {
            const struct sub_cue *c = &f.cue[i];
            size_t used;
            if (c->text < at || c->n > f.text_n - c->text || c->line < 1 || (i && c->line < c[-1].line)) abort();
            at = c->text + c->n + 1;
            if (at > f.text_n || f.text[at - 1]) abort();
            for (size_t k = 0; k < c->n; k += used)
                if (utf8_decode(f.text + c->text + k, c->n - k, &used) == UTF8_BAD) abort();
            check_pieces(&f, c);
        }
        if (f.text_n > n) abort();
        cue_rules_of(&r, &choice, cue_language_of(f.text, f.text_n));
        sub_check(&f, data[0] & 128 ? &r : NULL, hear, &f);
    }
    sub_free(&f);
    return 0;
}
