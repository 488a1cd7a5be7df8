/* steno: hot words. SPDX-License-Identifier: MIT
 *
 * Phrases are kept as a tree of ids, each with and without a space in front, because these begin with different ids. The tree is built
 * level by level from sorted sequences. Children are adjacent, in ascending order of their ids. */
#include "search/hotwords.h"
#include <stdlib.h>
#include <string.h>
#include "base/utf8.h"

/* ---- possible beginnings of words -------------------------------------------------------------------------------------------- */

int char_joins(uint32_t cp)
{
    static const struct { uint32_t low, high; } apart[] = {
        { 0x80, 0xa9 }, { 0xab, 0xb4 }, { 0xb6, 0xb9 }, { 0xbb, 0xbf }, /* signs of Latin-1 */
        { 0xe00, 0xfff }, { 0x1000, 0x109f }, { 0x1780, 0x17ff },       /* Thai, Lao, Tibetan; Burmese; Khmer */
        { 0x2000, 0x2bff }, { 0x2e80, 0xa4cf },                         /* signs; Chinese, Japanese, Yi */
        { 0xf900, 0xfaff }, { 0xfe30, 0xfe6f }, { 0xff00, 0xff0f }, { 0xff61, 0xff9f }, { 0x1f000, 0x3ffff },
    };
    if (cp < 0x80) return (cp >= '0' && cp <= '9') || ((cp | 32) >= 'a' && (cp | 32) <= 'z');
    for (size_t i = 0; i < sizeof apart / sizeof *apart; i++)
        if (cp >= apart[i].low && cp <= apart[i].high) return 0;
    return 1;
}

/* The lowest character whose bytes begin with s[n], where n is at most its length. */
static uint32_t lowest_char(const uint8_t *s, uint32_t n)
{
    static const uint32_t first[] = { 0, 0, 0x80, 0x800, 0x10000 };
    const uint32_t all = utf8_len(s[0]);
    if (all < 2) return s[0];
    uint32_t cp = s[0] & (0x7fu >> all);
    for (uint32_t i = 1; i < all; i++) cp = cp << 6 | (i < n ? s[i] & 0x3fu : 0);
    return cp < first[all] ? first[all] : cp;
}

int32_t last_char(const struct vocab *v, const int32_t *ids, int32_t n)
{
    uint8_t s[4];
    size_t at = sizeof s;
    while (n-- > 0 && ids[n] >= 0 && ids[n] < v->n_text)
        for (uint32_t k = v->len[ids[n]]; k; k--) {
            s[--at] = v->bytes[ids[n]][k - 1];
            if (utf8_is_inside(s[at]) && at) continue;
            const uint32_t got = (uint32_t)(sizeof s - at), all = utf8_len(s[at]);
            if (all > got) return CHAR_OPEN;
            return all == got && utf8_valid(s + at, got) == got ? (int32_t)lowest_char(s + at, got) : CHAR_BROKEN;
        }
    return at == sizeof s ? ' ' : CHAR_BROKEN;
}

int id_joins(const struct vocab *v, int32_t id)
{
    const uint32_t len = v->len[id], all = len ? utf8_len(v->bytes[id][0]) : 0;
    return all && char_joins(lowest_char(v->bytes[id], len < all ? len : all));
}

struct hot_node {
    uint32_t child, n; /* first child, number of children; during construction, the sequences that lead here */
    int32_t id;
    uint8_t visible;  /* the ids up to here contain a whole visible character */
    uint8_t start;  /* of a first id: enum start */
};

enum start { NEVER = 0, SPACED = 1, BARE = 2, BARE_JOINS = 3 }; /* JOINS: like a word that must follow a space or the like */

struct hotwords {
    const struct vocab *v;
    struct hot_node *node; /* [n_nodes] node 0 is the root */
    uint32_t n_nodes;
    int32_t longest; /* number of ids */
};

struct hotword_ids { const int32_t *ids; uint32_t n; };

/* ---- characters -------------------------------------------------------------------------------------------------------------- */

