/* steno tests: the program when memory runs out. SPDX-License-Identifier: MIT
 *
 * Every verb, format and container is run again and again, each time with another allocation refused - that one alone, it and all behind
 * it, or, of large ones only. A run must end with what it prints when there is memory, or with exit code 5, a reason, and no result that
 * is cut short. Long form: every allocation, one kind of refusal after the other, until the time is over. */
#include "attack.h"
#include <signal.h>

#define SHIM STENO_SHIMS "/shim_nomem.so"
#define DEMO "-m models/whisper-digits/whisper-digits.bin "
#define WAV "tests/data/demo.wav "
#define AUDIO "tests/data/audio/"
#define SMALL "-t 1 -q " DEMO
#define FUNASR "../shared/material/funasr/"
#define SILERO_FILE "silero/ggml-silero-v6.2.0.bin"
#define SILERO SILERO_FILE " "
#define NANO FUNASR "models/nano/"

struct attempt {
    const char *args, *in;
    int loose;        /* what it prints differs from run to run, and may be about memory */
    int refused;      /* a wrong use */
    int often;        /* several allocations of it in the short form, too */
    int resumes;      /* what was refused is gone on with afterwards, and then all is there */
    int beginning;    /* and each of the first: names, folders, the model that is looked for */
    const char *need; /* skipped where this file is absent */
};

