/* steno tests: damaged models. SPDX-License-Identifier: MIT
 *
 * Files of every form are damaged - bits, lengths, cuts, pieces put elsewhere - where there is structure rather than weights, and opened by
 * a child: nothing may crash, hang, take memory without measure, or be refused without a message that names the file; what still opens has
 * to run. Some go through the program, too, which has to end with 3 or 0. Usage: attack_models [SECONDS [SEED]] */
#include "attack.h"
#include <signal.h>
#include <steno/steno.h>
#include <sys/resource.h>

enum { SHORT_CASES = 480, CPU_SECONDS = STENO_SANITIZED ? 60 : 5, PROGRAM_EVERY = 50, FILES_MAX = 5, ROOM_KB = 32 << 10, FILE_TIMES = 8,
       REFUSED = 3, BAD = 97, SESSION_MAX = 16 << 20 };

/* A model: its files, of which one at a time is damaged. dir is below the source folder, or below STENO_SHARED where it begins with '+'. */
static const struct seed {
    const char *dir, *file[FILES_MAX + 1];
    const char *vocab_of; /* the damaged file is a vocabulary for this model */
    int is_folder, index_only;
} seeds[] = {
    { "tests/data", { "base.bin" }, NULL, 0, 0 },
    { "tests/data/kquants", { "random.bin" }, NULL, 0, 0 },
    { "+material/repro", { "align_hang.bin" }, NULL, 0, 0 },
    { "+material/bad/good", { "base.pt" }, NULL, 0, 0 },
    { "+material/bad/good", { "base.safetensors" }, NULL, 0, 0 },
    { "+material/bad/good", { "base.gguf" }, NULL, 0, 0 },
    { "+material/funasr/fsmn-vad/pt", { "model.pt", "config.yaml", "am.mvn", "configuration.json" }, NULL, 1, 0 },
    { "+material/funasr/fsmn-vad/safetensors", { "model.safetensors", "config.json" }, NULL, 1, 0 },
    { "+material/funasr/models/sensevoice/pt", { "model.pt", "config.yaml", "tokens.json", "mini.bpe.model", "am.mvn" }, NULL, 1, 0 },
    { "+material/funasr/models/paraformer/pt", { "model.pt", "config.yaml", "tokens.json", "am.mvn" }, NULL, 1, 0 },
    { "+material/funasr/models/paraformer/gguf", { "paraformer-mini-q8.gguf" }, NULL, 0, 0 },
    { "tests/data/gguf", { "sensevoice.gguf" }, NULL, 0, 0 },
    { "tests/data/gguf", { "vad.gguf" }, NULL, 0, 0 },
    { "+material/whisper-digits/hf", { "tokenizer.json" }, "+material/whisper-digits/whisper-digits.pt", 0, 1 },
    { "+material/whisper-digits/hf", { "vocab.json" }, "+material/whisper-digits/whisper-digits.pt", 0, 1 },
    { "+material/repro", { "tiny.tiktoken" }, "+material/whisper-digits/whisper-digits.pt", 0, 1 },
};
enum { N_SEEDS = sizeof seeds / sizeof *seeds };

struct model_source { char path[1200], mutant[1200], model[1200], vocab[1200]; };

/* ---- damage -------------------------------------------------------------------------------------------------------------------- */

/* A place with text around it, or near an end: there is structure. */
static size_t pick(struct attack *a, const struct bytes *b)
{
    size_t at = 0;
    if (!b->n) return 0;
    const uint64_t how = attack_random(a, 8);
    if (how == 0) return attack_random(a, b->n);
    if (how == 1) return attack_random(a, b->n < 64 ? b->n : 64);
    if (how == 2) return b->n - 1 - attack_random(a, b->n < 256 ? b->n : 256);
    for (int i = 0; i < 40; i++) {
        int n_text = 0;
        at = attack_random(a, b->n);
        for (size_t k = at; k < b->n && k < at + 16; k++) n_text += b->p[k] >= ' ' && b->p[k] <= '~';
        if (n_text >= 12) break;
    }
    return at;
}

