/* steno: answers of a language model: printed as they are generated, as objects, and many in parallel. SPDX-License-Identifier: MIT */
#include "verbs/lm_answers.h"
#include "cli/message.h"
#include "cli/option_names.h"
#include "cli/signals.h"
#include "cli/text_file.h"
#include "findings.h"
#include "input/sound.h"
#include "json_scan.h"
#include "models/engine.h"
#include "models/host.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- while an answer is generated -------------------------------------------------------------------------------------------- */

struct lm_stream lm_stream_begin(int is_silent)
{
    return (struct lm_stream){ .is_silent = is_silent };
}

int lm_stream_token(void *user, const steno_token *tok, const char *text, size_t n)
{
    struct lm_stream *out = user;
    (void)tok;
    if (!n || out->is_silent) return 0;
    fwrite(text, 1, n, stdout);
    out->ends_line = text[n - 1] == '\n';
    return fflush(stdout) != 0; /* the reader is gone: stop generating; the next flush returns the reason */
}

void lm_stream_end(const struct lm_stream *out)
{
    if (!out->is_silent && !out->ends_line) putchar('\n');
}

/* ---- prompts of a file, in parallel ------------------------------------------------------------------------------------------ */

enum { FILE_MAX = 1 << 28, PROMPTS_MAX = 1 << 20 };

struct prompt {
    const char *text;       /* points into the file's text */
    int32_t *ids;
    int n, code, done;
    char *line;             /* the printed form of its answer */
    size_t n_line;
};

struct many {
    const struct lm_many *m;
    const steno_model *model;
    steno_batch *batch;
    char *text;             /* text of the file */
    struct prompt *prompt;
    int n, cap;
    int next, out;          /* first prompt that was not started; first prompt that was not printed */
    steno_session **slot;   /* [n_slots] */
    int *at;                /* [n_slots] prompt of each slot, -1: none */
    int n_slots, code;
    steno_generate_params p;
};

static int no_memory(void)
{
    message("out of memory for the prompts");
    return EXIT_MEMORY;
}

/* ---- the file ---------------------------------------------------------------------------------------------------------------- */

static int add(struct many *w, const char *text)
{
    if (w->n == PROMPTS_MAX) {
        message("%s: has more than %d prompts: give them in parts", strcmp(w->m->file, "-") ? w->m->file : "standard input", PROMPTS_MAX);
        return EXIT_INPUT;
    }
    if (w->n == w->cap) {
        const int cap = 2 * w->cap + 64;
        struct prompt *more = realloc(w->prompt, (size_t)cap * sizeof *more);
        if (!more) return no_memory();
        w->prompt = more;
        w->cap = cap;
    }
    w->prompt[w->n++] = (struct prompt){ .text = text };
    return EXIT_OK;
}

/* Add the lines that are not empty, in place. */
static int add_lines(struct many *w)
{
    int code = EXIT_OK;
    for (char *line = w->text, *end; line && code == EXIT_OK; line = end) {
        end = strchr(line, '\n');
        if (end) *end++ = '\0';
        const size_t n = strlen(line);
        if (n && line[n - 1] == '\r') line[n - 1] = '\0';
        if (*line) code = add(w, line);
    }
    return code;
}

static int wrong_json(const struct many *w)
{
    message("%s: value %d is neither a JSON string nor an object with a string \"prompt\"", w->m->file, w->n + 1);
    return EXIT_INPUT;
}

/* Read the string "prompt" of an object that has begun. */
static int add_object(struct many *w, struct json_scan *j)
{
    const char *prompt = NULL;
    for (int is_prompt = 0; j->depth;) {
        const enum json_piece piece = json_scan_next(j);
        if (piece == JSON_PIECE_BAD || piece == JSON_PIECE_END) return wrong_json(w);
        if (piece == JSON_PIECE_TEXT && is_prompt) prompt = j->s;
        is_prompt = piece == JSON_PIECE_KEY && j->depth == 1 && !strcmp(j->s, "prompt");
    }
    return prompt ? add(w, prompt) : wrong_json(w);
}

static int add_json(struct many *w)
{
    struct json_scan j;
    int code = EXIT_OK;
    json_scan_begin(&j, w->text);
    while (code == EXIT_OK) {
        const enum json_piece piece = json_scan_next(&j);
        if (piece == JSON_PIECE_END) return EXIT_OK;
        if (piece == JSON_PIECE_TEXT) code = add(w, j.s);
        else code = piece == JSON_PIECE_OPEN && !j.is_list[0] ? add_object(w, &j) : wrong_json(w);
    }
    return code;
}

