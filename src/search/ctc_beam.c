/* steno: prefix beam search over the rows of a CTC head. SPDX-License-Identifier: MIT
 *
 * Texts are nodes of a tree. A table finds the child of a node by its id, so a text is always the same node, even if it was dropped and
 * returns. An active text has two sums: over the alignments that end with a blank, and over those that end with its last id. A row first
 * updates every active text, from itself and from other active texts that extend to it. Then new texts compete for the remaining room. */
#include "search/ctc_beam.h"
#include <math.h>
#include <string.h>
#include "base/hash.h"
#include "search/log_add.h"

struct node { uint32_t parent; int32_t id; float peak; }; /* peak: log-probability of id in the row where it most likely began */

/* An active text. The sums are log-probabilities. So are the scales, the bias's normalisation of later ids: blank_scale if the text ends
 * with a blank, label_scale if it ends with its last id, which is not pushed there. */
struct prefix { uint32_t node; int32_t last; double blank, label, blank_scale, label_scale; };

/* A candidate for the next row: an existing text (id -1), or one extended by an id. */
struct grown { int from; int32_t id; double blank, label; };

struct ctc_beam {
    struct node *node;
    uint32_t *table, mask;      /* index of a node, 0: free */
    uint32_t n_nodes;
    int width, n_live, n_next;
    int32_t rows, blank;
    struct ctc_bias bias;
    struct prefix live[RUN_BEAMS];
    struct grown next[RUN_BEAMS];
    int32_t top[RUN_BEAMS + 2]; /* most probable ids of the row, best first */
    int n_top;
};

/* ---- the tree ---- */

static uint32_t *child_slot(struct ctc_beam *b, uint32_t parent, int32_t id)
{
    const uint32_t key[2] = { parent, (uint32_t)id };
    for (uint32_t h = hash_bytes(key, sizeof key);; h++) { /* half of the table is free */
        uint32_t *slot = &b->table[h & b->mask];
        if (!*slot || (b->node[*slot].parent == parent && b->node[*slot].id == id)) return slot;
    }
}

static uint32_t child_of(struct ctc_beam *b, uint32_t parent, int32_t id)
{
    uint32_t *slot = child_slot(b, parent, id);
    if (!*slot) {
        b->node[b->n_nodes] = (struct node){ parent, id, -INFINITY };
        *slot = b->n_nodes++;
    }
    return *slot;
}

/* The last ids of a text. @return the number of ids */
static int32_t context_of(const struct ctc_beam *b, uint32_t node, int32_t ids[CTC_CONTEXT])
{
    int32_t back[CTC_CONTEXT], n = 0;
    for (; node && n < CTC_CONTEXT; node = b->node[node].parent) back[n++] = b->node[node].id;
    for (int32_t i = 0; i < n; i++) ids[i] = back[n - 1 - i];
    return n;
}

static uint32_t nodes_for(int32_t rows, int width)
{
    return (uint32_t)rows * (uint32_t)width + 1;
}

static uint32_t table_for(uint32_t nodes)
{
    uint32_t n = 16;
    while (n < 2 * nodes) n *= 2;
    return n;
}

size_t ctc_beam_memory(int32_t rows)
{
    const uint32_t n = nodes_for(rows, RUN_BEAMS);
    return sizeof(struct ctc_beam) + n * sizeof(struct node) + table_for(n) * sizeof(uint32_t);
}

int ctc_beam_open(struct ctc_beam **out, struct arena *a, int32_t rows, int32_t blank, steno_error *e)
{
    struct ctc_beam *b = *out = arena_array(a, 1, sizeof *b);
    const uint32_t n = nodes_for(rows, RUN_BEAMS);
    if (!b) return err_nomem(e, sizeof *b, "a beam search");
    b->rows = rows;
    b->blank = blank;
    b->node = arena_array(a, n, sizeof *b->node);
    b->table = arena_array(a, table_for(n), sizeof *b->table);
    ctc_beam_set(b, 1, NULL);
    return b->node && b->table ? STENO_OK : err_nomem(e, ctc_beam_memory(rows), "a beam search");
}