static const struct attempt attempts[] = {
    { .args = SMALL WAV },
    { .args = SMALL "-f all,verbose_json,jsonl,csv,lrc,wts,ass,score -o @results --word-timestamps " AUDIO "zh_phrases.wav" },
    { .args = SMALL "-f srt --max-line-width 8 --max-line-count 1 --word-timestamps " WAV },
    { .args = SMALL "-f srt,vtt,ass -o @results --style netflix " WAV },
    { .args = "lint-subs --style bbc tests/data/fuzz/subs/vtt" },
    { .args = SMALL "-f json -b 2 " WAV AUDIO "zh_phrases.wav " WAV, .often = 1 },
    { .args = SMALL "-f jsonl -b 3 -o @results " WAV AUDIO "zh_phrases.wav " AUDIO "de.m4a" },
    { .args = SMALL "-f jsonl " AUDIO "de.m4a " WAV "none.wav" },
    { .args = SMALL "--resume -l zh -f json,srt -o @results " WAV AUDIO "zh_phrases.wav", .often = 1, .resumes = 1 },
    { .args = SMALL "--resume -b 2 -l zh -f txt -o @results --output-template {n}-{stem}.{format} :@tests/data/inputs.list",
      .beginning = 1, .resumes = 1 },
    { .args = SMALL "--task both -l zh -f vtt -o @results " AUDIO "zh_phrases.wav", .beginning = 1 },
    { .args = SMALL "--channels split -l de -f json -o @results " AUDIO "de_stereo.ogg" },
    { .args = SMALL "--diarize -l de -f json " AUDIO "de_stereo.ogg" },
    { .args = SMALL "--beam-size 3 -l zh --initial-prompt 五 --hotwords 六 --suppress-regex 七 -f json " AUDIO "zh_phrases.wav" },
    { .args = SMALL "--temperature 0.4 --best-of 2 -l de --carry-initial-prompt --initial-prompt eins -f json " AUDIO "de.opus" },
    { .args = SMALL "--clip-timestamps 0,2,3,5 -l zh -f json " AUDIO "zh_phrases.wav" },
    { .args = SMALL "--chunk-length 2 -b 2 -l zh -f jsonl " AUDIO "zh_phrases.wav" },
    { .args = SMALL AUDIO "de_8k.wav" },
    { .args = SMALL "-l de " AUDIO "de_22k.mp3" },
    { .args = SMALL AUDIO "de_alaw_48k.wav" },
    { .args = SMALL "-l de -f json " AUDIO "de_six.flac" },
    { .args = SMALL "-l de -f json " AUDIO "de_video.mkv" },
    { .args = SMALL "-l de -f srt -o @results " AUDIO "de_video.mp4" },
    { .args = SMALL "-l fr -f json " AUDIO "fr.flac" },
    { .args = SMALL AUDIO "silent_film.mp4" },
    { .args = SMALL "-", .in = WAV },
    { .args = "translate " SMALL "-l zh -f json " AUDIO "zh_phrases.wav" },
    { .args = "--compat whisper-cli -np -t 1 " DEMO "-l zh -bs 1 -ml 3 -ojf -osrt -of @results/zh " AUDIO "zh_phrases.wav",
      .beginning = 1 },
    { .args = "--compat whisper-cli -np -t 1 " DEMO "-l zh -bs 1 -ps -pc " AUDIO "zh_phrases.wav", .often = 1 },
    { .args = "align " SMALL WAV ":zero_nine_one", .often = 1 },
    { .args = "align " SMALL "--json -l en " WAV ":zero_nine_one_eight" },
    { .args = "detect " SMALL "--json " WAV },
    { .args = "detect " SMALL AUDIO "de.m4a" },
    { .args = "stream " SMALL "-l en " WAV, .often = 1 },
    { .args = "stream " SMALL "-l zh --max-turn 3 --step 0.5 --raw s16le " AUDIO "zh_phrases.wav" },
    { .args = "stream " SMALL "-l zh --vad silero --vad-model " FUNASR SILERO AUDIO "zh_phrases.wav", .need = FUNASR SILERO_FILE },
    { .args = "stream -q -t 1 -m " FUNASR "models/sensevoice/pt " AUDIO "zh_phrases.wav", .need = FUNASR "models/sensevoice/pt" },
    { .args = "info -t 1 " DEMO, .loose = 1 },
    { .args = "info -t 1 --plan --json " DEMO, .loose = 1 },
    { .args = "info -m tests/data/base.bin", .loose = 1 },
    { .args = "--compat whisper --threads 1 -o @results --word_timestamps True --language zh "
              "--model models/whisper-digits/whisper-digits.bin " AUDIO "zh_phrases.wav" },
    { .args = "--compat whisper --model nosuchmodel " WAV, .refused = 1 },
    { .args = "-osrt -ml 40 --fp16 False -m nosuchmodel -f " WAV, .refused = 1 },
    { .args = "install-dialects --dry-run tests/data" },
    { .args = "doctor", .loose = 1 },
    { .args = "models list --all --json", .beginning = 1 },
    { .args = "models pull --offline a/b", .beginning = 1 },
    { .args = "models where nosuchmodel", .beginning = 1 },
    { .args = "bench -t 1 --runs 1 " DEMO, .loose = 1 },
    { .args = "--help" }, { .args = "transcribe --help" }, { .args = "--version" },
    { .args = "-q -t 2 -m nosuchmodel " WAV },
    { .args = SMALL "-l en --grammar @digits.gbnf " WAV },
    { .args = "-q -t 1 -m ../shared/material/whisper-digits/hf -l zh -f json " AUDIO "zh_phrases.wav",
      .need = "../shared/material/whisper-digits/hf" },
    { .args = "-q -t 1 -m ../shared/material/whisper-digits/whisper-digits.pt --vocab ../shared/material/whisper-digits/hf " WAV,
      .need = "../shared/material/whisper-digits/whisper-digits.pt" },
    { .args = "vad -t 1 -m " FUNASR "fsmn-vad/pt " FUNASR "audio/vad/sample.wav", .need = FUNASR "fsmn-vad/pt" },
    { .args = "vad -t 1 --json -m " FUNASR "fsmn-vad/pt " FUNASR "audio/vad/sample.wav", .need = FUNASR "fsmn-vad/pt" },
    { .args = SMALL "--vad fsmn --vad-model " FUNASR "fsmn-vad/pt -f json -l zh " AUDIO "zh_phrases.wav", .need = FUNASR "fsmn-vad/pt" },
    { .args = "vad -t 1 -m " FUNASR "fsmn-vad/gguf/fsmn-vad.gguf " FUNASR "audio/vad/sample.wav", .need = FUNASR "fsmn-vad/gguf" },
    { .args = "vad -t 1 -m " FUNASR SILERO FUNASR "audio/vad/sample.wav", .need = FUNASR SILERO_FILE },
    { .args = SMALL "--vad silero --vad-join --vad-model " FUNASR SILERO "-f json -l zh " AUDIO "zh_phrases.wav",
      .need = FUNASR SILERO_FILE },
    { .args = "convert -q " FUNASR "fsmn-vad/pt @results/vad.gguf", .need = FUNASR "fsmn-vad/pt" },
    { .args = "quantize -q " FUNASR "models/sensevoice/gguf/sensevoice-mini.gguf @results/sense.gguf q8_0",
      .need = FUNASR "models/sensevoice/gguf" },
    { .args = "-q -t 1 -m " FUNASR "models/sensevoice/pt -f json " AUDIO "zh_phrases.wav", .need = FUNASR "models/sensevoice/pt" },
    { .args = "-q -t 1 -m " NANO "pt --hotwords seven,alpha -l zh -f json -b 2 " FUNASR "audio/zh_synth.wav " FUNASR "audio/en_george.wav",
      .need = NANO "pt", .often = 1 },
    { .args = "-q -t 1 -m " NANO "gguf/funasr-encoder-mini-q8.gguf --llm " NANO "gguf/qwen3-mini-q8_0.gguf --guards retry "
              "--repetition-penalty 0.05 -f json " FUNASR "audio/zh_synth.wav", .need = NANO "gguf" },
    { .args = "convert -q " NANO "pt @results/nano.gguf", .need = NANO "pt" },
    { .args = "info -t 1 -m " NANO "gguf/funasr-encoder-mini-q8.gguf --llm " NANO "gguf/qwen3-mini-q8_0.gguf", .loose = 1,
      .need = NANO "gguf" },
};

