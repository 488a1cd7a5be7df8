/* steno tests: a network of synthetic tensors. SPDX-License-Identifier: MIT */
#include "executor/net.h"

static uint32_t net_seed = 1;

float net_noise(void)
{
    net_seed = net_seed * 1664525u + 1013904223u;
    return (float)(int32_t)net_seed * 0x1p-31f;
}

static int net_same_name(const char *name, char *out, size_t n)
{
    (void)name, (void)out, (void)n;
    return 0;
}

void net_store(uint8_t *to, enum dtype type, float *v)
{
    const uint16_t half = type == DT_F16 ? f16_from_f32(*v) : bf16_from_f32(*v);
    if (type != DT_F32) *v = type == DT_F16 ? f16_to_f32(half) : bf16_to_f32(half);
    if (type == DT_F32) memcpy(to, v, sizeof *v);
    else memcpy(to, &half, sizeof half);
}

static void net_set_open(struct net_set *s, const struct net_desc *d)
{
    size_t total = 0, bytes = 0;
    steno_error e;
    memset(s, 0, sizeof *s);
    arena_init(&s->w.arena);
    s->w.name = "made.up";
    for (int i = 0; i < d->n_shapes; i++) {
        struct tensor *t = weights_add(&s->w, &e);
        assert_non_null(t);
        t->name = d->shape[i].name;
        size_t n = 1;
        for (int k = 0; k < 4; k++) {
            t->dim[k] = d->shape[i].dim[k] ? d->shape[i].dim[k] : 1;
            if (d->shape[i].dim[k]) t->n_dims = k + 1;
            n *= t->dim[k];
        }
        t->type = t->n_dims < 2 ? DT_F32 : d->other && !strcmp(d->other, t->name) ? d->other_stored : d->stored;
        t->file = &s->file;
        t->offset = bytes;
        t->size = n * dtype_row_sz(t->type, 1);
        bytes += (t->size + 3) & ~(size_t)3;
        assert_true((size_t)i < sizeof s->at / sizeof *s->at);
        s->at[i] = total;
        total += n;
    }
    s->v = malloc(total * sizeof *s->v);
    s->stored = malloc(bytes);
    assert_true(s->v && s->stored);
    for (uint32_t k = 0; k < s->w.n_tensors; k++) {
        const struct tensor *t = &s->w.tensor[k];
        const size_t one = dtype_row_sz(t->type, 1);
        for (size_t i = 0; i < t->size / one; i++) {
            float *v = &s->v[s->at[k] + i];
            *v = net_noise() * (d->scale > 0 ? d->scale : 1);
            net_store(s->stored + t->offset + i * one, t->type, v);
        }
    }
    file_from_memory(&s->file, "made.up", s->stored, bytes);
    assert_int_equal(weights_rename(&s->w, net_same_name, &e), 0); /* builds the index */
}

const float *net_find(struct net *r, const char *name)
{
    const struct tensor *t = weights_find(&r->set.w, name);
    if (!t) fail_msg("no tensor %s", name);
    return r->set.v + r->set.at[t - r->set.w.tensor];
}

struct build_params net_params(struct net *r, const struct net_desc *d)
{
    return (struct build_params){ .name = "made up", .arena = &r->arena, .weights = &r->set.w, .store = &r->store, .kern = &r->kern,
                                  .team = r->team, .max_rows = d->max_rows, .max_out = d->max_out,
                                  .max_past = d->max_past, .precision = d->precision };
}

static int net_give(void *user, const void *at, size_t n)
{
    return executor_weights(user, at, n, NULL);
}

void net_open(struct net *r, const struct net_desc *d, int level, int threads)
{
    struct build b;
    steno_error e;
    memset(r, 0, sizeof *r);
    net_seed = 1;
    net_set_open(&r->set, d);
    arena_init(&r->arena);
    kern_init(&r->kern, level);
    assert_int_equal(team_open(&r->team, threads, &e), 0);
    const struct build_params p = net_params(r, d);
    build_begin(&b, &p, &e);
    build_phase(&b, "all");
    d->fill(&b);
    if (build_end(&b, &r->plan)) fail_msg("%s", e.text);
    const struct plan *plans[] = { &r->plan };
    for (int i = 0; i < d->n_states; i++) assert_int_equal(state_open(&r->state[i], &r->arena, &d->state[i], KV_F32, NET_LANES, &e), 0);
    const struct exec_params exec = { .plan = plans, .n_plans = 1, .state = r->state, .n_states = d->n_states, .max_out = RUN_LANES,
                                      .threads = threads, .team = r->team };
    executor_cpu(&r->cpu, &r->kern);
    assert_int_equal(exec_open(&r->exec, &r->cpu.base, &r->arena, &exec, &e), 0);
    plain_executor_open(&r->plain);
    assert_int_equal(weight_store_each(&r->store, net_give, &r->plain.base), 0);
    assert_int_equal(exec_open(&r->other, &r->plain.base, &r->arena, &exec, &e), 0);
    assert_int_equal(run_init(&r->run, &r->arena, plans, 1, 1), 0);
    for (int i = 0; i < d->n_states; i++)
        for (uint32_t k = 0; d->state[i].kind == STATE_SHIFT && k < NET_LANES; k++)
            exec_state_reset(r->exec, i, k), exec_state_reset(r->other, i, k);
}

void net_close(struct net *r)
{
    exec_close(r->exec);
    exec_close(r->other);
    plain_executor_close(&r->plain);
    weight_store_close(&r->store);
    team_close(r->team);
    arena_free(&r->arena);
    weights_close(&r->set.w);
    free(r->set.v);
    free(r->set.stored);
}