static uint64_t odd_number(struct attack *a, uint64_t size)
{
    const uint64_t v[] = { 0, 1, 2, 0x7f, 0x80, 0xff, 0x7fff, 0xffff, 1 << 16, 1 << 20, (1 << 20) + 1, 0x7fffffff, 0x80000000u, 0xffffffffu,
                           UINT64_C(1) << 32, UINT64_C(1) << 40, UINT64_C(1) << 62, UINT64_MAX / 2, UINT64_MAX, size, size - 1, size + 1,
                           size / 2, attack_random(a, 1 << 30), attack_random(a, 300) };
    return v[attack_random(a, sizeof v / sizeof *v)];
}

/* Replace n bytes at `at` by m others; the buffer has room. */
static void replace(struct bytes *b, size_t at, size_t n, const void *with, size_t m)
{
    memmove(b->p + at + m, b->p + at + n, b->n - at - n);
    if (m) memcpy(b->p + at, with, m);
    b->n += m - n;
}

/* b has room for 4096 bytes more. */
static void damage(struct attack *a, struct bytes *b)
{
    static const char *const sign[] = { "[[[[[[[[[[[[[[[[[[[[", "{\"a\":", "\\u0000", "\"", ": &a *a", "- - - - - - - -", "\xff\xff",
                                        "}}}}", "1e999", "nan", "\n\n---\n", "!!int ", "../../x", "PK\3\4", "u.", "\x95" };
    char piece[2048];
    size_t at = pick(a, b), n = attack_random(a, 64) + 1;
    if (n > b->n - at) n = b->n - at;
    switch (attack_random(a, 8)) {
    case 0:
    case 1: /* bits */
        for (uint64_t i = attack_random(a, 4) + 1; i && b->n; i--, at = pick(a, b))
            b->p[at] = (char)(b->p[at] ^ (1 << attack_random(a, 8)));
        break;
    case 2: /* a length in binary */
    case 3: {
        const uint64_t v = odd_number(a, b->n), width = attack_random(a, 2) ? 8 : 4;
        if (attack_random(a, 2)) at -= at % 4;
        for (uint64_t i = 0; i < width && at + i < b->n; i++) b->p[at + i] = (char)(v >> 8 * i);
        break;
    }
    case 4: { /* a number in text */
        while (at < b->n && (b->p[at] < '0' || b->p[at] > '9')) at++;
        for (n = 0; at + n < b->n && b->p[at + n] >= '0' && b->p[at + n] <= '9' && n < 30;) n++;
        const int m = snprintf(piece, sizeof piece, attack_random(a, 4) ? "%llu" : "-%llu", (unsigned long long)odd_number(a, b->n));
        replace(b, at, n, piece, (size_t)m);
        break;
    }
    case 5: /* a cut, nearly always of a little */
        if (attack_random(a, 3)) replace(b, at, n, NULL, 0);
        else b->n = attack_random(a, b->n + 1);
        break;
    case 6: /* a piece again, elsewhere */
        n = attack_random(a, sizeof piece) + 1;
        if (n > b->n - at) n = b->n - at;
        memcpy(piece, b->p + at, n);
        at = pick(a, b);
        replace(b, at, attack_random(a, 2) && at + n <= b->n ? n : 0, piece, n);
        break;
    default: /* signs that mean something */
        n = (size_t)snprintf(piece, sizeof piece, "%s", sign[attack_random(a, sizeof sign / sizeof *sign)]);
        replace(b, at, 0, piece, n);
        break;
    }
}

/* ---- one damaged model --------------------------------------------------------------------------------------------------------- */

static void use(const steno_model *m)
{
    static float pcm[3200];
    steno_session *s = NULL;
    steno_model_info info = { .size = sizeof info };
    for (int i = 0; i < 3200; i++) pcm[i] = (float)(i * 37 % 201 - 100) / 200;
    steno_model_info_get(m, &info);
    if (steno_session_memory(m, NULL, NULL) > SESSION_MAX || steno_session_open(&s, m, NULL, NULL, NULL)) return;
    steno_transcribe_params p;
    steno_transcribe_params_init(&p);
    if (info.n_text_ctx) p.sample_len = 4;
    if (steno_transcribe(s, pcm, 3200, &p) && !*steno_last_error(s)) {
        fprintf(stderr, "a run failed without a reason");
        _exit(BAD);
    }
    steno_session_close(s);
}