enum { N_ATTEMPTS = sizeof attempts / sizeof *attempts, RESULTS_MAX = 64, BEGINNING = 32 };

/* ---- what a run leaves ------------------------------------------------------------------------------------------------------- */

struct result {
    int code;
    struct bytes out, err;
    struct { char name[64]; struct bytes text; } file[RESULTS_MAX];
    int n_files;
};

static void result_free(struct result *r)
{
    free(r->out.p);
    free(r->err.p);
    for (int i = 0; i < r->n_files; i++) free(r->file[i].text.p);
}

/* Lines of jsonl have the time that an input took: it is left out. */
static void times_forget(struct bytes *b)
{
    for (char *at = b->p; (at = strstr(at, "\"seconds\": ")) != NULL;) {
        char *end = at + strcspn(at, "}\n"), *status = strstr(at, ", \"status\"");
        if (status && status < end) end = status; /* sums have none */
        b->n -= (size_t)(end - at);
        memmove(at, end, strlen(end) + 1);
    }
}

/* fresh: in a folder with nothing in it. */
static struct result run(struct attack *a, const struct attempt *t, char *const *env, int fresh)
{
    struct result r = { 0 };
    const struct attack_path results = attack_at(a, "results");
    char name[320];
    if (fresh) folder_empty(results.s);
    r.code = attack_run(a, t->args, t->in, env);
    r.out = bytes_read(attack_at(a, "out").s);
    times_forget(&r.out);
    r.err = bytes_read(attack_at(a, "err").s);
    DIR *d = opendir(results.s);
    for (struct dirent *e; d && (e = readdir(d)) && r.n_files < RESULTS_MAX;) {
        if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, "..") || !strcmp(e->d_name, ".steno_resume")) continue;
        snprintf(name, sizeof name, "results/%.255s", e->d_name);
        snprintf(r.file[r.n_files].name, sizeof r.file->name, "%.63s", e->d_name);
        r.file[r.n_files].text = bytes_read(attack_at(a, name).s);
        times_forget(&r.file[r.n_files++].text);
    }
    if (d) closedir(d);
    return r;
}

/* ---- judging ----------------------------------------------------------------------------------------------------------------- */

static int equal(const struct bytes *a, const struct bytes *b)
{
    return a->n == b->n && !memcmp(a->p, b->p, a->n);
}

/* Lines of jsonl may say that there was no memory. */
static int tells(const struct bytes *b)
{
    return strstr(b->p, "\"status\": \"error\"") && b->n && b->p[b->n - 1] == '\n';
}