static int is_space(int c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Whether the ids contain a whole character that is not white space. */
static int is_visible(const struct vocab *v, const int32_t *ids, uint32_t n)
{
    uint8_t s[4];
    size_t len = 0;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < v->len[ids[i]] && len < sizeof s; k++)
            if (len || !is_space(v->bytes[ids[i]][k])) s[len++] = v->bytes[ids[i]][k];
    return utf8_valid(s, len) > 0;
}

static enum start start_of(const struct vocab *v, const int32_t *ids, uint32_t n)
{
    if (is_space(v->bytes[ids[0]][0])) {
        for (uint32_t k = 0; k < v->len[ids[0]]; k++)
            if (!is_space(v->bytes[ids[0]][k])) return SPACED;
        return NEVER;
    }
    char s[4];
    size_t len = 0;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < v->len[ids[i]] && len < sizeof s; k++) s[len++] = (char)v->bytes[ids[i]][k];
    uint32_t cp = 0;
    (void)utf8_next(s, len, &cp); /* the first character is complete, because phrases are UTF-8 */
    return char_joins(cp) ? BARE_JOINS : BARE;
}

/* ---- reading ----------------------------------------------------------------------------------------------------------------- */

struct hotword_reader {
    const struct bpe *b;
    struct buf text, ids, ends; /* one phrase; int32_t of all sequences; size_t end of each, in ids */
    steno_error why, *e;
};

enum { CANNOT = 1 };

/* @return STENO_OK; CANNOT: the vocabulary cannot spell it, the reason is in r->why; else a status */
static int add_sequence(struct hotword_reader *r, size_t from, size_t line)
{
    const size_t before = r->ids.len;
    steno_error why = { 0 };
    const int rc = bpe_encode(r->b, r->text.p + from, r->text.len - from, &r->ids, &why);
    if (rc == STENO_EARG) {
        r->why = why;
        r->ids.len = before;
        return CANNOT;
    }
    if (rc) return err_set(r->e, rc, "%s", why.text);
    const size_t n = (r->ids.len - before) / sizeof(int32_t), all = r->ids.len / sizeof(int32_t);
    if (n > HOTWORD_IDS)
        return err_set(r->e, STENO_EARG, "hot words, line %zu: %zu tokens, a phrase has at most %d", line, n, (int)HOTWORD_IDS);
    if (all > HOTWORDS_IDS) return err_set(r->e, STENO_EARG, "hot words, line %zu: more than %d tokens in all", line, (int)HOTWORDS_IDS);
    buf_add(&r->ends, &r->ids.len, sizeof r->ids.len);
    return STENO_OK;
}

static int read_line(struct hotword_reader *r, const char *s, size_t n, size_t line)
{
    while (n && is_space(s[n - 1])) n--;
    while (n && is_space(*s)) s++, n--;
    if (!n) return STENO_OK;
    if (utf8_valid((const uint8_t *)s, n) < n) return err_set(r->e, STENO_EARG, "hot words, line %zu: not UTF-8", line);
    buf_clear(&r->text);
    buf_str(&r->text, " ");
    buf_add(&r->text, s, n);
    const int spaced = r->text.err ? err_nomem(r->e, n, "hot words") : add_sequence(r, 0, line);
    int rc = spaced < 0 ? spaced : add_sequence(r, 1, line);
    if (rc == CANNOT && spaced == CANNOT) return err_set(r->e, STENO_EARG, "hot words, line %zu: %s", line, r->why.text);
    if (rc == CANNOT) rc = STENO_OK;
    if (!rc && r->ends.err) rc = err_nomem(r->e, r->ends.len, "hot words");
    return rc;
}

static int read_lines(struct hotword_reader *r, const char *lines)
{
    size_t line = 0;
    for (const char *s = lines; *s;) {
        const size_t n = strcspn(s, "\n");
        const int rc = read_line(r, s, n, ++line);
        if (rc) return rc;
        s += n + (s[n] == '\n');
    }
    if (!r->ends.len) return err_set(r->e, STENO_EARG, "hot words, line %zu: the text ends and held none", line ? line : 1);
    return STENO_OK;
}