/* In the child: open, run, and say on standard error what is wrong with how it went. */
static void open_and_use(const struct seed *s, const struct model_source *at)
{
    steno_model *m = NULL;
    steno_error e = { 0 };
    steno_model_params p;
    steno_model_params_init(&p);
    p.index_only = s->index_only;
    p.vocab = s->vocab_of ? at->vocab : NULL;
    const int rc = steno_model_open(&m, at->path, &p, &e);
    if (!rc) {
        if (!s->index_only) use(m);
        steno_model_close(m);
        _exit(0);
    }
    const int is_about_the_model = rc == STENO_EFORMAT || rc == STENO_EUNSUPPORTED || rc == STENO_ENOVOCAB;
    const char *name = s->vocab_of ? at->vocab : at->path;
    if (is_about_the_model && rc == e.status && e.text[0] && (strstr(e.text, name) || strstr(e.text, at->path))) _exit(REFUSED);
    fprintf(stderr, "status %d \"%s\"", rc, e.text);
    _exit(BAD);
}

struct ended { int code, signal; long rss_kb; char text[1200]; };

static struct ended try_open(const struct seed *s, const struct model_source *at)
{
    struct ended r = { 0 };
    struct rusage used;
    int fd[2], status;
    fflush(stdout);
    const int piped = pipe(fd);
    const pid_t id = piped ? -1 : fork();
    if (!id) {
        const struct rlimit cpu = { CPU_SECONDS, CPU_SECONDS }, core = { 0, 0 };
        setrlimit(RLIMIT_CPU, &cpu);
        setrlimit(RLIMIT_CORE, &core);
        alarm(10 * CPU_SECONDS);
        dup2(fd[1], 2);
        open_and_use(s, at);
    }
    if (id < 0) {
        perror("attack");
        exit(1);
    }
    close(fd[1]);
    size_t n = 0;
    for (ssize_t got = 1; got > 0 && n + 1 < sizeof r.text; n += got > 0 ? (size_t)got : 0)
        got = read(fd[0], r.text + n, sizeof r.text - 1 - n);
    close(fd[0]);
    wait4(id, &status, 0, &used);
    r.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    r.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    r.rss_kb = used.ru_maxrss;
    return r;
}

/* ---- the attack ---------------------------------------------------------------------------------------------------------------- */

static int source_path(char out[1200], const char *dir, const char *name)
{
    const char *shared = getenv("STENO_SHARED");
    const char *slash = name ? "/" : "", *tail = name ? name : "";
    if (dir[0] != '+') snprintf(out, 1200, "%.400s/%.300s%s%.200s", STENO_SOURCE_DIR, dir, slash, tail);
    else snprintf(out, 1200, "%.400s/%.300s%s%.200s", shared ? shared : "/none", dir + 1, slash, tail);
    return access(out, R_OK) == 0;
}

/* The model's files in the attack's folder m/, file `which` to be written. @return 0: it is not on this machine */
static int lay_out(const struct attack *a, const struct seed *s, int which, struct model_source *at)
{
    char from[1200];
    folder_empty(attack_at(a, "m").s);
    for (int i = 0; s->file[i]; i++) {
        if (!source_path(from, s->dir, s->file[i])) return 0;
        snprintf(at->mutant, sizeof at->mutant, "%s/m/%s", a->dir, s->file[i]);
        if (i != which && symlink(from, at->mutant)) return 0;
    }
    if (strstr(s->dir, "fsmn-vad/safetensors")) { /* whose mean and variance stand elsewhere */
        snprintf(at->mutant, sizeof at->mutant, "%s/m/am.mvn", a->dir);
        if (!source_path(from, "+material/funasr/fsmn-vad/pt", "am.mvn") || symlink(from, at->mutant)) return 0;
    }
    snprintf(at->mutant, sizeof at->mutant, "%s/m/%s", a->dir, s->file[which]);
    snprintf(at->vocab, sizeof at->vocab, "%s", at->mutant);
    snprintf(at->path, sizeof at->path, s->is_folder ? "%s/m" : "%s/m/%s", a->dir, s->file[which]);
    return !s->vocab_of || source_path(at->path, s->vocab_of, NULL);
}

