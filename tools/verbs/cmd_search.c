/* steno: the verb search: semantic search in transcripts. SPDX-License-Identifier: MIT
 *
 * The score of a line is the cosine of its vector and the query's vector. Lines are embedded a few at a time and only the best are kept.
 * So memory depends on the largest file and not on the number of files. */
#include "cli/message.h"
#include "cmd.h"
#include "findings.h"
#include "input/sound.h"
#include "input/sub_file.h"
#include "input/transcript_lines.h"
#include "options/embed_opts.h"
#include "utf8.h"
#include <stdlib.h>
#include <string.h>

enum { FILE_MAX = 1 << 26, HITS_MAX = 10000 };

struct opts {
    struct engine_opts engine;
    struct embed_opts embed;
    int64_t most;
    int json;
};

#define AT(field) offsetof(struct opts, field)

static const struct arg rows[] = {
    EMBED_MODEL_ROW(struct opts),
    ARG_HEADING("Search"),
    { .name = "top", .letter = 'k', .kind = ARG_INT, .at = AT(most), .value = "N", .dflt = "10", .lo = 1, .hi = HITS_MAX,
      .help = "maximum number of lines, nearest first" },
    EMBED_POOLING_ROW(struct opts),
    ARG_HEADING("Output"),
    { .name = "json", .kind = ARG_FLAG, .at = AT(json), .help = "print an object per line" },
    ENGINE_MACHINE_ROWS(struct opts),
    ARG_HEADING("Messages"),
    ENGINE_QUIET_ROW(struct opts),
    { 0 },
};

const struct args search_args = { "search", "[OPTION]... -m MODEL QUERY FILE...",
                                  "Print SCORE, FILE, TIME and LINE, separated by tabs, for the lines of\n"
                                  "transcripts nearest in meaning to QUERY. FILE is json, jsonl, srt, vtt, ass,\n"
                                  "sbv, lrc, tsv, csv or text; - is standard input.", rows };

struct hit { double score; const char *file; int64_t t0_ms, t1_ms, number; char *text; };

struct search {
    const struct engine *e;
    steno_embed_params p;
    float *query;         /* [width] */
    int width;
    struct hit *hit;      /* [n] best first; equal scores in input order */
    int n, most;
    struct transcript_line line[EMBED_TOGETHER]; /* [n_lines] not yet embedded */
    int n_lines;
    const char *file;     /* file of those lines */
    int64_t n_cut, n_empty; /* truncated lines, and lines without tokens */
};

static int no_memory(void)
{
    message("out of memory for the lines");
    return EXIT_MEMORY;
}

static int fails(const struct search *q, int code)
{
    if (code < EXIT_SIGNAL) message("%s", embed_reason(q->e));
    return code;
}

static double score_of(const struct search *q, const steno_embedding *v)
{
    double sum = 0;
    for (int i = 0; i < q->width; i++) sum += (double)q->query[i] * (double)v->vector[i];
    return sum;
}

/* Insert the line if its score is among the best. */
static int keep(struct search *q, double score, const struct transcript_line *line)
{
    int at = q->n;
    while (at && q->hit[at - 1].score < score) at--;
    if (at == q->most) return EXIT_OK;
    char *text = strdup(line->text);
    if (!text) return no_memory();
    if (q->n == q->most) free(q->hit[--q->n].text);
    memmove(q->hit + at + 1, q->hit + at, (size_t)(q->n - at) * sizeof *q->hit);
    q->hit[at] = (struct hit){ score, q->file, line->t0_ms, line->t1_ms, line->number, text };
    q->n++;
    return EXIT_OK;
}

/* Embed the waiting lines; a line without tokens is left out. */
static int lines_run(struct search *q)
{
    const char *texts[EMBED_TOGETHER];
    int code = EXIT_OK, bad = -1;
    for (int i = 0; i < q->n_lines; i++) texts[i] = q->line[i].text;
    while (q->n_lines && (code = embed_run(q->e, texts, q->n_lines, &q->p, &bad)) == EXIT_SOME && bad >= 0) {
        const size_t behind = (size_t)(--q->n_lines - bad);
        q->n_empty++;
        memmove(texts + bad, texts + bad + 1, behind * sizeof *texts);
        memmove(q->line + bad, q->line + bad + 1, behind * sizeof *q->line);
    }
    if (q->n_lines && code != EXIT_OK) return fails(q, code);
    code = EXIT_OK;
    for (int i = 0; i < q->n_lines && code == EXIT_OK; i++) {
        steno_embedding v = { .size = sizeof v };
        if (steno_embedding_get(q->e->session, i, &v) != STENO_OK) continue;
        q->n_cut += v.is_truncated;
        code = keep(q, score_of(q, &v), &q->line[i]);
    }
    q->n_lines = 0;
    return code;
}

