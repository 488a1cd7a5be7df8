/* steno: mean and variance of a front end. SPDX-License-Identifier: MIT
 *
 * One pass over words. A bracket is a word of its own. */
#include "load/cmvn.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include "base/rd.h"
#include "load/decimal.h"
#include "load/file_probe.h"

enum { MAX_FILE = 1 << 20, MAX_WORD = 48, MAX_WANT = 1 << 14 };

struct cmvn_reader {
    const char *path;
    steno_error *e;
    int line;              /* of the word */
    int n, next;           /* letters of the word, 0 at the end of the file; the bracket or line end that ended the word, or 0 */
    char word[MAX_WORD + 1];
    struct rd r;
};

static int is_space(int c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Read the next word. A word that is too long is cut; its last letter then makes it neither a tag nor a number. */
static void word_read(struct cmvn_reader *m)
{
    m->n = 0;
    if (m->next == '\n') m->line++;
    int c = m->next == '[' || m->next == ']' ? m->next : ' ';
    m->next = 0;
    while (is_space(c) && rd_left(&m->r)) {
        c = rd_u8(&m->r);
        m->line += c == '\n';
    }
    if (!is_space(c)) m->word[m->n++] = (char)(c ? c : '?');
    while (m->n && c != '[' && c != ']' && rd_left(&m->r)) {
        const int d = rd_u8(&m->r);
        if (is_space(d) || d == '[' || d == ']') {
            m->next = d;
            break;
        }
        if (m->n < MAX_WORD) m->word[m->n++] = (char)(d ? d : '?');
        else m->word[MAX_WORD - 1] = '?';
    }
    if (m->r.err) m->n = 0;
    m->word[m->n] = 0;
}

/* Parse a word that must be a decimal number as a whole. @return 0, or 1 when it is not a number or not finite */
static int number_read(float *out, const char *s)
{
    int whole;
    const size_t n = strlen(s);
    if (!n || decimal_scan(s, n, 0, &whole) != n) return 1;
    *out = (float)decimal_value(s, n);
    return !isfinite(*out);
}

static int cut(struct cmvn_reader *m, const char *tag)
{
    if (m->r.err) return err_set(m->e, m->r.err, "%s: read failed at byte %" PRIu64, m->path, m->r.pos);
    return err_set(m->e, STENO_EFORMAT, "%s: line %d: the file ends inside %s; is the copy complete?", m->path, m->line, tag);
}

/* Read the list of a tag. Its sizes and a learning rate precede the bracket. */
static int list_read(struct cmvn_reader *m, const char *tag, float *out, int want)
{
    const int tag_line = m->line;
    do {
        word_read(m);
        if (!m->n) return cut(m, tag);
        if (*m->word == ']' || (*m->word == '<' && strcmp(m->word, "<LearnRateCoef>") != 0))
            return err_set(m->e, STENO_EFORMAT, "%s: line %d: %s of line %d has no list in brackets", m->path, m->line, tag, tag_line);
    } while (*m->word != '[');
    int n = 0;
    for (word_read(m); m->n && *m->word != ']'; word_read(m), n++) {
        float x;
        if (number_read(&x, m->word))
            return err_set(m->e, STENO_EFORMAT, "%s: line %d: value %d of %s is '%s', want a finite number", m->path, m->line, n + 1, tag,
                           m->word);
        if (n < want) out[n] = x;
    }
    if (!m->n) return cut(m, tag);
    if (n != want)
        return err_set(m->e, STENO_EFORMAT, "%s: line %d: %s has %d values, want %d; is this the file of another model?", m->path, m->line,
                       tag, n, want);
    return STENO_OK;
}

static int tags_read(struct cmvn_reader *m, int want, float *const list[2])
{
    static const char *const tag[2] = { "<AddShift>", "<Rescale>" };
    int seen[2] = { 0 };
    for (word_read(m); m->n; word_read(m))
        for (int i = 0; i < 2; i++) {
            if (strcmp(m->word, tag[i]) != 0) continue;
            if (seen[i])
                return err_set(m->e, STENO_EFORMAT, "%s: line %d: %s stands here a second time, first in line %d", m->path, m->line, tag[i],
                               seen[i]);
            seen[i] = m->line;
            const int rc = list_read(m, tag[i], list[i], want);
            if (rc) return rc;
        }
    if (m->r.err) return cut(m, "the file");
    for (int i = 0; i < 2; i++)
        if (!seen[i])
            return err_set(m->e, STENO_EFORMAT, "%s: no %s in %d lines; is this mean and variance in Kaldi's text form?", m->path, tag[i],
                           m->line);
    return STENO_OK;
}

int cmvn_read(const struct file *f, struct arena *a, int want, float **shift, float **scale, steno_error *e)
{
    *shift = *scale = NULL;
    if (want < 1 || want > MAX_WANT) return err_set(e, STENO_EARG, "%s: %d values are needed, want 1..%d", f->name, want, MAX_WANT);
    if (f->size > MAX_FILE)
        return err_set(e, STENO_EFORMAT, "%s: %" PRIu64 " bytes, want at most %d; is this the file of mean and variance?", f->name, f->size,
                       MAX_FILE);
    struct cmvn_reader m = { .path = f->name, .e = e, .line = 1 };
    rd_init(&m.r, f, 0, f->size);
    float *list = arena_array(a, (size_t)want * 2, sizeof *list);
    if (!list) return err_nomem(e, (size_t)want * 2 * sizeof *list, "mean and variance");
    const int rc = tags_read(&m, want, (float *const[2]) { list, list + want });
    if (rc) return rc;
    *shift = list;
    *scale = list + want;
    return STENO_OK;
}

int cmvn_find(const struct weights *w, int want, struct arena *a, float **shift, float **scale, steno_error *e)
{
    const char *name = meta_text(&w->meta, "frontend_conf.cmvn_file", NULL);
    if (!name) name = meta_text(&w->meta, "configuration.file_path_metas.frontend_conf.cmvn_file", "am.mvn");
    struct file f;
    int rc = model_source_find(&w->source, name, a, &f, e);
    if (!rc)
        return err_set(e, STENO_EFORMAT, "%s: %s is missing beside the weights: copy it from the model's original folder", w->name, name);
    if (rc < 0) return rc;
    rc = probe_check(&f, e);
    if (!rc) rc = cmvn_read(&f, a, want, shift, scale, e);
    file_close(&f);
    return rc;
}