static void finding(struct attack *a, const struct seed *s, int which, const struct bytes *b, const char *what, const char *detail)
{
    char kept[200];
    snprintf(kept, sizeof kept, "/tmp/steno-damaged-%d-%ld-%.100s", (int)getpid(), a->findings++, s->file[which]);
    bytes_write(kept, b->p, b->n);
    printf("FINDING: %s: %s (%s instead of %s/%s%s%s)\n", what, detail, kept, s->dir, s->file[which], s->vocab_of ? ", vocabulary of " : "",
           s->vocab_of ? s->vocab_of : "");
}

/* The same through the program: it must agree with the library. */
static void by_program(struct attack *a, const struct seed *s, int which, const struct bytes *b, const struct model_source *at, int refused)
{
    char args[2000], detail[300];
    if (s->vocab_of) snprintf(args, sizeof args, "info -q %.900s --vocab %.900s", at->path, at->vocab);
    else snprintf(args, sizeof args, "info -q %.900s", at->path);
    const int code = attack_run(a, args, NULL, NULL);
    const struct bytes err = bytes_read(attack_at(a, "err").s);
    const int names = strstr(err.p, s->vocab_of ? at->vocab : at->path) || strstr(err.p, at->path);
    snprintf(detail, sizeof detail, "exit code %d, %.200s", code, err.p);
    if ((code != 0 && code != REFUSED) || (refused && code != REFUSED) || (code && !names)) finding(a, s, which, b, "program", detail);
    free(err.p);
}

static void one(struct attack *a, const struct seed *s, int which, const struct bytes *whole, const struct model_source *at, long base_kb)
{
    char detail[100];
    struct bytes b = { malloc(whole->n + 8 * 4096), whole->n };
    if (!b.p) exit(1);
    memcpy(b.p, whole->p, whole->n);
    for (uint64_t i = attack_random(a, 3) + 1; i; i--) damage(a, &b);
    bytes_write(at->mutant, b.p, b.n);
    const struct ended r = try_open(s, at);
    snprintf(detail, sizeof detail, "%ld KiB, undamaged %ld KiB, a file of %zu bytes", r.rss_kb, base_kb, b.n);
    if (r.signal == SIGXCPU || r.signal == SIGALRM || r.signal == SIGKILL) finding(a, s, which, &b, "hangs", "");
    else if (r.signal) finding(a, s, which, &b, "crash", strsignal(r.signal));
    else if (r.code != 0 && r.code != REFUSED) finding(a, s, which, &b, "refusal", r.text);
    else if (!STENO_SANITIZED && r.rss_kb > base_kb + ROOM_KB + (long)(FILE_TIMES * b.n / 1024)) finding(a, s, which, &b, "memory", detail);
    else if (a->runs % PROGRAM_EVERY == 0) by_program(a, s, which, &b, at, r.code == REFUSED);
    a->runs++;
    free(b.p);
}

/* `most` damaged copies of each file of a model. @return 1: it is here */
static int attack_seed(struct attack *a, const struct seed *s, int most)
{
    struct model_source at;
    for (int which = 0; s->file[which]; which++) {
        if (!lay_out(a, s, which, &at)) return 0;
        char from[1200];
        source_path(from, s->dir, s->file[which]);
        struct bytes whole = bytes_read(from);
        bytes_write(at.mutant, whole.p, whole.n);
        const struct ended base = try_open(s, &at);
        if (base.signal || base.code == BAD) finding(a, s, which, &whole, "undamaged", base.text);
        for (int i = 0; i < most; i++) one(a, s, which, &whole, &at, base.rss_kb);
        free(whole.p);
    }
    return 1;
}

int main(int argc, char **argv)
{
    struct attack a;
    int n_here = 0;
    attack_begin(&a, argc, argv);
    mkdir(attack_at(&a, "m").s, 0700);
    signal(SIGPIPE, SIG_IGN);
    do {
        n_here = 0;
        for (int i = 0; i < N_SEEDS; i++) n_here += attack_seed(&a, &seeds[i], SHORT_CASES / N_SEEDS / 2);
    } while (a.until && attack_now() < a.until);
    folder_empty(attack_at(&a, "m").s);
    rmdir(attack_at(&a, "m").s);
    printf("%d of %d models were here\n", n_here, (int)N_SEEDS);
    return attack_end(&a);
}
