/* steno: beam search of a transducer. SPDX-License-Identifier: MIT
 *
 * Alignments are nodes of a tree. The last token of a new hypothesis becomes a node at the end of a step, if the hypothesis is still there.
 * Nodes that no hypothesis has any more are dropped when they could be half of all.
 * The beam `pool` has hypotheses at later rows. They compete with each other, although their rows may differ by a duration. */
#include "search/transducer_beam.h"
#include <math.h>
#include <string.h>
#include "base/hash.h"
#include "search/log_add.h"

struct beam_node {
    uint32_t parent; /* less than its own number */
    struct transducer_token token;
    float logprob;
    uint32_t to;     /* while nodes are dropped: its new number; 0: it is dropped */
};

static const double none = -(double)INFINITY;

/* ---- texts ---- */

static const struct beam_node *node_of(const struct transducer_beam *b, uint32_t k)
{
    return (const struct beam_node *)(const void *)b->nodes.p + (k - 1);
}

/* Steps to the token before. @return its id */
static int32_t step_back(const struct transducer_beam *b, const struct beam_text *t, uint32_t *node, int *has_tail)
{
    if (*has_tail) {
        *has_tail = 0;
        return t->tail.id;
    }
    const struct beam_node *k = node_of(b, *node);
    *node = k->parent;
    return k->token.id;
}

static int is_same_text(const struct transducer_beam *b, const struct beam_text *x, const struct beam_text *y)
{
    if (x->row != y->row || x->n != y->n || x->hash != y->hash) return 0;
    uint32_t k[2] = { x->node, y->node };
    int tail[2] = { x->has_tail, y->has_tail };
    for (int32_t i = 0; i < x->n && !(k[0] == k[1] && !tail[0] && !tail[1]); i++)
        if (step_back(b, x, &k[0], &tail[0]) != step_back(b, y, &k[1], &tail[1])) return 0;
    return 1;
}

/* The last ids of a text. @return their number */
static int32_t context_of(const struct transducer_beam *b, const struct beam_text *t, int32_t ids[HOTWORD_IDS])
{
    int32_t back[HOTWORD_IDS], n = 0;
    uint32_t node = t->node;
    for (int tail = t->has_tail; (tail || node) && n < HOTWORD_IDS;) back[n++] = step_back(b, t, &node, &tail);
    for (int32_t i = 0; i < n; i++) ids[i] = back[n - 1 - i];
    return n;
}

static void tail_settle(struct transducer_beam *b, struct beam_text *t)
{
    if (!t->has_tail) return;
    const struct beam_node node = { t->node, t->tail, t->tail_logprob, 0 };
    buf_add(&b->nodes, &node, sizeof node);
    t->node = (uint32_t)(b->nodes.len / sizeof node);
    t->has_tail = 0;
}

/* ---- nodes that are left ---- */

enum { NODES_LEAST = 16 /* for each beam */ };

static uint32_t nodes_least(const struct transducer_beam *b) { return NODES_LEAST * (uint32_t)b->width; }

/* As many nodes may be of no text as of texts, and a step adds at most two for each beam. */
size_t transducer_beam_nodes_sz(int width, int32_t n_rows, int n)
{
    return (2 * (size_t)n_rows + 2 * (size_t)NODES_LEAST * (size_t)width + (size_t)n) * sizeof(struct beam_node);
}

void transducer_beam_lend(struct transducer_beam *b, uint8_t *nodes, size_t sz)
{
    b->nodes = (struct buf){ .p = (char *)nodes, .cap = sz, .lent = 1 };
}

