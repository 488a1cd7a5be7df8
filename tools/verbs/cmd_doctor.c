/* steno: the verb doctor: capabilities of this machine, and problems. SPDX-License-Identifier: MIT
 *
 * Every fact is a line "key: value", and problems are repeated at the end. With a model as operand the verb examines that file: it
 * performs the steps by which every verb opens a model, and reports the step that failed. */
#include "address.h"
#include "cli/message.h"
#include "cli/signals.h"
#include "cmd.h"
#include "doctor_compute.h"
#include "http.h"
#include "models/default_model.h"
#include "models/engine.h"
#include "models/host.h"
#include "models/machine.h"
#include "path.h"
#include "utf8.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#if defined(__GLIBC__)
#include <gnu/libc-version.h>
#endif

struct opts {
    int json, measure;
};

static const struct arg rows[] = {
    ARG_HEADING("Machine"),
    { .name = "measure", .kind = ARG_FLAG, .at = offsetof(struct opts, measure),
      .help = "measure and keep what --compute auto takes: bf16, which changes a few texts, if 1.4 times as fast as the level's choice" },
    ARG_HEADING("Output"),
    { .name = "json", .kind = ARG_FLAG, .at = offsetof(struct opts, json), .help = "print an object instead of lines" },
    { 0 },
};

const struct args doctor_args = {
    "doctor", "[OPTION]... [MODEL]",
    "Print the features of this machine, steno's choices and their reasons, and\n"
    "problems (exit code 1 if there are any). With MODEL: the kind of that file, and\n"
    "its faults (exit code 3 if it cannot be used).", rows
};

struct report {
    int json, n_lines, n_problems;
    char problems[8][2048]; /* fixed size, because a reason is at most the text of a steno_error */
};

static void line(struct report *r, const char *key, const char *value)
{
    char raw[2048], clean[sizeof raw];
    snprintf(raw, sizeof raw, "%s", value);
    address_hide(raw);
    utf8_printable(clean, sizeof clean, raw);
    if (!r->json) {
        printf("%s: %s\n", key, clean);
        return;
    }
    printf(r->n_lines++ ? ", " : "{");
    print_json(stdout, key);
    fputs(": ", stdout);
    print_json(stdout, clean);
}

static void problem(struct report *r, const char *what, const char *reason)
{
    if (r->n_problems < (int)(sizeof r->problems / sizeof *r->problems)) {
        snprintf(r->problems[r->n_problems], sizeof r->problems[0], "%s%s%s", what, reason[0] ? ": " : "", reason);
        address_hide(r->problems[r->n_problems++]);
    }
}

/* Print a size in readable units. */
static void size_text(char *out, size_t n, int64_t bytes)
{
    if (bytes >= 1 << 30) snprintf(out, n, "%.1f GiB", (double)bytes / (1 << 30));
    else if (bytes >= 1 << 20) snprintf(out, n, "%.1f MiB", (double)bytes / (1 << 20));
    else snprintf(out, n, "%" PRId64 " bytes", bytes);
}

/* ---- the machine ------------------------------------------------------------------------------------------------------------- */

/* The kernel's names of the instructions that a level needs, to report missing ones. */
static const char *flags_of(const char *level)
{
    static const struct { const char *level, *flags; } table[] = {
        { "sse41", "ssse3 sse4_1" },
        { "avx2", "avx2 fma f16c" },
        { "avxvnni", "avx2 fma f16c avx_vnni" },
        { "avx512", "avx512f avx512dq avx512bw avx512vl" },
        { "avx512vnni", "avx512f avx512dq avx512bw avx512vl avx512_vnni" },
        { "avx512bf16", "avx512f avx512dq avx512bw avx512vl avx512_vnni avx512_bf16" },
        { "amx", "avx512f avx512dq avx512bw avx512vl avx512_vnni avx512_bf16 amx_tile amx_bf16 amx_int8" },
        { "neon", "asimd" },
        { "dotprod", "asimddp" },
        { "i8mm", "asimddp i8mm" },
        { "neonbf16", "asimddp i8mm bf16" },
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strcmp(table[i].level, level) == 0) return table[i].flags;
    return "";
}