void ctc_beam_set(struct ctc_beam *b, int width, const struct ctc_bias *bias)
{
    b->width = width;
    b->bias = bias ? *bias : (struct ctc_bias){ 0 };
    b->mask = table_for(nodes_for(b->rows, width)) - 1; /* the part that is cleared for each clip */
}

void ctc_beam_begin(struct ctc_beam *b, int32_t last)
{
    memset(b->table, 0, ((size_t)b->mask + 1) * sizeof *b->table);
    const double none = -(double)INFINITY;
    b->n_nodes = b->n_live = 1;
    b->node[0] = (struct node){ 0, -1, 0 };
    b->live[0] = (struct prefix){ .last = last, .blank = last < 0 ? 0 : none, .label = last < 0 ? none : 0 };
}

/* ---- a row ---- */

static double logp(const struct ctc_logits *row, int32_t id)
{
    const int masked = row->mask && row->mask[id >> 5] >> (id & 31) & 1;
    return masked || !(row->x[id] >= -INFINITY) ? -(double)INFINITY : (double)row->x[id] - row->sum;
}

static void find_top(struct ctc_beam *b, const struct ctc_logits *row)
{
    const int most = b->width + 2;
    b->n_top = 0;
    for (int32_t id = 0; id < row->n; id++) {
        if (b->n_top == most && !(row->x[id] > row->x[b->top[most - 1]])) continue;
        if (!(logp(row, id) > -(double)INFINITY)) continue;
        int at = b->n_top < most ? b->n_top++ : most - 1;
        for (; at && row->x[id] > row->x[b->top[at - 1]]; at--) b->top[at] = b->top[at - 1];
        b->top[at] = id;
    }
}

/* Arguments for the extensions of an active text. */
struct growth { struct ctc_beam *b; const struct ctc_logits *row; int from; };

static void scale_add(void *to, int32_t id, float by)
{
    const struct growth *g = to;
    struct prefix *p = &g->b->live[g->from];
    const double more = exp(logp(g->row, id)) * expm1((double)by);
    if (id == g->b->blank) return;
    p->blank_scale += more;
    if (id != p->last) p->label_scale += more;
}

/* Compute the normalisation of pushes. */
static void find_scales(struct ctc_beam *b, const struct ctc_logits *row)
{
    int32_t ids[CTC_CONTEXT];
    for (int i = 0; i < b->n_live; i++) {
        struct growth g = { b, row, i };
        struct prefix *p = &b->live[i];
        p->blank_scale = p->label_scale = 0;
        if (b->bias.each) b->bias.each(b->bias.user, ids, context_of(b, p->node, ids), scale_add, &g);
        p->blank_scale = log1p(p->blank_scale);
        p->label_scale = log1p(p->label_scale);
    }
}

/* Log-probability of the alignments that extend an active text by id as a new token. */
static double growth_of(const struct growth *g, int32_t id, double push)
{
    const struct prefix *p = &g->b->live[g->from];
    const double behind = id == p->last ? p->blank - p->blank_scale : log_add(p->blank - p->blank_scale, p->label - p->label_scale);
    return behind + logp(g->row, id) + push;
}

static double push_of(const struct ctc_beam *b, const struct prefix *p, int32_t id)
{
    int32_t ids[CTC_CONTEXT];
    return b->bias.of && id != b->blank ? (double)b->bias.of(b->bias.user, id, ids, context_of(b, p->node, ids)) : 0;
}

static void peak_raise(struct ctc_beam *b, uint32_t node, double p)
{
    if ((float)p > b->node[node].peak) b->node[node].peak = (float)p;
}