/* Whole lines of the full result, in their order: an input that failed is left out, none is cut. */
static int is_part(const struct bytes *part, const struct bytes *full)
{
    const char *p = part->p, *from = full->p;
    for (size_t n; *p; p += n + 1) {
        n = strcspn(p, "\n");
        if (!p[n]) return 0;
        while (*from && strncmp(from, p, n + 1)) from += strcspn(from, "\n") + 1 <= strlen(from) ? strcspn(from, "\n") + 1 : strlen(from);
        if (!*from) return 0;
        from += n + 1;
    }
    return 1;
}

/* Is this the last line of standard error? */
static int last_said(const struct result *r, const char *line)
{
    const size_t n = strlen(line);
    return r->err.n >= n && !memcmp(r->err.p + r->err.n - n, line, n) && (r->err.n == n || r->err.p[r->err.n - n - 1] == '\n');
}

/* Other libraries end the process without memory, and no caller can prevent it:
 * glibc's loader ends the process where a library that is loaded late (FFmpeg's) needs thread-local data (dl-tls.c, oom), and where one
 * has symbols that are to be unique in a process, as libstdc++ has, which FFmpeg's bring along, and their table cannot grow (dl-lookup.c,
 * do_lookup_unique). FFmpeg's decoders of Vorbis and AAC do not look whether they got memory. */
static int not_ours(const struct result *r)
{
    if (r->code == 127)
        return last_said(r, "out of memory\n") || last_said(r, "cannot allocate memory for thread-local data: ABORT\n");
    return r->code == -SIGSEGV && strstr(r->err.p, "crash in libavcodec.so.");
}

static const char *fault(const struct result *r, const struct result *full, const struct attempt *t)
{
    static char text[200];
    if (not_ours(r)) return NULL;
    if (t->loose && r->code == 1 && (strstr(r->out.p, "memory") || strstr(r->err.p, "memory"))) return NULL;
    if (r->code < 0) return r->code == -SIGALRM ? "it hangs" : "it crashes";
    if (r->code != full->code && r->code != 5) return "a wrong exit code";
    const int failed = r->code == 5 && full->code != 5;
    if (failed && !strstr(r->err.p, "memory") && !strstr(r->err.p, "cannot start thread")) return "it does not say why";
    for (int i = 0, k; i < r->n_files; i++) {
        for (k = 0; k < full->n_files && strcmp(full->file[k].name, r->file[i].name); k++) {}
        if (k < full->n_files && (equal(&r->file[i].text, &full->file[k].text) || (failed && tells(&r->file[i].text)))) continue;
        snprintf(text, sizeof text, "the file %s %s", r->file[i].name, k < full->n_files ? "differs" : "is left behind");
        return text;
    }
    if (!failed && r->n_files != full->n_files) return "files are missing";
    if (t->loose) return NULL;
    if (!failed && !equal(&r->out, &full->out)) return "standard output differs";
    if (failed && !is_part(&r->out, &full->out) && !tells(&r->out)) return "standard output is cut";
    return NULL;
}

static void tell(struct attack *a, const struct attempt *t, const struct result *r, char *const *env, const char *why)
{
    a->findings++;
    printf("FINDING: %s (exit %d): LD_PRELOAD=%s", why, r->code, SHIM);
    for (int i = 1; env[i]; i++) printf(" %s", env[i]);
    printf(" steno %s\n", t->args);
    if (r->err.n) printf("    stderr: %.*s\n", (int)strcspn(r->err.p, "\n"), r->err.p);
}

/* ---- attacking --------------------------------------------------------------------------------------------------------------- */

/* The kinds of refusal. */
static const struct kind { const char *name; long least; } kinds[] = { { "NOMEM_AT", 0 }, { "NOMEM_FROM", 0 }, { "NOMEM_AT", 1 << 15 } };

enum { N_KINDS = sizeof kinds / sizeof *kinds };

static char preload[600], count_to[600], which[64], least[64];

/* Run whole, and count. @return allocations of that kind */
static long count(struct attack *a, const struct attempt *t, struct result *full, long of_size)
{
    snprintf(least, sizeof least, "NOMEM_LEAST=%ld", of_size);
    char *env[] = { preload, least, count_to, NULL };
    *full = run(a, t, env, 1);
    struct bytes text = bytes_read(attack_at(a, "count").s);
    const long n = atol(text.p);
    free(text.p);
    return n;
}