static void report_compute(struct report *r, const char *level, int level_used, int measure)
{
    struct doctor_compute c = { .level = level, .is_int16 = steno_compute_auto(level_used) == STENO_COMPUTE_INT16 };
    steno_error e = { 0 };
    char value[512], *folder = models_folder(0);
    if (measure && !auto_figures_measure(&c.figures, folder, "base", AUTO_MOST_US, &e)) problem(r, "--measure", e.text);
    c.measured = auto_figures_find(&c.figures, folder, NULL);
    doctor_compute_used(value, sizeof value, &c);
    line(r, "compute used", value);
    doctor_compute_measured(value, sizeof value, &c);
    line(r, "compute measured", value);
    free(folder);
}

static void report_levels(struct report *r, int measure)
{
    const char *name, *best = "c";
    int used = 0;
    char key[64], value[400], missing[128];
    for (int i = 0; (name = steno_cpu_level_name(i)) != NULL; i++) {
        snprintf(key, sizeof key, "level %s", name);
        host_missing_flags(missing, sizeof missing, flags_of(name));
        snprintf(value, sizeof value, "not on this machine%s%s", missing[0] ? "; it lacks " : "", missing);
        line(r, key, steno_cpu_level_usable(i) ? "usable" : value);
        if (steno_cpu_level_usable(i)) best = name, used = i;
    }
    snprintf(value, sizeof value, "%s (the highest usable level, for every kernel; --cpu lowers it)", best);
    line(r, "level used", value);
    report_compute(r, best, used, measure);
}

static void report_threads(struct report *r, const struct host *h)
{
    steno_team *team = NULL;
    steno_error e = { 0 };
    char value[256], quota[64] = "no quota";
    if (h->quota > 0) snprintf(quota, sizeof quota, "a quota of %.2f", h->quota);
    if (steno_team_open(&team, 0, &e) != STENO_OK) problem(r, "threads cannot be started", e.text);
    else {
        snprintf(value, sizeof value, "%d (physical cores among the %d of %d processors that this process may use; %s by its cgroup)",
                 steno_team_threads(team), h->allowed, h->online, quota);
        line(r, "threads", value);
    }
    steno_team_close(team);
    line(r, "cgroup", h->cgroup[0] ? h->cgroup : "none");
    snprintf(value, sizeof value, "%s (of the first processor, each with those that share it; work is cut to fit L2)", h->caches);
    line(r, "caches", h->caches[0] ? value : "not known");
}

static void report_memory(struct report *r, const struct host *h)
{
    char all[32], free_now[32], value[128];
    size_text(all, sizeof all, h->memory);
    size_text(free_now, sizeof free_now, h->available);
    snprintf(value, sizeof value, "%s, %s available", all, free_now);
    line(r, "memory", h->memory ? value : "not known");
    size_text(value, sizeof value, h->memory_limit);
    line(r, "memory limit", h->memory_limit ? value : "none by the cgroup");
    const int off = !h->huge_pages[0] || strcmp(h->huge_pages, "never") == 0;
    snprintf(value, sizeof value, "%s (%s)", h->huge_pages[0] ? h->huge_pages : "not in this kernel",
             off ? "weights lie in small pages" : "weights lie in them where there are any");
    line(r, "huge pages", value);
}

/* Libraries linked at build time. FFmpeg is loaded later and is tested by report_decoding. */
static void report_libraries(struct report *r)
{
    char path[1024], key[128];
#if defined(__GLIBC__)
    line(r, "C library", gnu_get_libc_version());
#endif
    for (int i = 0; host_library(i, path, sizeof path); i++) {
        const char *name = strrchr(path, '/') + 1;
        if (strncmp(name, "lib", 3) != 0 || strncmp(name, "libc.", 5) == 0 || strncmp(name, "libm.", 5) == 0) continue;
        snprintf(key, sizeof key, "library %.*s", (int)strcspn(name, "."), name);
        line(r, key, path);
    }
}

