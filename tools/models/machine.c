/* steno: facts about this machine. SPDX-License-Identifier: MIT
 *
 * A benchmark is compared with two peaks. They are measured in the same run, because the load of a shared machine changes within
 * minutes. Plain vector code, compiled for several processor levels, comes within a few percent of the machine's limit. */
#include "models/machine.h"
#include "cli/progress.h"
#include "path.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

/* The library is built without contraction; this file needs fused multiply-adds. */
#if defined(__GNUC__) && !defined(__clang__)
#define FUSED __attribute__((optimize("O3", "fp-contract=fast")))
#define FUSED_HERE
#else
#define FUSED
#define FUSED_HERE _Pragma("clang fp contract(fast)")
#endif

enum { CHAINS = 12, MAX_THREADS = 256, ROUNDS = 5 };
enum { READ_BYTES = 128 << 20, ALIGN = 64 }; /* per thread: larger than its share of most caches */

typedef float vec4 __attribute__((vector_size(16)));
#if defined(__x86_64__) && defined(__GNUC__)
typedef float vec8 __attribute__((vector_size(32)));
typedef float vec16 __attribute__((vector_size(64)));
#endif
typedef uint64_t word_vec __attribute__((vector_size(64)));

/* The value of a line "KEY : VALUE", or NULL. */
static const char *value_of(char *line, const char *key)
{
    char *colon = strchr(line, ':');
    if (strncmp(line, key, strlen(key)) != 0 || !colon) return NULL;
    colon += 1 + strspn(colon + 1, " \t");
    colon[strcspn(colon, "\n")] = '\0';
    return colon;
}

void machine_name_from(char *out, size_t n, const char *cpuinfo)
{
    char line[256], maker[16] = "", cores[128] = "", core[40];
    const char *value;
    struct utsname u;
    FILE *f = fopen(cpuinfo, "r");
    out[0] = '\0';
    while (f && !out[0] && fgets(line, sizeof line, f)) {
        if ((value = value_of(line, "model name"))) snprintf(out, n, "%s", value);
        else if ((value = value_of(line, "CPU implementer"))) snprintf(maker, sizeof maker, "%.15s", value);
        else if ((value = value_of(line, "CPU part"))) {
            snprintf(core, sizeof core, " %.15s:%.15s", maker, value);
            if (!strstr(cores, core) && strlen(cores) + strlen(core) < sizeof cores) strcat(cores, core);
        }
    }
    if (f) fclose(f);
    if (!out[0] && uname(&u) == 0) snprintf(out, n, "%s%s", u.machine, cores);
}

void machine_name(char *out, size_t n)
{
    machine_name_from(out, n, "/proc/cpuinfo");
}

void machine_key(char key[FIGURES_KEY_SZ], const char *cpu_level)
{
    char name[256];
    const char *level = cpu_level;
    machine_name(name, sizeof name);
    for (int i = 0; !cpu_level && steno_cpu_level_name(i); i++)
        if (steno_cpu_level_usable(i)) level = steno_cpu_level_name(i);
    for (char *c = name; *c; c++)
        if (*c == '\t' || *c == '\n') *c = ' ';
    snprintf(key, FIGURES_KEY_SZ, "steno %s, %s, %s", steno_version(), name, level ? level : "");
}

/* CHAINS independent accumulators hide the latency of a multiply-add. The macro writes them out, so that they stay in registers: a vector
 * is one register wide, and all fit the 16 registers of the smallest instruction set. *flops: the operations done. */
#define FMA_BODY(vec)                                                                                                \
    FUSED_HERE                                                                                                       \
    vec a[CHAINS];                                                                                                   \
    const vec x = { 0 }, m = x + 0.999f, c = x + 0.001f;                                                             \
    const int lanes = (int)(sizeof x / sizeof x[0]);                                                                 \
    for (int j = 0; j < CHAINS; j++) a[j] = x + (float)j;                                                            \
    for (long i = 0; i < n; i++) {                                                                                   \
        a[0] = a[0] * m + c, a[1] = a[1] * m + c, a[2] = a[2] * m + c, a[3] = a[3] * m + c, a[4] = a[4] * m + c;     \
        a[5] = a[5] * m + c, a[6] = a[6] * m + c, a[7] = a[7] * m + c, a[8] = a[8] * m + c, a[9] = a[9] * m + c;     \
        a[10] = a[10] * m + c, a[11] = a[11] * m + c;                                                                \
    }                                                                                                                \
    float sum = 0;                                                                                                   \
    for (int j = 0; j < CHAINS; j++)                                                                                 \
        for (int k = 0; k < lanes; k++) sum += a[j][k];                                                              \
    *flops = 2.0 * lanes * CHAINS * (double)n;                                                                       \
    return sum