/* ---- the tree ---------------------------------------------------------------------------------------------------------------- */

static int by_ids(const void *x, const void *y)
{
    const struct hotword_ids *a = x, *b = y;
    for (uint32_t i = 0; i < a->n && i < b->n; i++)
        if (a->ids[i] != b->ids[i]) return a->ids[i] < b->ids[i] ? -1 : 1;
    return (a->n > b->n) - (a->n < b->n);
}

static void finish_node(struct hotwords *h, uint32_t k, uint32_t depth, const struct hotword_ids *seq)
{
    const uint32_t end = h->node[k].child + h->node[k].n, first = h->n_nodes;
    uint32_t i = h->node[k].child;
    while (i < end && seq[i].n == depth) i++; /* sequences that end here */
    while (i < end) {
        const uint32_t begin = i;
        const int32_t id = seq[begin].ids[depth];
        struct hot_node node = { .child = begin, .id = id };
        node.visible = (uint8_t)is_visible(h->v, seq[begin].ids, depth + 1);
        for (; i < end && seq[i].ids[depth] == id; i++) {
            const enum start start = depth ? NEVER : start_of(h->v, seq[i].ids, seq[i].n);
            if (i == begin || start == BARE) node.start = (uint8_t)start; /* one that does not join may start in more places */
        }
        node.n = i - begin;
        h->node[h->n_nodes++] = node;
    }
    h->node[k].n = h->n_nodes - first;
    h->node[k].child = first;
}

/* Sequences must be sorted. A tree has at most one node per id, and the root. */
static int make_tree(struct hotwords *h, const struct hotword_ids *seq, uint32_t n, size_t n_ids, steno_error *e)
{
    h->node = calloc(n_ids + 1, sizeof *h->node);
    if (!h->node) return err_nomem(e, (n_ids + 1) * sizeof *h->node, "hot words");
    for (uint32_t i = 0; i < n; i++)
        if (seq[i].n > (uint32_t)h->longest) h->longest = (int32_t)seq[i].n;
    h->node[0].n = n;
    h->n_nodes = 1;
    uint32_t k = 0;
    for (uint32_t depth = 0; k < h->n_nodes; depth++)
        for (const uint32_t end = h->n_nodes; k < end; k++) finish_node(h, k, depth, seq);
    return STENO_OK;
}

static int make_sequences(struct hotwords *h, const struct hotword_reader *r, steno_error *e)
{
    const uint32_t n = (uint32_t)(r->ends.len / sizeof(size_t));
    const size_t *ends = (const size_t *)(const void *)r->ends.p;
    struct hotword_ids *seq = malloc(n * sizeof *seq);
    if (!seq) return err_nomem(e, n * sizeof *seq, "hot words");
    for (uint32_t i = 0; i < n; i++) {
        const size_t begin = i ? ends[i - 1] : 0;
        seq[i] = (struct hotword_ids){ (const int32_t *)(const void *)(r->ids.p + begin), (uint32_t)((ends[i] - begin) / sizeof(int32_t)) };
    }
    qsort(seq, n, sizeof *seq, by_ids);
    const int rc = make_tree(h, seq, n, r->ids.len / sizeof(int32_t), e);
    free(seq);
    return rc;
}

int hotwords_open(struct hotwords **out, const char *lines, const struct bpe *b, steno_error *e)
{
    *out = NULL;
    struct hotwords *h = calloc(1, sizeof *h);
    if (!h) return err_nomem(e, sizeof *h, "hot words");
    struct hotword_reader r = { .b = b, .e = e };
    h->v = bpe_vocab(b);
    int rc = read_lines(&r, lines);
    if (!rc) rc = make_sequences(h, &r, e);
    buf_free(&r.text);
    buf_free(&r.ids);
    buf_free(&r.ends);
    if (rc) {
        hotwords_close(h);
        return rc;
    }
    *out = h;
    return STENO_OK;
}

void hotwords_close(struct hotwords *h)
{
    if (!h) return;
    free(h->node);
    free(h);
}