/* Insert a text for the next row, in order; equal ones keep the order of insertion. */
static void next_put(struct ctc_beam *b, const struct grown *x)
{
    const double total = log_add(x->blank, x->label);
    if (!(total > -(double)INFINITY)) return;
    if (b->n_next == b->width && !(total > log_add(b->next[b->width - 1].blank, b->next[b->width - 1].label))) return;
    int at = b->n_next < b->width ? b->n_next++ : b->width - 1;
    for (; at && total > log_add(b->next[at - 1].blank, b->next[at - 1].label); at--) b->next[at] = b->next[at - 1];
    b->next[at] = *x;
}

/* Whether the text of live[from] extended by id is active. */
static int is_live(const struct ctc_beam *b, int from, int32_t id)
{
    const uint32_t parent = b->live[from].node;
    for (int i = 0; i < b->n_live; i++) {
        const uint32_t k = b->live[i].node;
        if (k && b->node[k].parent == parent && b->node[k].id == id) return 1;
    }
    return 0;
}

/* Keep active texts, including probability from other active texts. */
static void stay(struct ctc_beam *b, const struct ctc_logits *row)
{
    for (int i = 0; i < b->n_live; i++) {
        const struct prefix *p = &b->live[i];
        struct grown x = { i, -1, log_add(p->blank - p->blank_scale, p->label - p->label_scale) + logp(row, b->blank),
                           p->last < 0 ? -(double)INFINITY : p->label - p->label_scale + logp(row, p->last) };
        for (int k = 0; p->node && k < b->n_live; k++) {
            if (b->node[p->node].parent != b->live[k].node) continue;
            const struct growth g = { b, row, k };
            x.label = log_add(x.label, growth_of(&g, p->last, push_of(b, &b->live[k], p->last)));
            peak_raise(b, p->node, logp(row, p->last));
        }
        next_put(b, &x);
    }
}

static void grow(void *to, int32_t id, float push)
{
    const struct growth *g = to;
    if (id == g->b->blank || is_live(g->b, g->from, id)) return;
    next_put(g->b, &(struct grown){ g->from, id, -(double)INFINITY, growth_of(g, id, (double)push) });
}

static void settle(struct ctc_beam *b, const struct ctc_logits *row)
{
    struct prefix live[RUN_BEAMS];
    for (int i = 0; i < b->n_next; i++) {
        const struct grown *x = &b->next[i];
        live[i] = b->live[x->from];
        live[i].blank = x->blank;
        live[i].label = x->label;
        if (x->id < 0) continue;
        live[i].node = child_of(b, live[i].node, x->id);
        live[i].last = x->id;
        peak_raise(b, live[i].node, logp(row, x->id));
    }
    b->n_live = b->n_next;
    memcpy(b->live, live, (size_t)b->n_next * sizeof *live);
}

void ctc_beam_row(struct ctc_beam *b, const struct ctc_logits *row)
{
    int32_t ids[CTC_CONTEXT];
    find_top(b, row);
    find_scales(b, row);
    b->n_next = 0;
    stay(b, row);
    for (int i = 0; i < b->n_live; i++) {
        struct growth g = { b, row, i };
        for (int k = 0; k < b->n_top; k++)
            if (!(push_of(b, &b->live[i], b->top[k]) > 0)) grow(&g, b->top[k], 0);
        if (b->bias.each) b->bias.each(b->bias.user, ids, context_of(b, b->live[i].node, ids), grow, &g);
    }
    if (b->n_next) settle(b, row); /* otherwise no logit was a number, and the row is skipped */
}

int32_t ctc_beam_end(const struct ctc_beam *b, int place, struct sampled_token *out, double *logprob)
{
    int32_t n = 0;
    if (place >= b->n_live) return -1;
    const struct prefix *p = &b->live[place];
    for (uint32_t k = p->node; k; k = b->node[k].parent) n++;
    uint32_t k = p->node;
    for (int32_t i = n; i-- > 0; k = b->node[k].parent)
        out[i] = (struct sampled_token){ .id = b->node[k].id, .ts_id = -1, .logprob = b->node[k].peak, .p = expf(b->node[k].peak) };
    *logprob = log_add(p->blank, p->label);
    return n;
}