/* Numbers the nodes of texts, in their order. x: all nodes, the first one is number 1. @return their number */
static uint32_t nodes_number(const struct transducer_beam *b, struct beam_node *x, uint32_t n)
{
    uint32_t left = 0;
    for (uint32_t k = 1; k <= n; k++) x[k - 1].to = 0;
    for (int i = 0; i < b->n_pool; i++)
        if (b->pool[i].node) x[b->pool[i].node - 1].to = 1;
    for (int i = 0; i < b->n_here; i++)
        if (b->here[i].node) x[b->here[i].node - 1].to = 1;
    for (uint32_t k = n; k; k--)
        if (x[k - 1].to && x[k - 1].parent) x[x[k - 1].parent - 1].to = 1;
    for (uint32_t k = 1; k <= n; k++)
        if (x[k - 1].to) x[k - 1].to = ++left;
    return left;
}

/* Drops the nodes of no text. All texts are in `pool` and `here`, and have no tails. */
static void nodes_drop(struct transducer_beam *b)
{
    struct beam_node *x = (struct beam_node *)(void *)b->nodes.p;
    const uint32_t n = (uint32_t)(b->nodes.len / sizeof *x);
    if (n <= b->n_nodes_most || b->nodes.err) return;
    const uint32_t left = nodes_number(b, x, n);
    for (int i = 0; i < b->n_pool; i++)
        if (b->pool[i].node) b->pool[i].node = x[b->pool[i].node - 1].to;
    for (int i = 0; i < b->n_here; i++)
        if (b->here[i].node) b->here[i].node = x[b->here[i].node - 1].to;
    for (uint32_t k = 1; k <= n; k++) { /* `to` stays: children of the old number k follow */
        if (!x[k - 1].to) continue;
        struct beam_node *to = &x[x[k - 1].to - 1];
        to->parent = x[k - 1].parent ? x[x[k - 1].parent - 1].to : 0;
        to->token = x[k - 1].token;
        to->logprob = x[k - 1].logprob;
    }
    b->nodes.len = left * sizeof *x;
    b->n_nodes_most = 2 * left > nodes_least(b) ? 2 * left : nodes_least(b);
}

/* ---- slots ---- */

static int32_t slot_take(struct transducer_beam *b)
{
    int32_t k = 0;
    while (b->users[k]) k++;
    b->users[k] = 1;
    return k;
}

static void text_drop(struct transducer_beam *b, const struct beam_text *t)
{
    b->users[t->from]--;
    if (t->to >= 0) b->users[t->to]--;
}

/* ---- lists ---- */

struct text_list { struct beam_text *x; int *n, most; };

static void bubble(const struct text_list *l, int at)
{
    const struct beam_text t = l->x[at];
    for (; at && t.total > l->x[at - 1].total; at--) l->x[at] = l->x[at - 1];
    l->x[at] = t;
}

/* The sum of both, with the more probable alignment. */
static void merge(struct beam_text *to, const struct beam_text *t)
{
    to->total = log_add(to->total, t->total);
    if (!(t->best > to->best)) return;
    to->best = t->best;
    to->node = t->node;
    to->tail = t->tail;
    to->tail_logprob = t->tail_logprob;
    to->has_tail = t->has_tail;
}

static void put(struct transducer_beam *b, const struct text_list *l, const struct beam_text *t)
{
    if (!(t->total > none)) return;
    for (int i = 0; i < *l->n; i++)
        if (is_same_text(b, &l->x[i], t)) {
            merge(&l->x[i], t);
            bubble(l, i);
            return;
        }
    if (*l->n == l->most) {
        if (!(t->total > l->x[l->most - 1].total)) return;
        text_drop(b, &l->x[--*l->n]);
    }
    b->users[t->from]++;
    l->x[*l->n] = *t;
    bubble(l, (*l->n)++);
}

/* Puts a hypothesis where its row is: at this row, or in the pool. */
static void put_at(struct transducer_beam *b, struct beam_text *t, int32_t rows)
{
    const struct text_list pool = { b->pool, &b->n_pool, b->width }, next = { b->next, &b->n_next, b->width };
    if (!rows && ++t->n_here < b->of.max_symbols) {
        put(b, &next, t);
        return;
    }
    t->n_here = 0;
    rows = rows ? rows : 1;
    t->row = rows < b->n_rows - t->row ? t->row + rows : b->n_rows;
    put(b, &pool, t);
}