/* Four streams, each a quarter of the memory apart, keep more reads in flight than one. */
#define READ_BODY                                                                                                    \
    const size_t n = READ_BYTES / sizeof *p / 4;                                                                     \
    word_vec s = { 0 }, t = s, u = s, v = s;                                                                         \
    for (size_t i = 0; i < n; i++) s ^= p[i], t ^= p[i + n], u ^= p[i + 2 * n], v ^= p[i + 3 * n];                   \
    s ^= t ^ u ^ v;                                                                                                  \
    return s[0] ^ s[1] ^ s[2] ^ s[3] ^ s[4] ^ s[5] ^ s[6] ^ s[7]

FUSED static float fma_loop_plain(long n, double *flops)
{
    FMA_BODY(vec4);
}

FUSED static uint64_t read_all_plain(const word_vec *p)
{
    READ_BODY;
}

#if defined(__x86_64__) && defined(__GNUC__)
FUSED __attribute__((target("avx2,fma"))) static float fma_loop_avx2(long n, double *flops)
{
    FMA_BODY(vec8);
}

FUSED __attribute__((target("avx2"))) static uint64_t read_all_avx2(const word_vec *p)
{
    READ_BODY;
}

FUSED __attribute__((target("avx512f,fma"))) static float fma_loop_avx512(long n, double *flops)
{
    FMA_BODY(vec16);
}

static float fma_loop(long n, double *flops)
{
    if (__builtin_cpu_supports("avx512f")) return fma_loop_avx512(n, flops);
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return fma_loop_avx2(n, flops);
    return fma_loop_plain(n, flops);
}

static uint64_t read_all(const word_vec *p)
{
    return __builtin_cpu_supports("avx2") ? read_all_avx2(p) : read_all_plain(p);
}
#else
static float fma_loop(long n, double *flops)
{
    return fma_loop_plain(n, flops);
}

static uint64_t read_all(const word_vec *p)
{
    return read_all_plain(p);
}
#endif

struct worker {
    pthread_t thread;
    pthread_barrier_t *barrier;
    void *block;      /* [READ_BYTES + ALIGN] */
    word_vec *memory; /* [READ_BYTES / sizeof(word_vec)], aligned, in the block */
    double fma_us[ROUNDS], read_us[ROUNDS], flops;
    uint64_t sink;
};

enum { FMA_STEPS = 2000000 };

static void *worker_run(void *arg)
{
    struct worker *w = arg;
    memset(w->memory, 1, READ_BYTES); /* touched by this thread, so that the pages are near it */
    for (int r = 0; r < ROUNDS; r++) {
        pthread_barrier_wait(w->barrier);
        int64_t t = progress_now_us();
        w->sink += (uint64_t)fma_loop(FMA_STEPS, &w->flops);
        w->fma_us[r] = (double)(progress_now_us() - t);
        pthread_barrier_wait(w->barrier);
        t = progress_now_us();
        w->sink += read_all(w->memory);
        w->read_us[r] = (double)(progress_now_us() - t);
    }
    return NULL;
}

/* Keep the best round; the slowest thread determines the time of a round. */
static void peaks_collect(struct machine_peaks *p, const struct worker *w, int n)
{
    memset(p, 0, sizeof *p);
    for (int r = 0; r < ROUNDS; r++) {
        double fma = 1, rd = 1;
        for (int i = 0; i < n; i++) {
            if (w[i].fma_us[r] > fma) fma = w[i].fma_us[r];
            if (w[i].read_us[r] > rd) rd = w[i].read_us[r];
        }
        const double gflops = w->flops * n / fma / 1e3, gbytes = (double)READ_BYTES * n / rd / 1e3;
        if (gflops > p->gflops) p->gflops = gflops;
        if (gbytes > p->gbytes) p->gbytes = gbytes;
    }
}

