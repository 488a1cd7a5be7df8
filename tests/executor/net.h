/* steno tests: a network of synthetic tensors. SPDX-License-Identifier: MIT
 *
 * A table of tensors, and a function that builds a plan from them. The plan runs on the CPU's executor at any level and also on the
 * plain executor. A test compares both with a slow form of the network in double precision; some parts of that form are here. */
#ifndef STENO_TESTS_NET_H
#define STENO_TESTS_NET_H
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "executor/plain_executor.h"
#include "harness.h"
#include "plan/bind.h"
#include "plan/build.h"
#include "plan/exec.h"

enum { NET_STATES = 3, NET_LANES = 3 };

struct net_shape { const char *name; uint64_t dim[4]; };

/* Description of a network. */
struct net_desc {
    const struct net_shape *shape;   /* [n_shapes] */
    int n_shapes;
    void (*fill)(struct build *b);
    uint32_t max_rows, max_out, max_past;
    const struct state_desc *state;  /* [n_states] */
    int n_states;
    struct precision precision;
    float scale;                     /* tensors hold numbers in [-scale, scale]; 0 means 1 */
    enum dtype stored;               /* type in which matrices are stored: DT_F32, DT_F16 or DT_BF16 */
    const char *other;               /* type of one matrix; NULL: as all others */
    enum dtype other_stored;
};

/* Weights as a reader returns them, with values in memory. v: all tensors as f32, contiguous. */
struct net_set { struct weights w; struct file file; float *v; uint8_t *stored; size_t at[96]; };

struct net {
    struct net_set set;
    struct arena arena;
    struct weight_store store;
    struct plan plan;
    struct kern kern;
    steno_team *team;
    struct cpu_executor cpu;
    struct exec *exec, *other; /* other: the same plan on the plain executor */
    struct plain_executor plain;
    struct kv_state state[NET_STATES];
    struct run run;
};

float net_noise(void);

/* Store a value; *v becomes the value that is read back. */
void net_store(uint8_t *to, enum dtype type, float *v);

/* The values of a tensor. */
const float *net_find(struct net *r, const char *name);
struct build_params net_params(struct net *r, const struct net_desc *d);
void net_open(struct net *r, const struct net_desc *d, int level, int threads);
void net_close(struct net *r);

/* x: contiguous rows of the input, may be NULL. */
void net_exec(struct exec *x, const struct plan *p, const struct phases *what, const float *in);

/* Read rows of a slot, contiguous. */
void net_read(struct exec *x, const struct plan *p, uint16_t slot, float *y, uint32_t rows);
/* The output of a sequence alone is the same bits as its rows in `together`; in: rows of the whole run. */
void net_alone(struct net *r, struct sequence s, const float *in, const float *together);

/* Compare the rows of a slot of both executors. At level "c", with the kernels of the plain executor, the bits must be equal; at other
 * levels values must agree within `near`. */
void net_output(struct net *r, uint16_t slot, float *y, uint32_t rows, float near);
void net_phases(struct net *r, const struct phases *what, const float *in);

/* Check that y[n] is within `near` of want[n], relative to 1 + |want|. */
void net_near(const float *y, const double *want, size_t rows, size_t n, double near, const char *what, int level);
void net_each_level(void (*check)(int level, int threads));

/* ---- reference parts of networks; rows are contiguous ------- */

void slow_norm(double *y, const double *x, const float *g, const float *b, double eps, int rows, int n);
void slow_linear(double *y, const double *x, const float *w, const float *b, int rows, int n, int k);
void slow_relu(double *x, int n);

/* Heads of d_head side by side. q: rows of ld_q; kv: rows of ld_kv with keys first, then values of the same width. y [rows, heads *
 * d_head] */
struct slow_attn { const double *q, *kv; int ld_q, ld_kv, rows, keys, heads, d_head; };
void slow_attention(double *y, const struct slow_attn *a);

/* Identity plus filter; `left` taps look back. v: rows of ld; y [rows, n] */
struct slow_filter { const float *w; int n, taps, left; };
void slow_memory(double *y, const double *v, int ld, const struct slow_filter *f, int rows);
#endif
