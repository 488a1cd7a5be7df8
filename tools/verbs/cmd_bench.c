/* steno: the verb bench: time per phase of a transcription. SPDX-License-Identifier: MIT
 *
 * Times a model of a known shape with random weights, phase by phase; the time does not depend on the weights. Operations and bytes
 * follow from the shape. They are compared with the machine's peaks, which are measured in the same run. */
#include "cli/message.h"
#include "cli/option_names.h"
#include "cli/progress.h"
#include "cli/report.h"
#include "cmd.h"
#include "models/engine.h"
#include "models/host.h"
#include "models/machine.h"
#include "verbs/bench_draft.h"
#include "verbs/bench_phases.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct opts {
    struct engine_opts engine;
    const char *shape, *type, *draft;
    struct bench_text_opts text;
    int64_t runs;
    int json, format;
};

#define AT(field) offsetof(struct opts, field)

static const struct arg rows[] = {
    ARG_HEADING("Model"),
    { .name = "shape", .kind = ARG_TEXT, .at = AT(shape), .value = "NAME", .dflt = "base",
      .help = "a model's usual name: tiny, base.en, small, medium, turbo; sensevoice, nano, qwen3-asr-0.6b, parakeet-tdt-0.6b-v3, ..." },
    { .name = "type", .kind = ARG_TEXT, .at = AT(type), .value = "TYPE", .dflt = "f16",
      .help = "storage of the matrices: f32, f16, q8_0, q5_0, q5_1, q4_0, q4_1, q2_k, q3_k, q4_k, q5_k, q6_k or iq4_xs" },
    { .name = "model", .letter = 'm', .kind = ARG_TEXT, .at = AT(engine.model), .value = "PATH|NAME",
      .help = "a real model instead of --shape and --type" },
    ARG_HEADING("Measuring"),
    { .name = "runs", .kind = ARG_INT, .at = AT(runs), .value = "N", .dflt = "3", .lo = 1, .hi = 1000,
      .help = "number of runs of each phase, 1 to 1000; median, minimum and maximum are printed" },
    { .name = "output-format", .letter = 'f', .kind = ARG_WORD, .at = AT(format), .value = "table|json|tsv", .dflt = "table",
      .help = "a table, an object, or rows of name, unit, best, median and rounds, separated by tabs" },
    { .name = "json", .kind = ARG_FLAG, .at = AT(json), .help = "same as --output-format json" },
    BENCH_TEXT_ROWS(struct opts),
    ENGINE_MACHINE_ROWS(struct opts),
    ARG_HEADING("Messages"),
    ENGINE_QUIET_ROW(struct opts),
    { 0 },
};

const struct args bench_args = {
    "bench", "[OPTION]...",
    "Time the phases of a transcription: 30 s of audio, 256 tokens; for models that\n"
    "decode clips, 10, 30 and 60 s. Audio language models: whole clips, too, one and\n"
    "eight together. Models of streams: chunks, of one and of eight streams.\n"
    "Language models: prompts of 128 and 512 tokens,\n"
    "32 steps after 64, and such steps of eight texts together. Embedding models:\n"
    "texts of 128 and 512 tokens, and eight of 32 together. Voice-activity models:\n"
    "60 s. Punctuation models: texts of 20 and 200 words.", rows
};

/* ---- measurement ------------------------------------------------------------------------------------------------------------- */

enum { SEED = 1, LANES = 5, STREAM_ROW_MS = 80 };

struct result {
    double median, min, max; /* ms per unit */
    double flops, bytes;     /* per unit; 0: not counted */
    int known;
};

/* Packed size; K types take slightly more memory than in the file. */
static double bytes_per_weight(const char *type)
{
    static const struct { const char *type; double bytes; } size[] = {
        { "f32", 4 }, { "f16", 2 }, { "bf16", 2 }, { "q8_0", 34.0 / 32 }, { "q5_1", 24.0 / 32 }, { "q5_0", 22.0 / 32 },
        { "q4_1", 20.0 / 32 }, { "q4_0", 18.0 / 32 }, { "q2_k", 5248.0 / 8192 }, { "q3_k", 4672.0 / 8192 }, { "q4_k", 4736.0 / 8192 },
        { "q5_k", 5760.0 / 8192 }, { "q6_k", 8768.0 / 8192 }, { "iq4_xs", 8512.0 / 8192 },
    };
    for (size_t i = 0; i < sizeof size / sizeof *size; i++)
        if (strcmp(size[i].type, type) == 0) return size[i].bytes;
    return 4;
}