/* Open a file that is not audio: a reader without its libraries fails before it reads the bytes. */
static void report_decoding(struct report *r)
{
    steno_media *m = NULL;
    steno_error e = { 0 };
    line(r, "decoding", steno_media_backend());
    if (strncmp(steno_media_backend(), "FFmpeg", 6) != 0) return;
    const int rc = steno_media_open(&m, "/proc/self/exe", NULL, NULL, &e);
    steno_media_close(m);
    const int missing = rc == STENO_EUNSUPPORTED && strstr(e.text, "FFmpeg cannot be") != NULL;
    line(r, "FFmpeg", missing ? "not found" : "found");
    if (missing) problem(r, "FFmpeg", e.text);
}

static void report_fetching(struct report *r)
{
    char version[64];
    struct hub_error e;
    line(r, "libcurl", http_library(version, sizeof version, &e) == HUB_OK ? version : e.text);
}

/* ---- models ------------------------------------------------------------------------------------------------------------------ */

static void report_opened(struct report *r, const char *key, const char *path, const steno_model *m)
{
    steno_model_info i = { .size = sizeof i };
    char value[1536];
    steno_model_info_get(m, &i);
    snprintf(value, sizeof value, "%.1000s (%s %s, %s)", path, i.family, i.name, i.weight_type);
    line(r, key, value);
}

static void report_refused(struct report *r, const char *key, const char *path, const char *reason)
{
    char value[1536];
    snprintf(value, sizeof value, "%.1000s does not open", path);
    line(r, key, value);
    problem(r, key, reason);
}

/* Open a model, as the other verbs do, to see whether it opens. */
static void report_model(struct report *r, const char *key, const char *path)
{
    steno_model *m = NULL;
    steno_error e = { 0 };
    steno_model_params p;
    steno_model_params_init(&p);
    const int rc = models_open_file(&m, NULL, path, NULL, &p, &e);
    if (rc == STENO_OK) report_opened(r, key, path, m);
    else report_refused(r, key, path, e.text[0] ? e.text : steno_status_text(rc));
    steno_model_close(m);
}

static void report_passed(void *user, const char *path, int status, const char *reason)
{
    (void)status;
    report_refused(user, "model passed over", path, reason);
}

/* Report the model that is used if neither -m nor STENO_MODEL names one. */
static void report_largest(struct report *r)
{
    steno_model *m = NULL;
    struct model_found at = { 0 };
    steno_model_params p;
    steno_model_params_init(&p);
    if (models_open_best(&m, &at, &(struct model_choice){ 0 }, &p, report_passed, r) == STENO_OK) {
        report_opened(r, "default model", at.path ? at.path : "", m);
    } else {
        line(r, "default model", "none; " MODELS_ADVICE);
        problem(r, "no model was found", "");
    }
    steno_model_close(m);
    free(at.path);
    free(at.vocab);
}

/* Report n folders and which of them are missing; `before` is searched earlier. */
static void report_folders(struct report *r, const char *what, const char *before, char *(*folder)(int i), int n)
{
    char value[2048];
    struct stat st;
    size_t at = (size_t)snprintf(value, sizeof value, "%s", before);
    for (int i = 0; i < n; i++) {
        char *dir = folder(i);
        const int missing = dir && (stat(dir, &st) || !S_ISDIR(st.st_mode));
        if (dir && at + strlen(dir) + 16 < sizeof value)
            at += (size_t)snprintf(value + at, sizeof value - at, "%s%s%s", at ? ", " : "", dir, missing ? " (missing)" : "");
        free(dir);
    }
    line(r, what, value);
}