static void refuse(struct attack *a, const struct attempt *t, const struct result *full, const struct kind *k, long n)
{
    snprintf(which, sizeof which, "%s=%ld", k->name, n);
    snprintf(least, sizeof least, "NOMEM_LEAST=%ld", k->least);
    char *env[] = { preload, which, least, NULL };
    struct result r = run(a, t, env, 1);
    const char *why = fault(&r, full, t);
    if (why) tell(a, t, &r, env, why);
    result_free(&r);
    if (!t->resumes) return;
    r = run(a, t, NULL, 0);
    why = r.code == 5 ? "it cannot be gone on with" : fault(&r, full, t);
    if (why) tell(a, t, &r, env, why);
    result_free(&r);
}

/* An attempt with all its memory. */
struct whole {
    struct result full;
    long n; /* allocations */
};

/* Refuse every `step`-th allocation of attempt t, from one that `pass` chooses on. */
static void attack(struct attack *a, const struct attempt *t, const struct kind *k, struct whole *w, long step, long first)
{
    if (a->until && attack_now() >= a->until) return;
    if (!w->n) w->n = count(a, t, &w->full, k->least);
    if (w->n == 0 && t == attempts && !k->least) tell(a, t, &w->full, (char *[]){ preload, NULL }, "nothing is counted");
    if (w->full.code == 2 && !t->refused) tell(a, t, &w->full, (char *[]){ preload, NULL }, "it is refused with all memory");
    if (w->full.code < 0 || w->full.code == 5) tell(a, t, &w->full, (char *[]){ preload, NULL }, "it fails with all memory");
    for (long at = 1; t->beginning && !a->until && at <= BEGINNING; at++) refuse(a, t, &w->full, k, at);
    if (!step) step = t->often ? w->n / 4 + 1 : w->n + 1;
    const long mod = step < w->n ? step : w->n > 0 ? w->n : 1;
    for (long at = 1 + first % mod; at <= w->n && (!a->until || attack_now() < a->until); at += step) refuse(a, t, &w->full, k, at);
}

/* In the long form passes of STEP go over all attempts, so that every part is seen soon and every allocation after STEP of them. */
int main(int argc, char **argv)
{
    enum { STEP = 61, MIX = 23 };
    static struct whole whole[N_KINDS][N_ATTEMPTS];
    struct attack a;
    const char *only = getenv("ONLY"); /* the number of one attempt */
    if (STENO_SANITIZED || access(SHIM, R_OK)) {
        printf("skipped: a sanitizer has its own malloc, which nothing can be put in front of\n");
        return 77;
    }
    attack_begin(&a, argc, argv);
    snprintf(preload, sizeof preload, "LD_PRELOAD=%s", SHIM);
    snprintf(count_to, sizeof count_to, "NOMEM_COUNT=%s", attack_at(&a, "count").s);
    static const char grammar[] = "root ::= (\" \" word [.]?)+\nword ::= \"zero\" | \"nine\" | \"one\" | \"eight\" | \"two\" | \"seven\"\n";
    bytes_write(attack_at(&a, "digits.gbnf").s, grammar, sizeof grammar - 1);
    const long begin = (long)attack_random(&a, STEP);
    for (int pass = 0; pass < (a.until ? STEP : 1); pass++)
        for (int k = 0; k < (a.until ? N_KINDS : 1); k++)
            for (int i = 0; i < N_ATTEMPTS; i++) {
                const struct attempt *t = &attempts[i];
                if ((t->need && access(t->need, R_OK)) || (only && atoi(only) != i)) continue;
                const long first = a.until ? (begin + pass * MIX) % STEP : (long)attack_random(&a, 1 << 16);
                attack(&a, t, &kinds[k], &whole[k][i], a.until ? STEP : 0, first);
            }
    for (int i = 0; i < N_KINDS * N_ATTEMPTS; i++) result_free(&whole[i / N_ATTEMPTS][i % N_ATTEMPTS].full);
    return attack_end(&a);
}