int machine_measure(struct machine_peaks *p, int n_threads)
{
    pthread_barrier_t barrier;
    const int n = n_threads < 1 ? 1 : n_threads > MAX_THREADS ? MAX_THREADS : n_threads;
    struct worker *w = calloc((size_t)n, sizeof *w);
    int bad = !w, started = 0;
    for (int i = 0; i < n && !bad; i++) {
        w[i].barrier = &barrier;
        w[i].block = malloc(READ_BYTES + ALIGN);
        bad = !w[i].block;
        w[i].memory = (word_vec *)(((uintptr_t)w[i].block + ALIGN - 1) / ALIGN * ALIGN);
    }
    if (!bad) bad = pthread_barrier_init(&barrier, NULL, (unsigned)n) != 0;
    if (!bad) {
        while (started < n && pthread_create(&w[started].thread, NULL, worker_run, &w[started]) == 0) started++;
        if (started < n) return -1; /* the started threads wait at the barrier; the program ends soon and frees their memory */
        for (int i = 0; i < n; i++) pthread_join(w[i].thread, NULL);
        pthread_barrier_destroy(&barrier);
        peaks_collect(p, w, n);
    }
    for (int i = 0; w && i < n; i++) free(w[i].block);
    free(w);
    return bad ? -1 : 0;
}

/* ---- speed with a model ------------------------------------------------------------------------------------------------------ */

enum { SPEED_ROUNDS = 3, STEPS = 24, N_FIGURES = 2 };
static const double tiny_gflop = 36, tiny_mb = 30; /* work of a window's encoder and of a decoder step, as in model_choice.c */

/* The best of a few rounds, because other load only slows a round down. @return microseconds, or a negative status */
static int64_t speed_best(steno_session *s, const char *phase, int n)
{
    int64_t best = steno_bench_phase(s, phase, n); /* the first round also warms the caches */
    for (int i = 1; i < SPEED_ROUNDS && best >= 0; i++) {
        const int64_t us = steno_bench_phase(s, phase, n);
        if (us < best) best = us;
    }
    return best;
}

static int speed_measure(struct machine_speed *s, const steno_model_params *p, steno_team *team)
{
    steno_model *m = NULL;
    steno_session *session = NULL;
    int64_t encode = -1, steps = -1;
    int rc = steno_model_open_random(&m, "tiny", "f16", 1, p, NULL);
    if (rc == STENO_OK) rc = steno_session_open(&session, m, team, NULL, NULL);
    if (rc == STENO_OK) encode = speed_best(session, "encode", 1);
    if (rc == STENO_OK) steps = speed_best(session, "decode", STEPS);
    steno_session_close(session);
    steno_model_close(m);
    if (encode <= 0 || steps <= 0) return 0;
    s->gflops = tiny_gflop * 1e6 / (double)encode;
    s->gbytes = tiny_mb * 1e-3 * STEPS * 1e6 / (double)steps;
    return 1;
}

int machine_speed_get(struct machine_speed *s, const char *folder, const steno_model_params *p)
{
    char own_key[FIGURES_KEY_SZ], key[FIGURES_KEY_SZ + 64], *path = folder ? path_join(folder, FIGURES_FILE) : NULL;
    steno_team *own = NULL;
    int ok = path != NULL;
    if (ok && !p->team) ok = steno_team_open(&own, 0, NULL) == STENO_OK;
    if (ok) {
        steno_team *team = p->team ? p->team : own;
        double v[N_FIGURES];
        machine_key(own_key, p->cpu_level);
        snprintf(key, sizeof key, "%s, %d threads, compute %d", own_key, steno_team_threads(team), (int)p->compute);
        if (!figures_find(v, N_FIGURES, path, key)) {
            ok = speed_measure(s, p, team) && figures_keep(path, key, (const double[N_FIGURES]){ s->gflops, s->gbytes }, N_FIGURES) &&
                 figures_find(v, N_FIGURES, path, key);
        }
        if (ok) *s = (struct machine_speed){ v[0], v[1] };
    }
    steno_team_close(own);
    free(path);
    return ok;
}