static void report_models(struct report *r)
{
    const char *env = path_typed(getenv("STENO_MODEL"));
    const int named = env && env[0];
    char *demo = models_demo(), *found = named ? models_find(env) : NULL;
    line(r, "STENO_MODEL", named ? env : "not set");
    report_folders(r, "model folders", "", models_folder, N_MODEL_FOLDERS);
    report_folders(r, "voice activity", "fsmn-vad or fsmn-vad.gguf beside the model", vad_place, N_VAD_PLACES);
    if (named) report_model(r, "default model", found ? found : env);
    else report_largest(r);
    if (demo) report_model(r, "demo model", demo);
    else line(r, "demo model", "not installed");
    free(demo);
    free(found);
}

/* Check the folder in which sound from pipes is spooled. */
static void report_temp(struct report *r)
{
    const char *env = getenv("TMPDIR"), *dir = env && env[0] ? env : "/tmp";
    char path[1024];
    const int n = snprintf(path, sizeof path, "%s/.steno-XXXXXX", dir);
    const int fd = n > 0 && n < (int)sizeof path ? mkostemp(path, O_CLOEXEC) : -1;
    if (fd < 0) {
        snprintf(path, sizeof path, "temporary folder %.900s cannot be written", dir);
        problem(r, path, strerror(errno));
    } else {
        unlink(path);
        close(fd);
    }
    line(r, "temporary folder", dir);
}

static void report_problems(struct report *r)
{
    if (r->json) {
        fputs(", \"problems\": [", stdout);
        for (int i = 0; i < r->n_problems; i++) {
            if (i) fputs(", ", stdout);
            print_json(stdout, r->problems[i]);
        }
        puts("]}");
        return;
    }
    for (int i = 0; i < r->n_problems; i++) line(r, "problem", r->problems[i]);
    if (!r->n_problems) line(r, "problems", "none");
}

/* ---- one model file ---------------------------------------------------------------------------------------------------------- */

/* Report the format that the library recognises. @return 1 if it can be read */
static int format_of(const char *path, char *text, size_t n, steno_kind *k)
{
    struct stat st;
    *k = (steno_kind){ .size = sizeof *k };
    const int seen = stat(path, &st) == 0, rc = steno_kind_get(path, k, NULL);
    if (rc != STENO_OK) snprintf(text, n, "%s", seen ? "not readable" : "missing");
    else if (S_ISDIR(st.st_mode)) snprintf(text, n, "folder: %s%s%s", k->file, k->file[0] ? " is " : "", k->what);
    else snprintf(text, n, "%s", k->what);
    return rc == STENO_OK && k->readable;
}

/* The faulty place in the file, from the first words of the reason: "tensor NAME is ...", "header: ...". */
static void place_of(char *out, size_t n, const char *reason)
{
    static const char *const words[] = { "tensor", "header", "vocabulary", "config.json", "config.yaml", "am.mvn", "tokens" };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const size_t k = strlen(words[i]);
        if (strncmp(reason, words[i], k) != 0) continue;
        const size_t name = i == 0 && reason[k] == ' ' ? 1 + strcspn(reason + k + 1, " :,") : 0;
        snprintf(out, n, "%.*s", (int)(k + name), reason);
        return;
    }
    snprintf(out, n, "file");
}

static const char *advice_for(int status)
{
    switch (status) {
    case STENO_EIO: return "check the path and its permissions";
    case STENO_EFORMAT: return "the file is damaged or truncated: download it again and compare its size with that of the original";
    case STENO_EUNSUPPORTED: return "this version cannot use it: use another format of the same model";
    case STENO_ENOVOCAB: return "the model has no vocabulary: give one with --vocab, or put it beside the model";
    case STENO_ENOMEM: return "use a smaller model, or one in a smaller type";
    default: return "";
    }
}

/* advice: a hint for this kind of file, or "" */
static void report_broken(struct report *r, const char *path, int status, const char *reason, const char *advice)
{
    const size_t n = strlen(path);
    char place[256];
    if (strncmp(reason, path, n) == 0 && strncmp(reason + n, ": ", 2) == 0) reason += n + 2;
    place_of(place, sizeof place, reason);
    line(r, "status", steno_status_text(status));
    line(r, "place", place);
    line(r, "cause", reason);
    line(r, "advice", advice[0] ? advice : advice_for(status));
    problem(r, path, reason);
}