/* Weights of the decoder's layers, or of a language model's layers, in bytes. */
static double decoder_weight_sz(const steno_model_info *i)
{
    const double w = bytes_per_weight(i->weight_type), q8 = bytes_per_weight("q8_0");
    return strcmp(i->decoder_weights, "int8") == 0 && w > q8 ? q8 : w;
}

/* For models that decode windows: operations (a multiply-add is two) and bytes of weights and caches that one unit of each phase must do
 * and read.
 *
 *   encoder layer  4 d^2 (q k v o) + 8 d^2 (mlp) weights on T rows, attention 2 * T * T * d multiply-adds
 *   decoder row    4 d^2 + 2 d^2 (cross q o) + 8 d^2 weights, attention over c earlier rows and T encoder rows, V * d logits
 *
 * The prompt needs the logits of its last row only. If keys and values are in f16, logits are computed in two stages, the first in int8.
 * The second stage reads very little. */
static void count_work(struct result *r, const struct phases *all, const steno_model_info *i)
{
    const double T = i->n_audio_ctx, d = i->n_audio_state, D = i->n_text_state, L = i->n_text_layer, V = i->n_vocab;
    const double w = bytes_per_weight(i->weight_type), kv = (double)i->token_bytes / (2 * L * D), v = decoder_weight_sz(i);
    const double q8 = bytes_per_weight("q8_0"), head = kv <= 2 && w > q8 ? q8 : w;
    const double c = N_TOKENS / 2.0;
    const double conv = 2 * T * 3 * i->n_mels * d + T * 3 * d * d;
    const double enc_weights = i->n_audio_layer * 12 * d * d, dec_weights = L * 14 * D * D;
    if (all->kind != BENCH_WINDOWS) return;
    const double row_attn = L * 2 * (c + T) * D, row_cache = L * 2 * (c + T) * D * kv;
    r[ENCODE].flops = 2 * (conv + T * enc_weights + i->n_audio_layer * 2 * T * T * d);
    r[ENCODE].bytes = w * (enc_weights + 3 * i->n_mels * d + 3 * d * d);
    r[CROSS].flops = 2 * T * L * 2 * d * D;
    r[CROSS].bytes = w * L * 2 * d * D + L * 2 * T * D * kv;
    r[PROMPT].flops = 2 * (dec_weights + row_attn + V * D / N_TOKENS);
    r[PROMPT].bytes = ((v * dec_weights + head * V * D) + row_cache) / N_TOKENS;
    r[DECODE].flops = 2 * (dec_weights + row_attn + V * D);
    r[DECODE].bytes = (v * dec_weights + head * V * D) + row_cache;
    r[BEAM5].flops = 5 * r[DECODE].flops;
    r[BEAM5].bytes = (v * dec_weights + head * V * D) + L * 2 * (5 * c + T) * D * kv; /* beams of a window share the rows of the encoder */
    r[BATCH8].flops = WINDOWS * r[DECODE].flops;
    r[BATCH8].bytes = (v * dec_weights + head * V * D) + WINDOWS * row_cache;
    r[TOTAL].flops = r[ENCODE].flops + r[CROSS].flops + TOTAL_TOKENS * r[DECODE].flops;
    r[TOTAL].bytes = r[ENCODE].bytes + r[CROSS].bytes + TOTAL_TOKENS * r[DECODE].bytes;
}

/* For language models that also use their embedding as the last matrix. Each weight is one multiply-add per row and is read once for all
 * rows of a run. A step attends to all earlier tokens. */
static void count_texts(struct result *r, const struct phases *phases, const steno_model_info *i)
{
    const double all = (double)i->parameters, head = (double)i->n_vocab * i->n_text_state, v = decoder_weight_sz(i);
    const double cache = (double)i->token_bytes * (TEXT_BEFORE + TEXT_STEPS / 2.0);
    if (phases->kind != BENCH_TEXTS) return;
    r[TEXT_PROMPT].flops = 2 * (all - head + head / TEXT_SHORT);
    r[TEXT_PROMPT].bytes = v * all / TEXT_SHORT;
    r[TEXT_PROMPT_LONG].flops = 2 * (all - head + head / TEXT_LONG);
    r[TEXT_PROMPT_LONG].bytes = v * all / TEXT_LONG;
    r[TEXT_DECODE].flops = 2 * all;
    r[TEXT_DECODE].bytes = v * all + cache;
    r[TEXT_BATCH8].flops = WINDOWS * 2 * all;
    r[TEXT_BATCH8].bytes = v * all + WINDOWS * cache;
}