/* ---- boosting ---------------------------------------------------------------------------------------------------------------- */

static const struct hot_node *find_child(const struct hotwords *h, const struct hot_node *node, int32_t id)
{
    uint32_t from = node->child, to = node->child + node->n;
    while (from < to) {
        const uint32_t middle = (from + to) / 2;
        if (h->node[middle].id < id) from = middle + 1;
        else to = middle;
    }
    return from < node->child + node->n && h->node[from].id == id ? &h->node[from] : NULL;
}

static const struct hot_node *find_node(const struct hotwords *h, const int32_t *ids, int32_t n)
{
    const struct hot_node *node = &h->node[0];
    for (int32_t i = 0; i < n && node; i++) node = find_child(h, node, ids[i]);
    return node;
}

/* Nodes whose children have been pushed. */
struct pushed { const struct hot_node *node[HOTWORD_IDS]; int n; };

static int is_pushed(const struct hotwords *h, const struct pushed *p, int32_t id)
{
    for (int i = 0; i < p->n; i++)
        if (find_child(h, p->node[i], id)) return 1;
    return 0;
}

/* The receiver of pushes. */
struct pushing { const struct hotwords *h; void (*push)(void *user, int32_t id, float by); void *user; };

static void push_inside(const struct pushing *to, struct pushed *p, const struct hot_node *node, float by)
{
    const struct hotwords *h = to->h;
    for (const struct hot_node *c = &h->node[node->child]; c < &h->node[node->child] + node->n; c++)
        if (!is_pushed(h, p, c->id)) to->push(to->user, c->id, by);
    p->node[p->n++] = node;
}

/* May the word begin after this character? None begins inside a character. */
static int may_start(const struct hot_node *c, int32_t last)
{
    const int bare = c->start == BARE || (c->start == BARE_JOINS && last >= 0 && !char_joins((uint32_t)last));
    return (c->start == SPACED && last != CHAR_OPEN) || (bare && last >= 0);
}

static void push_starts(const struct pushing *to, const struct pushed *p, int32_t last, float by)
{
    const struct hotwords *h = to->h;
    const struct hot_node *root = &h->node[0];
    for (const struct hot_node *c = &h->node[root->child]; c < &h->node[root->child] + root->n; c++)
        if (may_start(c, last) && !is_pushed(h, p, c->id)) to->push(to->user, c->id, by);
}

void hotwords_each(const struct hotwords *h, const int32_t *ids, int32_t n, float boost, void (*push)(void *user, int32_t id, float by),
                   void *user)
{
    const int32_t longest = n < h->longest - 1 ? n : h->longest - 1;
    const struct pushing to = { h, push, user };
    struct pushed p = { .n = 0 };
    for (int visible = 1; visible >= 0; visible--) {
        for (int32_t len = 1; len <= longest; len++) {
            const struct hot_node *node = find_node(h, ids + n - len, len);
            if (node && node->n && node->visible == visible) push_inside(&to, &p, node, visible ? boost : boost / 2);
        }
    }
    push_starts(&to, &p, last_char(h->v, ids, n), boost / 2);
}

static void push_logit(void *logits, int32_t id, float by)
{
    ((float *)logits)[id] += by;
}

void hotwords_push(const struct hotwords *h, float *logits, const int32_t *ids, int32_t n, float boost)
{
    hotwords_each(h, ids, n, boost, push_logit, logits);
}

float hotwords_push_of(const struct hotwords *h, int32_t id, const int32_t *ids, int32_t n, float boost)
{
    const int32_t longest = n < h->longest - 1 ? n : h->longest - 1;
    float push = 0;
    for (int32_t len = 1; len <= longest; len++) {
        const struct hot_node *node = find_node(h, ids + n - len, len);
        if (!node || !find_child(h, node, id)) continue;
        if (node->visible) return boost;
        push = boost / 2;
    }
    const struct hot_node *start = find_child(h, &h->node[0], id);
    return start && may_start(start, last_char(h->v, ids, n)) ? boost / 2 : push;
}