/* ---- a row ---- */

/* The most probable tokens of a hypothesis, by their logits with pushes. */
struct token_top {
    struct { int32_t id; float value; } x[RUN_BEAMS];
    int n, most;
    int32_t blank;
    const struct joint_logits *logits;
    double more; /* probability that pushes add, before it is normalised */
};

static void top_put(struct token_top *t, int32_t id, float value)
{
    if (t->n == t->most && !(value > t->x[t->n - 1].value)) return;
    int at = t->n < t->most ? t->n++ : t->n - 1;
    for (; at && (value > t->x[at - 1].value || (value == t->x[at - 1].value && id < t->x[at - 1].id)); at--) t->x[at] = t->x[at - 1];
    t->x[at].id = id;
    t->x[at].value = value;
}

static void top_push(void *user, int32_t id, float by)
{
    struct token_top *t = user;
    const float *x = t->logits->x;
    if (id >= t->blank || !(x[id] > -INFINITY)) return;
    t->more += exp((double)x[id] - t->logits->sum) * expm1((double)by);
    for (int i = 0; i < t->n; i++)
        if (t->x[i].id == id) {
            memmove(&t->x[i], &t->x[i + 1], (size_t)(--t->n - i) * sizeof *t->x);
            break;
        }
    top_put(t, id, x[id] + by);
}

/* Finds the tokens. @return what pushes subtract from the log-probability of every token */
static double find_top(struct transducer_beam *b, struct token_top *t, const struct beam_text *from)
{
    int32_t ids[HOTWORD_IDS];
    for (int32_t id = 0; id < t->blank; id++)
        if (t->logits->x[id] > -INFINITY) top_put(t, id, t->logits->x[id]);
    if (!b->hot) return 0;
    hotwords_each(b->hot, ids, context_of(b, from, ids), b->boost, top_push, t);
    const double rest = -expm1((double)t->logits->x[t->blank] - t->logits->sum);
    return rest > 0 ? log1p(t->more / rest) : 0;
}

/* Log-probabilities of the durations: of the logits after those of ids. */
static void find_durations(const struct transducer_beam *b, const float *x, double logp[])
{
    double sum = none;
    for (int32_t i = 0; i < b->of.n_durations; i++) sum = log_add(sum, (double)x[i]);
    for (int32_t i = 0; i < b->of.n_durations; i++) logp[i] = (double)x[i] - sum;
}

/* Extends a hypothesis by an id that has log-probability logp: for each of the durations. */
static void extend(struct transducer_beam *b, const struct beam_text *from, const struct beam_text *to, double logp,
                   const double *durations)
{
    const int32_t n = b->of.n_durations ? b->of.n_durations : 1;
    for (int32_t d = 0; d < n; d++) {
        const double p = logp + (b->of.n_durations ? durations[d] : 0);
        const int32_t rows = b->of.n_durations ? b->of.duration[d] : 0;
        struct beam_text t = *to;
        t.total = from->total + p;
        t.best = from->best + p;
        t.tail.duration = rows;
        put_at(b, &t, to == from ? (rows > 0 ? rows : 1) : rows);
    }
}

void transducer_beam_feed(struct transducer_beam *b, int i, const struct joint_logits *logits)
{
    struct beam_text *h = &b->here[i];
    double durations[TRANSDUCER_DURATIONS];
    if (h->pending >= 0) {
        b->users[h->from]--;
        h->from = h->to;
        h->to = h->pending = -1;
    }
    if (!(logits->sum > none && logits->sum < (double)INFINITY)) { /* no logit is a number: as blank, without any evidence */
        struct beam_text t = *h;
        put_at(b, &t, 1);
        return;
    }
    find_durations(b, logits->x + b->of.blank + 1, durations);
    extend(b, h, h, (double)logits->x[b->of.blank] - logits->sum, durations);
    struct token_top top = { .most = b->width, .blank = b->of.blank, .logits = logits };
    const double less = find_top(b, &top, h);
    for (int k = 0; k < top.n; k++) {
        struct beam_text t = *h;
        const int32_t id = top.x[k].id;
        const double logp = (double)top.x[k].value - logits->sum - less;
        t.tail = (struct transducer_token){ id, h->row, 0 };
        t.tail_logprob = (float)((double)logits->x[id] - logits->sum);
        t.has_tail = 1;
        t.hash = (h->hash ^ (uint64_t)(uint32_t)id) * UINT64_C(1099511628211) + 1;
        t.n++;
        t.pending = id;
        extend(b, h, &t, logp, durations);
    }
}