/* The encoder of models that decode clips. SAN-M: rows of 60 ms, layers of 12 d^2 weights, attention over the rows of a clip, filters of 11
 * taps. FastConformer: rows of 80 ms; 23 d^2 (two feed-forward parts, attention, convolution), and 2 d^2 for the distances of a row;
 * attention has products with the distances, too; a stem. */
static void count_clips(struct result *r, const struct phases *all, const steno_model_info *i)
{
    const int is_conformer = all->kind == BENCH_CONFORMER;
    const double d = i->n_audio_state, weights = i->n_audio_layer * (is_conformer ? 25 : 12) * d * d;
    const double row_ms = is_conformer ? 80 : 60, products = is_conformer ? 3 : 2, taps = is_conformer ? 9 : 11;
    const double stem = is_conformer ? 10.2e6 * i->n_mels / 128 : 0;
    for (int p = 0; (is_conformer || all->kind == BENCH_CLIPS) && p < all->n; p++) {
        if (strcmp(all->phase[p].name, "encode") != 0) continue;
        const double n = all->phase[p].reported * 1000.0 / row_ms, seen = i->n_audio_ctx && i->n_audio_ctx < n ? i->n_audio_ctx : n;
        r[p].flops = 2 * n * (stem + weights + i->n_audio_layer * d * (products * seen + taps));
        r[p].bytes = bytes_per_weight(i->weight_type) * weights;
    }
}