void net_exec(struct exec *x, const struct plan *p, const struct phases *what, const float *in)
{
    struct run_time spent;
    for (uint32_t i = 0; in && i < what->n_rows; i++) {
        const struct slot *s = &p->slot[p->input];
        memcpy(exec_input(x, p) + (size_t)i * s->ld, in + (size_t)i * s->width, s->width * sizeof *in);
    }
    assert_int_equal(exec_phases(x, p, what, NULL, &spent), 0);
}

void net_read(struct exec *x, const struct plan *p, uint16_t slot, float *y, uint32_t rows)
{
    size_t ld;
    const float *got = exec_output(x, p, slot, 0, rows, &ld);
    const size_t width = p->slot[slot].width;
    for (size_t i = 0; i < rows; i++) memcpy(y + i * width, got + i * ld, width * sizeof *y);
}

void net_alone(struct net *r, struct sequence s, const float *in, const float *together)
{
    const struct plan *p = &r->plan;
    const size_t width = p->slot[p->output].width, n = s.n * width;
    float *alone = malloc(n * sizeof *alone);
    assert_non_null(alone);
    net_exec(r->exec, p, &(struct phases){ .end = 1, .n_rows = s.n }, in + s.row * p->slot[p->input].width);
    net_read(r->exec, p, p->output, alone, s.n);
    assert_memory_equal(alone, together + s.row * width, n * sizeof *alone);
    free(alone);
}

void net_output(struct net *r, uint16_t slot, float *y, uint32_t rows, float near)
{
    const size_t n = rows * (size_t)r->plan.slot[slot].width;
    float *plain = malloc(n * sizeof *plain);
    assert_non_null(plain);
    net_read(r->exec, &r->plan, slot, y, rows);
    net_read(r->other, &r->plan, slot, plain, rows);
    const float most = r->kern.level == CPU_C ? 0 : near;
    for (size_t i = 0; i < n; i++)
        if (!(fabsf(y[i] - plain[i]) <= most * (1 + fabsf(y[i]))) && !(isnan(y[i]) && isnan(plain[i])))
            fail_msg("level %d, slot %d, value %zu of %zu: %.9g, plain %.9g", r->kern.level, slot, i, n, (double)y[i], (double)plain[i]);
    free(plain);
}

void net_phases(struct net *r, const struct phases *what, const float *in)
{
    net_exec(r->exec, &r->plan, what, in);
    net_exec(r->other, &r->plan, what, in);
}

void net_near(const float *y, const double *want, size_t rows, size_t n, double near, const char *what, int level)
{
    for (size_t i = 0; i < rows * n; i++)
        if (!(fabs((double)y[i] - want[i]) <= near * (1 + fabs(want[i]))))
            fail_msg("%s, level %d: row %zu, column %zu is %.9g, want %.9g", what, level, i / n, i % n, (double)y[i], want[i]);
}

void net_each_level(void (*check)(int level, int threads))
{
    for (int level = 0; level < CPU_LEVELS; level++)
        for (int threads = 1; threads <= 2 && cpu_level_usable(level) && level_is_checked(level, cpu_level_best()); threads++)
            if (!SANITIZED || in_full() || threads == 2 || level == CPU_C) check(level, threads);
}

/* ---- reference parts of networks; rows are contiguous ------- */

void slow_norm(double *y, const double *x, const float *g, const float *b, double eps, int rows, int n)
{
    for (int r = 0; r < rows; r++) {
        double mean = 0, square = 0;
        for (int i = 0; i < n; i++) mean += x[r * n + i] / n;
        for (int i = 0; i < n; i++) square += (x[r * n + i] - mean) * (x[r * n + i] - mean) / n;
        for (int i = 0; i < n; i++) y[r * n + i] = (x[r * n + i] - mean) / sqrt(square + eps) * (double)g[i] + (double)b[i];
    }
}

void slow_linear(double *y, const double *x, const float *w, const float *b, int rows, int n, int k)
{
    for (int r = 0; r < rows; r++)
        for (int i = 0; i < n; i++) {
            double sum = b ? (double)b[i] : 0;
            for (int j = 0; j < k; j++) sum += x[r * k + j] * (double)w[i * k + j];
            y[r * n + i] = sum;
        }
}

void slow_relu(double *x, int n)
{
    for (int i = 0; i < n; i++) x[i] = fmax(x[i], 0);
}

void slow_attention(double *y, const struct slow_attn *a)
{
    const int n = a->heads * a->d_head;
    double *p = malloc((size_t)a->keys * sizeof *p);
    assert_non_null(p);
    for (int h = 0; h < a->heads; h++)
        for (int r = 0; r < a->rows; r++) {
            double max = -INFINITY, sum = 0;
            for (int t = 0; t < a->keys; t++) {
                p[t] = 0;
                for (int i = h * a->d_head; i < (h + 1) * a->d_head; i++)
                    p[t] += a->q[r * a->ld_q + i] * a->kv[t * a->ld_kv + i] / sqrt(a->d_head);
                max = fmax(max, p[t]);
            }
            for (int t = 0; t < a->keys; t++) sum += p[t] = exp(p[t] - max);
            for (int i = h * a->d_head; i < (h + 1) * a->d_head; i++) {
                y[r * n + i] = 0;
                for (int t = 0; t < a->keys; t++) y[r * n + i] += p[t] / sum * a->kv[t * a->ld_kv + n + i];
            }
        }
    free(p);
}

void slow_memory(double *y, const double *v, int ld, const struct slow_filter *f, int rows)
{
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < f->n; c++) {
            y[r * f->n + c] = v[r * ld + c];
            for (int j = 0; j < f->taps; j++) {
                const int t = r + j - f->left;
                if (t >= 0 && t < rows) y[r * f->n + c] += (double)f->w[c * f->taps + j] * v[t * ld + c];
            }
        }
}