static void report_usable(struct report *r, const steno_model *m)
{
    steno_model_info i = { .size = sizeof i };
    char held[32], run[32], text[128];
    steno_model_info_get(m, &i);
    line(r, "status", "opens");
    line(r, "family", i.family);
    line(r, "name", i.name);
    line(r, "weights", i.weight_type);
    size_text(held, sizeof held, i.weight_bytes);
    size_text(run, sizeof run, steno_session_memory(m, NULL, NULL));
    snprintf(text, sizeof text, "%s for the model, %s for a session", held, run);
    line(r, "memory needed", text);
    struct host h;
    host_get(&h);
    const int64_t need = i.weight_bytes + steno_session_memory(m, NULL, NULL);
    if (h.memory_limit > 0 && need > h.memory_limit) problem(r, "memory needed", "is more than the cgroup allows");
}

/* @return exit code */
static int doctor_model(struct report *r, const char *name)
{
    steno_model *m = NULL;
    steno_error e = { 0 };
    struct stat st;
    char size[32], format[512], *vocab = NULL, *path = models_find(name);
    steno_model_params p;
    steno_kind k;
    steno_model_params_init(&p);
    const int readable = format_of(path ? path : name, format, sizeof format, &k);
    line(r, "steno", steno_version());
    line(r, "file", path ? path : name);
    line(r, "format", format);
    if (path && stat(path, &st) == 0 && S_ISREG(st.st_mode)) {
        size_text(size, sizeof size, st.st_size);
        line(r, "size", size);
    }
    const int rc = models_open_file(&m, &vocab, path ? path : name, NULL, &p, &e);
    if (vocab) line(r, "vocabulary", vocab);
    if (rc == STENO_OK) report_usable(r, m);
    else report_broken(r, path ? path : name, rc, e.text[0] ? e.text : steno_status_text(rc), readable ? "" : k.advice);
    steno_model_close(m);
    free(vocab);
    free(path);
    return rc == STENO_OK ? r->n_problems ? EXIT_SOME : EXIT_OK : rc == STENO_ENOMEM ? EXIT_MEMORY : EXIT_MODEL;
}

static int doctor_machine(struct report *r, int measure)
{
    char name[256];
    struct host h;
    machine_name(name, sizeof name);
    host_get(&h);
    line(r, "steno", steno_version());
    line(r, "processor", name);
    report_levels(r, measure);
    report_threads(r, &h);
    report_memory(r, &h);
    line(r, "compiler", __VERSION__);
    report_libraries(r);
    report_decoding(r);
    report_fetching(r);
    report_models(r);
    report_temp(r);
    return r->n_problems ? EXIT_SOME : EXIT_OK;
}

int cmd_doctor(int argc, char **argv)
{
    struct opts o = { 0 };
    struct report r = { 0 };
    int n;
    int code = args_parse(&doctor_args, &o, NULL, argc, argv, &n);
    if (code != ARGS_RUN) return code;
    if (n > 1) return message_usage("doctor takes one model, not %d", n);
    if (n && o.measure) return message_usage("--measure is about this machine: leave out the model");
    r.json = o.json;
    char *path = n ? models_find(argv[0]) : NULL;
    if (n && !path && errno == ENOMEM) {
        message("out of memory while looking for model %s", argv[0]);
        return EXIT_MEMORY;
    }
    code = path ? path_guard_code_read(NULL, "the model", path) : EXIT_OK;
    free(path);
    if (code != EXIT_OK) return code;
    code = n ? doctor_model(&r, argv[0]) : doctor_machine(&r, o.measure);
    report_problems(&r);
    const int flushed = message_flush();
    return flushed != EXIT_OK ? flushed : code;
}