static int read_prompts(struct many *w)
{
    char why[TEXT_FILE_WHY];
    const char *file = w->m->file, *dot = strrchr(file, '.');
    switch (text_file_read(&w->text, file, 1, FILE_MAX, why, sizeof why)) {
    case TEXT_FILE_READ: break;
    case TEXT_FILE_NO_MEMORY: return no_memory();
    default: message("%s: %s", strcmp(file, "-") ? file : "standard input", why); return EXIT_INPUT;
    }
    const int code = dot && !strcmp(dot, ".jsonl") ? add_json(w) : add_lines(w);
    if (code != EXIT_OK || w->n) return code;
    message("%s: it has no prompt", file);
    return EXIT_INPUT;
}

/* ---- answers ----------------------------------------------------------------------------------------------------------------- */

void lm_print_ids(FILE *f, const steno_session *s)
{
    int n;
    const int32_t *ids = steno_generated(s, &n);
    for (int i = 0; i < n; i++) fprintf(f, "%s%d", i ? " " : "", (int)ids[i]);
    putc('\n', f);
}

static void print_list(FILE *f, const char *name, const int32_t *ids, int n)
{
    fprintf(f, "\"%s\": [", name);
    for (int i = 0; i < n; i++) fprintf(f, "%s%d", i ? ", " : "", (int)ids[i]);
    fputs("], ", f);
}

struct notes lm_notes(const steno_model *m, const steno_session *s, int n_prompt)
{
    struct notes notes = { .n = 0 };
    steno_model_info i = { .size = sizeof i };
    int made;
    (void)steno_generated(s, &made);
    steno_model_info_get(m, &i);
    findings_answer(&notes, steno_generated_text(s), (enum steno_finish)steno_generate_finish(s), n_prompt, made, i.n_text_ctx);
    return notes;
}

void lm_print_object(FILE *f, const steno_model *m, const steno_session *s, const int32_t *prompt, int n_prompt, uint64_t seed, int index)
{
    int n;
    const int32_t *ids = steno_generated(s, &n);
    steno_timings t = { .size = sizeof t };
    steno_timings_get(s, &t);
    putc('{', f);
    if (index >= 0) fprintf(f, "\"index\": %d, ", index);
    fputs("\"text\": ", f);
    print_json(f, steno_generated_text(s));
    fprintf(f, ", \"finish_reason\": \"%s\", ", lm_finish(s));
    print_list(f, "prompt_ids", prompt, n_prompt);
    print_list(f, "ids", ids, n);
    fputs("\"logprobs\": [", f);
    for (int i = 0; i < n; i++) {
        steno_token tok = { .size = sizeof tok };
        steno_generated_get(s, i, &tok);
        fputs(i ? ", " : "", f);
        print_json_number(f, (double)tok.logprob);
    }
    fprintf(f, "], \"seed\": %llu, \"timings\": {\"load_ms\": %.3f, \"prompt_tokens\": %d, \"reused\": %lld, \"prompt_ms\": %.3f, ",
            (unsigned long long)seed, (double)t.load_us / 1e3, n_prompt, (long long)t.n_reused, (double)t.prompt_us / 1e3);
    fprintf(f, "\"tokens\": %d, \"decode_ms\": %.3f, \"drafted\": %lld, \"accepted\": %lld, \"draft_ms\": %.3f}", n,
            (double)t.decode_us / 1e3, (long long)t.n_drafted, (long long)t.n_accepted, (double)t.draft_us / 1e3);
    struct notes notes = lm_notes(m, s, n_prompt);
    sound_notes_json(f, &notes);
    fputs("}\n", f);
}

/* Make the output line of a finished prompt. status: as returned by steno_generate; why: the reason of a failure */
static void make_line(struct many *w, int at, const steno_session *s, int status, const char *why)
{
    struct prompt *p = &w->prompt[at];
    char reported[OPTION_TEXT_SZ];
    if (status < 0) why = option_reason(reported, w->m->given, why);
    FILE *f = open_memstream(&p->line, &p->n_line);
    p->done = 1;
    if (status < 0 && status != STENO_ECANCELED) {
        message("prompt %d: %s", at + 1, why);
        p->code = status == STENO_ENOMEM ? EXIT_MEMORY : status == STENO_EARG ? EXIT_USAGE : EXIT_MODEL;
        if (w->code == EXIT_OK) w->code = p->code;
    }
    if (!f) {
        w->code = no_memory();
        return;
    }
    if (p->code != EXIT_OK && w->m->ids) putc('\n', f);
    else if (p->code != EXIT_OK) {
        fprintf(f, "{\"index\": %d, \"error\": ", at);
        print_json(f, why);
        fputs("}\n", f);
    } else if (w->m->ids) lm_print_ids(f, s);
    else lm_print_object(f, w->model, s, p->ids, p->n, w->p.seed, at);
    if (fclose(f)) w->code = no_memory();
}