/* Models of streams: each chunk reads the weights once. */
static void count_streams(struct result *r, const struct phases *all, const steno_model_info *i)
{
    const double operations = 2.0 * (double)i->parameters;
    for (int p = LOAD + 1; all->kind == BENCH_STREAMS && p < all->n; p++) {
        r[p].flops = operations * all->phase[p].audio_ms / STREAM_ROW_MS;
        r[p].bytes = (double)i->weight_bytes;
    }
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void summarise(struct result *r, double *ms, int n)
{
    qsort(ms, (size_t)n, sizeof *ms, by_value);
    r->min = ms[0];
    r->max = ms[n - 1];
    r->median = n % 2 ? ms[n / 2] : (ms[n / 2 - 1] + ms[n / 2]) / 2;
    r->known = 1;
}

/* Report why a phase has no figures. A reason that several phases share is printed once. */
static void report_unknown(const char *phase, const char *reason, char reported[1024])
{
    if (strcmp(reported, reason) == 0) return;
    if (strncmp(reason, "the phases", 10) == 0) message("%s", reason); /* the reason applies to all phases */
    else message_file(phase, reason);
    snprintf(reported, 1024, "%s", reason);
}

/* @return EXIT_OK; a phase that this model cannot run has no figures */
static int measure(struct result *r, const struct phases *all, const struct opts *o, steno_session *s)
{
    const int runs = (int)o->runs;
    char reported[1024] = "";
    double *ms = calloc((size_t)runs, sizeof *ms);
    int code = ms ? EXIT_OK : EXIT_MEMORY;
    if (!ms) message("out of memory for %d runs", runs);
    for (int i = LOAD + 1; i < all->n && code == EXIT_OK; i++) {
        const struct phase *p = &all->phase[i];
        int64_t us = steno_bench_phase(s, p->name, p->reported); /* a warm-up for caches and pages */
        for (int k = 0; k < runs && us >= 0; k++) {
            us = steno_bench_phase(s, p->name, p->reported);
            ms[k] = (double)us / 1000.0 / p->n;
        }
        if (us >= 0) summarise(&r[i], ms, runs);
        else if (us == STENO_ENOMEM) code = message_model_error(p->name, (int)us, steno_last_error(s));
        else if (!o->engine.quiet)
            report_unknown(p->name, steno_last_error(s)[0] ? steno_last_error(s) : steno_status_text((int)us), reported);
    }
    free(ms);
    return code;
}

/* ---- printing ---------------------------------------------------------------------------------------------------------------- */

/* Results that every format prints. */
struct figures {
    struct phases phases;
    const struct result *r; /* of each phase */
    const steno_model_info *i;
    const char *machine;
    int threads, runs;
    int64_t rss;
    struct machine_peaks peaks;
};

static void print_figures_json(const struct figures *f)
{
    const struct result *r = f->r;
    const steno_model_info *i = f->i;
    fputs("{\"machine\": ", stdout);
    print_json(stdout, f->machine);
    printf(", \"version\": \"%s\", \"level\": \"%s\"", steno_version(), i->cpu_level);
    printf(", \"shape\": \"%s\", \"type\": \"%s\", \"threads\": %d", i->name, i->weight_type, f->threads);
    for (int p = 0; p < f->phases.n; p++) {
        printf(", \"%s\": ", f->phases.phase[p].key);
        if (r[p].known) printf("{\"median\": %.4f, \"min\": %.4f, \"max\": %.4f}", r[p].median, r[p].min, r[p].max);
        else printf("null");
    }
    printf(", \"peak_rss_bytes\": %" PRId64 ", \"peak_gflops\": %.1f, \"peak_gbytes_per_s\": %.2f", f->rss, f->peaks.gflops,
           f->peaks.gbytes);
    if (f->phases.kind == BENCH_WINDOWS) {
        printf(", \"work\": {");
        for (int p = ENCODE; p < N_WINDOW_PHASES; p++)
            printf("%s\"%s\": {\"flops\": %.0f, \"bytes\": %.0f}", p > ENCODE ? ", " : "", f->phases.phase[p].name, r[p].flops, r[p].bytes);
        printf("}");
    }
    printf("}\n");
}

static void print_table(const struct figures *f)
{
    const struct result *r = f->r;
    const steno_model_info *i = f->i;
    const struct machine_peaks *peaks = &f->peaks;
    printf("machine: %s, level %s, %d threads\n", f->machine, i->cpu_level, f->threads);
    printf("model: %s, weights %s, compute %s\n", i->name, i->weight_type, i->compute);
    printf("peaks: %.1f GFLOP/s, %.1f GB/s (measured now)\n\n", peaks->gflops, peaks->gbytes);
    printf("%-20s %10s %10s %10s %9s %6s %8s %6s\n", "phase", "median", "min", "max", "GFLOP/s", "peak", "GB/s", "peak");
    for (int p = 0; p < f->phases.n; p++) {
        const char *key = f->phases.phase[p].key;
        if (!r[p].known) {
            printf("%-20s %10s\n", key, "-");
            continue;
        }
        printf("%-20s %10.3f %10.3f %10.3f", key, r[p].median, r[p].min, r[p].max);
        const double gflops = r[p].flops / (r[p].median * 1e6), gbytes = r[p].bytes / (r[p].median * 1e6);
        if (r[p].flops > 0 && peaks->gflops > 0)
            printf(" %9.1f %5.0f%% %8.2f %5.0f%%", gflops, 100 * gflops / peaks->gflops, gbytes, 100 * gbytes / peaks->gbytes);
        printf("\n");
    }
    for (int p = 0; p < f->phases.n; p++)
        if (r[p].known && f->phases.phase[p].audio_ms)
            printf("%s%s: %.1f times real time\n", p && f->phases.phase[p - 1].audio_ms ? "" : "\n", f->phases.phase[p].row,
                   f->phases.phase[p].audio_ms / r[p].median);
    if (i->token_bytes)
        printf("\nkeys and values of a token: %" PRId64 " bytes, of a text of %d: %.1f MB", i->token_bytes, i->n_text_ctx,
               (double)i->kv_bytes / 1e6);
    printf("\npeak memory: %.1f MB\n", (double)f->rss / 1e6);
}

static struct timed timed_result(const struct result *r, int n)
{
    return (struct timed){ r->min, r->median, n };
}

/* Tokens per second of all lanes, operations and bytes, for phases that have them. */
static void report_rates(const struct report *out, const struct figures *f)
{
    static const struct { enum window_phase phase; int tokens; const char *name; } spoken[] = {
        { DECODE, 1, "step_tokens" }, { BATCH8, WINDOWS, "batch8_tokens" },
    };
    static const struct { enum window_phase phase; const char *name; } arithmetic[] = {
        { ENCODE, "encode_rate" }, { CROSS, "cross_rate" },
    };
    for (size_t k = 0; k < sizeof spoken / sizeof *spoken; k++) {
        const struct result *r = &f->r[spoken[k].phase];
        if (r->known) report_rate(out, "tokens/s", timed_result(r, f->runs), spoken[k].tokens * 1e3, "%s", spoken[k].name);
    }
    for (size_t k = 0; k < sizeof arithmetic / sizeof *arithmetic; k++) {
        const struct result *r = &f->r[arithmetic[k].phase];
        if (r->known) report_rate(out, "GFLOP/s", timed_result(r, f->runs), r->flops * 1e-6, "%s", arithmetic[k].name);
    }
}

/* Further goals of models that decode windows. */
static void report_windows(const struct report *out, const struct figures *f)
{
    const struct result *e = &f->r[ENCODE], *c = &f->r[CROSS], *t = &f->r[TOTAL];
    if (e->known && c->known)
        report_row(out, "ms", (struct timed){ e->min + c->min, e->median + c->median, f->runs }, 1, "encode_and_cross");
    if (t->known) report_row(out, "ms", (struct timed){ t->max, t->max, f->runs }, 1, "total_worst");
    report_rates(out, f);
}

static void report_texts(const struct report *out, const struct figures *f)
{
    for (int i = TEXT_PROMPT; i < f->phases.n; i++)
        if (f->r[i].known)
            report_rate(out, "tokens/s", timed_result(&f->r[i], f->runs), i == TEXT_BATCH8 ? WINDOWS * 1e3 : 1e3, "%s_tokens",
                        f->phases.phase[i].row);
    report_row(out, "bytes", counted((double)f->i->token_bytes), 1, "kv_of_a_token");
    report_row(out, "bytes", counted((double)f->i->kv_bytes), 1, "kv_of_a_text");
}

/* Audio seconds a second. */
static void report_speeds(const struct report *out, const struct figures *f)
{
    const struct phase *p = f->phases.phase;
    for (int i = 0; i < f->phases.n; i++)
        if (f->r[i].known && p[i].audio_ms) report_rate(out, "s/s", timed_result(&f->r[i], f->runs), p[i].audio_ms, "%s_speed", p[i].row);
}

/* Sums of phases that follow each other in a transcription. */
static void report_sums(const struct report *out, const struct figures *f)
{
    const struct phase *p = f->phases.phase;
    for (int i = 0, next; i < f->phases.n; i = next) {
        struct timed sum = { 0, 0, f->runs };
        int known = p[i].sum != NULL;
        for (next = i; next < f->phases.n && (next == i || (p[i].sum && p[next].sum && !strcmp(p[i].sum, p[next].sum))); next++) {
            known &= f->r[next].known;
            sum.best += f->r[next].min;
            sum.median += f->r[next].median;
        }
        if (known) report_row(out, "ms", sum, 1, "%s", p[i].sum);
    }
}

static void print_tsv(const struct figures *f)
{
    const struct report out = { .file = stdout, .program = "steno" };
    char model[256];
    report_head(&out, f->machine, f->i->cpu_level, f->threads);
    snprintf(model, sizeof model, "%s %s, compute %s", f->i->name, f->i->weight_type, f->i->compute);
    report_fact(&out, "model", model);
    for (int p = 0; p < f->phases.n; p++)
        if (f->r[p].known) report_row(&out, "ms", timed_result(&f->r[p], p == LOAD ? 1 : f->runs), 1, "%s", f->phases.phase[p].row);
    if (f->phases.kind == BENCH_WINDOWS) report_windows(&out, f);
    else if (f->phases.kind == BENCH_TEXTS) report_texts(&out, f);
    else report_sums(&out, f);
    report_speeds(&out, f);
    report_row(&out, "GFLOP/s", counted(f->peaks.gflops), 1, "peak_f32");
    report_row(&out, "GB/s", counted(f->peaks.gbytes), 1, "read");
    report_row(&out, "MB", counted((double)f->rss * 1e-6), 1, "peak_memory");
}

/* ---- the verb ---------------------------------------------------------------------------------------------------------------- */

/* With batch memory if the model decodes in batches. */
static int open_session(struct engine *e)
{
    steno_model_info i = { .size = sizeof i };
    steno_model_info_get(e->model, &i);
    steno_batch_params p;
    steno_batch_params_init(&p);
    p.max_windows = WINDOWS;
    p.max_lanes = phases_of(e->model, &i).kind == BENCH_WINDOWS ? LANES : 1;
    const int in_batch = i.n_text_ctx > 0 || phases_of(e->model, &i).kind == BENCH_STREAMS;
    const int code = in_batch ? engine_batch(e, &p) : EXIT_OK;
    return code == EXIT_OK ? engine_open_session(e, p.max_lanes) : code;
}

static int open_model(struct engine *e, const struct opts *o)
{
    steno_model_params p;
    steno_error err = { 0 };
    int code = engine_model_params(&p, &o->engine);
    if (code != EXIT_OK) return code;
    if (o->engine.model) {
        code = engine_open(e, &o->engine, 0);
        if (code == EXIT_OK) code = open_session(e);
        return code;
    }
    code = engine_team(&e->team, &o->engine);
    if (code != EXIT_OK) return code;
    p.team = e->team;
    const int rc = steno_model_open_random(&e->model, o->shape, o->type, SEED, &p, &err);
    return rc == STENO_OK ? open_session(e) : message_model_error(NULL, rc, err.text);
}

static int draft_gains(const struct engine *e, const struct opts *o, enum bench_format format)
{
    steno_model_params p;
    const int code = engine_model_params(&p, &o->engine);
    p.team = e->team;
    return code == EXIT_OK ? bench_draft(e, &p, &(struct bench_shapes){ o->shape, o->draft, o->type }, (int)o->runs, format) : code;
}

static int bench(const struct opts *o)
{
    struct engine e = { 0 };
    struct result r[PHASES_MAX] = { 0 };
    steno_model_info i = { .size = sizeof i };
    char machine[256];
    const int64_t begun = progress_now_us();
    int code = open_model(&e, o);
    double load_ms = (double)(progress_now_us() - begun) / 1000.0;
    if (code == EXIT_OK) steno_model_info_get(e.model, &i);
    const struct phases all = phases_of(e.model, &i);
    const enum bench_format format = o->json ? BENCH_JSON : (enum bench_format)o->format;
    if (code == EXIT_OK && o->draft) code = draft_gains(&e, o, format);
    else if (code == EXIT_OK && o->text.answer)
        code = bench_text(&e, &o->text, o->engine.model ? NULL : o->shape, (int)o->runs, format);
    else if (code == EXIT_OK) code = measure(r, &all, o, e.session);
    if (code == EXIT_OK && !o->draft && !o->text.answer) {
        struct figures f = { .phases = all, .r = r, .i = &i, .machine = machine, .threads = steno_team_threads(e.team),
                             .runs = (int)o->runs, .rss = host_peak_rss() /* read before the peaks allocate memory */ };
        if (!o->engine.model) snprintf(i.name, sizeof i.name, "%s", o->shape);
        summarise(&r[LOAD], &load_ms, 1);
        count_work(r, &all, &i);
        count_texts(r, &all, &i);
        count_clips(r, &all, &i);
        count_streams(r, &all, &i);
        machine_name(machine, sizeof machine);
        if (machine_measure(&f.peaks, f.threads)) message("the machine's peaks could not be measured");
        (format == BENCH_JSON ? print_figures_json : format == BENCH_TSV ? print_tsv : print_table)(&f);
        code = message_flush();
    }
    engine_close(&e);
    return code;
}

static int check_given(const struct opts *o)
{
    char name[OPTION_TEXT_SZ];
    const struct args_given *g = o->engine.given;
    for (int i = 0; i < 2 && o->engine.model; i++)
        if (option_was_given(g, i ? "type" : "shape"))
            return message_usage("%s is for a model of random weights: it and -m exclude each "
                                 "other", option_name(name, g, i ? "type" : "shape"));
    if (o->draft && (o->engine.model || o->text.answer)) return message_usage("--draft is for --shape: it excludes -m and --answer");
    if (bench_text_check(&o->text) != EXIT_OK) return EXIT_USAGE;
    if (o->json && option_was_given(g, "output-format") && o->format != BENCH_JSON)
        return message_usage("--json and another %s exclude each other", option_name(name, g, "output-format"));
    return EXIT_OK;
}

int cmd_bench(int argc, char **argv)
{
    struct args_given given;
    struct opts o = { .engine.given = &given };
    int n;
    int code = args_parse(&bench_args, &o, &given, argc, argv, &n);
    if (code != ARGS_RUN) return code;
    if (n) return message_usage("bench takes no operands; -m gives a model");
    code = check_given(&o);
    return code == EXIT_OK ? bench(&o) : code;
}