static int do_file(struct search *q, const char *name)
{
    char why[TEXT_FILE_WHY], *text;
    struct transcript_lines l;
    int code = EXIT_OK;
    q->file = strcmp(name, "-") ? name : "standard input";
    switch (sub_file_text(&text, name, FILE_MAX, why, sizeof why)) {
    case TEXT_FILE_READ: break;
    case TEXT_FILE_NO_MEMORY: return no_memory();
    default: message("%s: %s", q->file, why); return EXIT_INPUT;
    }
    transcript_lines_begin(&l, name, text);
    while (code == EXIT_OK && transcript_line_next(&l, &q->line[q->n_lines]))
        if (++q->n_lines == EMBED_TOGETHER) code = lines_run(q);
    if (code == EXIT_OK) code = lines_run(q);
    q->n_lines = 0;
    transcript_lines_end(&l);
    if (code == EXIT_OK && l.has_no_memory) code = no_memory();
    if (code == EXIT_OK && l.is_bad) {
        message("%s: it is not JSON from segment %lld on", q->file, (long long)l.number + 1);
        code = EXIT_INPUT;
    }
    free(text);
    return code;
}

/* Files that cannot be read are reported, and the search continues. */
static int do_files(struct search *q, char **files, int n)
{
    int failed = 0;
    for (int i = 0; i < n; i++) {
        const int code = do_file(q, files[i]);
        if (code != EXIT_OK && code != EXIT_INPUT) return code;
        failed += code != EXIT_OK;
    }
    return failed == n ? EXIT_INPUT : failed ? EXIT_SOME : EXIT_OK;
}

static int take_query(struct search *q, const char *text)
{
    steno_embedding v = { .size = sizeof v };
    int bad;
    const int code = embed_run(q->e, &text, 1, &q->p, &bad);
    if (code == EXIT_SOME && bad >= 0) return message_usage("the query %s", embed_reason(q->e));
    if (code != EXIT_OK) return fails(q, code);
    if (steno_embedding_get(q->e->session, 0, &v) != STENO_OK) return EXIT_MODEL;
    q->width = v.n;
    q->query = malloc((size_t)v.n * sizeof *q->query);
    q->hit = calloc((size_t)q->most + 1, sizeof *q->hit);
    if (!q->query || !q->hit) return no_memory();
    memcpy(q->query, v.vector, (size_t)v.n * sizeof *q->query);
    return EXIT_OK;
}

static void print_ms(const char *key, int64_t ms)
{
    printf(", \"%s\": ", key);
    if (ms < 0) printf("null");
    else print_json_number(stdout, (double)ms / 1000);
}

static int print_object(const struct search *q, const char *query, const struct notes *notes)
{
    printf("{\"query\": ");
    print_json(stdout, query);
    printf(", \"results\": [");
    for (int i = 0; i < q->n; i++) {
        const struct hit *h = &q->hit[i];
        printf("%s{\"score\": %.6f, \"file\": ", i ? ", " : "", h->score);
        print_json(stdout, h->file);
        printf(", \"line\": %lld", (long long)h->number);
        print_ms("start", h->t0_ms);
        print_ms("end", h->t1_ms);
        printf(", \"text\": ");
        print_json(stdout, h->text);
        putchar('}');
    }
    putchar(']');
    sound_notes_json(stdout, notes);
    puts("}");
    return message_flush();
}

static int print_hits(const struct search *q)
{
    for (int i = 0; i < q->n; i++) {
        const struct hit *h = &q->hit[i];
        printf("%.4f\t", h->score);
        print_stripped(stdout, h->file);
        putchar('\t');
        if (h->t0_ms >= 0) print_time(stdout, h->t0_ms);
        else printf("line %lld", (long long)h->number);
        putchar('\t');
        print_stripped(stdout, h->text);
        putchar('\n');
    }
    return message_flush();
}

static int search(const struct engine *e, const struct opts *o, char **argv, int n)
{
    struct search *q = calloc(1, sizeof *q);
    if (!q) return no_memory();
    q->e = e;
    q->most = (int)o->most;
    embed_params(&q->p, &o->embed);
    q->p.normalize = q->p.truncate = 1;
    int code = take_query(q, argv[0]);
    if (code == EXIT_OK) code = do_files(q, argv + 1, n - 1);
    if (code == EXIT_OK || code == EXIT_SOME) {
        struct notes notes = { .n = 0 };
        findings_vectors(&notes, q->n_cut, q->n_empty);
        findings_hits(&notes, q->n);
        const int written = o->json ? print_object(q, argv[0], &notes) : print_hits(q);
        if (!o->engine.quiet && written == EXIT_OK) sound_notes_print(&notes);
        if (written != EXIT_OK) code = written;
    }
    for (int i = 0; i < q->n; i++) free(q->hit[i].text);
    free(q->hit);
    free(q->query);
    free(q);
    return code;
}

int cmd_search(int argc, char **argv)
{
    struct args_given given;
    struct opts o = { .engine.given = &given };
    struct engine e;
    int n;
    int code = args_parse(&search_args, &o, &given, argc, argv, &n);
    if (code != ARGS_RUN) return code;
    if (n < 2) return message_usage("search takes a query, and the files to search");
    const int64_t bad = utf8_invalid_at(argv[0]);
    if (bad >= 0) return message_usage("the query is not valid UTF-8 at byte %lld", (long long)bad);
    for (int i = 1; i < n; i++)
        if ((code = path_guard_code_read(NULL, "an input", argv[i])) != EXIT_OK) return code;
    code = embed_open(&e, &o.engine, "search");
    if (code != EXIT_OK) return code;
    code = search(&e, &o, argv, n);
    engine_close(&e);
    return code;
}