/* ---- steps ---- */

/* Ends the step of `here`: what follows at this row are tokens that could still enter the beam. */
static void step_end(struct transducer_beam *b)
{
    for (int i = 0; i < b->n_here; i++) text_drop(b, &b->here[i]);
    while (b->n_next && b->n_pool == b->width && !(b->next[b->n_next - 1].total > b->pool[b->n_pool - 1].total))
        text_drop(b, &b->next[--b->n_next]);
    for (int i = 0; i < b->n_pool; i++) tail_settle(b, &b->pool[i]);
    for (int i = 0; i < b->n_next; i++) tail_settle(b, &b->next[i]);
    memcpy(b->here, b->next, (size_t)b->n_next * sizeof *b->here);
    b->n_here = b->n_next;
    b->n_next = 0;
}

/* Takes the hypotheses of the first row in the pool. */
static void row_begin(struct transducer_beam *b)
{
    int32_t first = b->n_rows;
    int kept = 0;
    for (int i = 0; i < b->n_pool; i++) first = b->pool[i].row < first ? b->pool[i].row : first;
    if (first == b->n_rows) return;
    for (int i = 0; i < b->n_pool; i++) {
        if (b->pool[i].row == first) b->here[b->n_here++] = b->pool[i];
        else b->pool[kept++] = b->pool[i];
    }
    b->n_pool = kept;
}

void transducer_beam_begin(struct transducer_beam *b, int32_t n_rows)
{
    b->n_rows = n_rows;
    b->n_here = b->n_next = 0;
    b->n_pool = 1;
    b->pool[0] = (struct beam_text){ .to = -1, .pending = b->of.blank };
    memset(b->users, 0, sizeof b->users);
    b->users[0] = 1;
    buf_clear(&b->nodes);
    b->n_nodes_most = nodes_least(b);
}

int transducer_beam_next(struct transducer_beam *b)
{
    step_end(b);
    if (!b->n_here) row_begin(b);
    if (b->nodes.err) return b->n_here = 0;
    nodes_drop(b);
    for (int i = 0; i < b->n_here; i++)
        if (b->here[i].pending >= 0) b->here[i].to = slot_take(b);
    return b->n_here;
}

int32_t transducer_beam_end(const struct transducer_beam *b, int place, struct buf *tokens, struct buf *logprobs, double *logprob)
{
    if (place >= b->n_pool || b->nodes.err) return -1;
    const struct beam_text *t = &b->pool[place];
    const struct transducer_token empty = { 0, 0, 0 };
    const float zero = 0;
    const size_t at = tokens->len / sizeof empty, at_logprob = logprobs->len / sizeof zero;
    for (int32_t i = 0; i < t->n; i++) {
        buf_add(tokens, &empty, sizeof empty);
        buf_add(logprobs, &zero, sizeof zero);
    }
    *logprob = t->total;
    if (tokens->err || logprobs->err) return t->n;
    uint32_t k = t->node;
    for (int32_t i = t->n; i-- > 0; k = node_of(b, k)->parent) {
        ((struct transducer_token *)(void *)tokens->p)[at + (size_t)i] = node_of(b, k)->token;
        ((float *)(void *)logprobs->p)[at_logprob + (size_t)i] = node_of(b, k)->logprob;
    }
    return t->n;
}

void transducer_beam_close(struct transducer_beam *b)
{
    buf_free(&b->nodes);
}