/* Print finished lines, up to the first unfinished prompt. */
static void put_lines(struct many *w)
{
    for (; w->out < w->n && w->prompt[w->out].done; w->out++) {
        struct prompt *p = &w->prompt[w->out];
        fwrite(p->line, 1, p->n_line, stdout);
        free(p->line);
        free(p->ids);
        p->line = NULL;
        p->ids = NULL;
    }
    if (fflush(stdout) && w->code == EXIT_OK) w->code = message_flush();
}

/* Submit the next valid prompt to slot k. */
static void submit_next(struct many *w, int k)
{
    steno_session *s = w->slot[k];
    w->at[k] = -1;
    while (w->next < w->n && w->code != EXIT_MEMORY && !signals_pending()) {
        const int at = w->next++;
        struct prompt *p = &w->prompt[at];
        steno_request_params r;
        steno_request_params_init(&r);
        p->code = lm_make_prompt(&p->ids, &p->n, w->model, w->m->o, w->m->raw, p->text);
        r.ids = p->ids;
        r.n_ids = p->n;
        r.generate = &w->p;
        steno_timings_reset(s);
        const int rc = p->code == EXIT_OK ? steno_batch_submit(w->batch, s, NULL, &r) : STENO_EARG;
        w->at[k] = at;
        if (rc == STENO_OK) return;
        make_line(w, at, s, rc, p->code == EXIT_OK ? steno_last_error(s) : "the prompt has no tokens");
        w->at[k] = -1;
    }
}

static void done(void *user, steno_session *s, int status)
{
    struct many *w = user;
    int k = 0;
    while (w->slot[k] != s) k++;
    make_line(w, w->at[k], s, status, steno_last_error(s));
    submit_next(w, k);
    put_lines(w);
}

/* ---- the run ----------------------------------------------------------------------------------------------------------------- */

/* Does the batch fit into memory? */
static int check_memory(const struct many *w, const struct engine *e, const steno_batch_params *bp)
{
    struct host h;
    host_get(&h);
    const int64_t need = steno_batch_memory(w->model, e->team, bp);
    const int64_t have = h.memory_limit && (!h.available || h.memory_limit < h.available) ? h.memory_limit : h.available;
    if (need < 0 || !have || need <= have) return EXIT_OK;
    message("--batch-size %d needs %lld MB, and %lld MB are free: a smaller --ctx-size needs less", (int)bp->max_windows,
            (long long)(need >> 20), (long long)(have >> 20));
    return EXIT_MEMORY;
}

static int open_slots(struct many *w, struct engine *e)
{
    steno_batch_params bp;
    steno_session_params sp;
    steno_error err = { 0 };
    steno_batch_params_init(&bp);
    steno_session_params_init(&sp);
    bp.max_windows = w->m->at_a_time < w->n ? w->m->at_a_time : w->n;
    bp.user = w;
    bp.on_done = done;
    bp.draft_model = e->draft;
    int code = check_memory(w, e, &bp);
    if (code == EXIT_OK) code = engine_batch(e, &bp);
    if (code != EXIT_OK) return code;
    sp.batch = w->batch = e->batch;
    w->slot = calloc((size_t)bp.max_windows, sizeof *w->slot);
    w->at = calloc((size_t)bp.max_windows, sizeof *w->at);
    if (!w->slot || !w->at) return no_memory();
    for (; w->n_slots < bp.max_windows && code == EXIT_OK; w->n_slots++) {
        const int rc = steno_session_open(&w->slot[w->n_slots], w->model, e->team, &sp, &err);
        if (rc) return message_model_error(NULL, rc, err.text);
    }
    return EXIT_OK;
}

static int run(struct many *w)
{
    signals_defer(1);
    for (int k = 0; k < w->n_slots; k++) submit_next(w, k);
    put_lines(w);
    steno_batch_run(w->batch);
    const int code = message_flush();
    if (signals_pending()) return EXIT_SIGNAL + signals_pending();
    return w->code != EXIT_OK ? w->code : code;
}

int lm_many_run(struct engine *e, const struct lm_many *m)
{
    struct many w = { .m = m, .model = e->model, .code = EXIT_OK, .p = *m->p };
    w.p.should_abort = signals_stop;
    int code = read_prompts(&w);
    if (code == EXIT_OK) code = open_slots(&w, e);
    if (code == EXIT_OK) code = run(&w);
    for (int k = 0; k < w.n_slots; k++) steno_session_close(w.slot[k]);
    for (int i = 0; i < w.n; i++) {
        free(w.prompt[i].ids);
        free(w.prompt[i].line);
    }
    free(w.prompt);
    free(w.slot);
    free(w.at);
    free(w.text);
    return code;
}
