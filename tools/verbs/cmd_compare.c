/* steno: the verb compare: differences of arrays or of texts. SPDX-License-Identifier: MIT
 *
 * Compares two .npy files, two texts or transcripts, or the files with equal names of two folders. */
#include "cli/args.h"
#include "cli/message.h"
#include "cli/npy_file.h"
#include "cmd.h"
#include "input/sub_file.h"
#include "input/transcript_lines.h"
#include "path.h"
#include "verbs/text_errors.h"
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

struct opts { int unused; };

static const struct arg rows[] = { { 0 } };

const struct args compare_args = { "compare", "A B",
                                   "Compare the numbers of the .npy file B with those of A: cosine, relative error\n"
                                   "(norm of the difference by norm of A), the largest difference and its place.\n"
                                   "\"steno --dump DIR\" writes such files. For texts and transcripts (txt, srt, vtt,\n"
                                   "ass, sbv, lrc, tsv, csv, json), A the reference and B the recogniser's output,\n"
                                   "print the error rates of characters and words (CER, WER), without case and\n"
                                   "punctuation; - is standard input.\n"
                                   "A and B may be folders: files with the same name are compared.", rows };

/* @return 0, or -1 after a message */
static int load(struct npy *a, const char *path)
{
    FILE *f = fopen(path, "rb");
    uint8_t *bytes = NULL;
    struct stat st;
    const char *bad = NULL;
    *a = (struct npy){ 0 };
    if (!f || fstat(fileno(f), &st)) bad = strerror(errno);
    else if (!S_ISREG(st.st_mode)) bad = "it is not a file";
    else if (st.st_size > (off_t)8 * NPY_MAX + 65536) bad = "it is too large";
    else if (!(bytes = malloc((size_t)st.st_size + 1))) bad = "out of memory";
    else if (fread(bytes, 1, (size_t)st.st_size, f) != (size_t)st.st_size) bad = "it cannot be read";
    else bad = npy_read(a, bytes, (size_t)st.st_size);
    if (bad) message("%s: %s", path, bad);
    if (f) fclose(f);
    free(bytes);
    return bad ? -1 : 0;
}

static void put_shape(const struct npy *a)
{
    for (int i = 0; i < a->n_dims; i++) printf("%s%lld", i ? " x " : "", (long long)a->dim[i]);
    if (!a->n_dims) fputs("1", stdout);
}

static void put_distance(const char *name, const struct npy *a, const struct npy *b)
{
    double ab = 0, aa = 0, bb = 0, dd = 0, most = 0;
    size_t at = 0;
    for (size_t i = 0; i < a->n; i++) {
        const double x = (double)a->v[i], y = (double)b->v[i], d = fabs(x - y);
        ab += x * y, aa += x * x, bb += y * y, dd += (x - y) * (x - y);
        if (d > most || isnan(d)) most = d, at = i;
    }
    const double cosine = aa > 0 && bb > 0 ? ab / sqrt(aa) / sqrt(bb) : aa == bb ? 1 : 0;
    print_name(stdout, name, 0);
    fputs(": ", stdout);
    put_shape(a);
    printf(", cosine %.9f, relative error %.3g, maximum difference %.3g", cosine, aa > 0 ? sqrt(dd / aa) : sqrt(dd), most);
    if (a->n) printf(" at %zu: %.9g, %.9g", at, (double)a->v[at], (double)b->v[at]);
    putchar('\n');
}

/* ---- texts ---------------------------------------------------------------------------------------------------------------------- */

static int is_called(const char *name, const char *end)
{
    const size_t n = strlen(name), m = strlen(end);
    return n > m && strcasecmp(name + n - m, end) == 0;
}

/* For the files of a folder. */
static int is_transcript(const char *name)
{
    static const char *const ends[] = { ".txt", ".tsv", ".csv", ".json", ".jsonl" };
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (is_called(name, ends[i])) return 1;
    return sub_form_named(name) != SUB_NONE;
}

/* Decide by the name, else by the first bytes: a file that is not an array is text. */
static int is_npy(const char *path)
{
    char head[6] = "";
    if (is_called(path, ".npy")) return 1;
    struct stat st;
    if (is_transcript(path) || stat(path, &st) || !S_ISREG(st.st_mode)) return 0;
    FILE *f = fopen(path, "rb");
    const size_t n = f ? fread(head, 1, sizeof head, f) : 0;
    if (f) fclose(f);
    return n == sizeof head && !memcmp(head, "\x93NUMPY", sizeof head);
}

/* The text of a transcript, in malloc'd memory; NULL after a message. */
static char *text_of(const char *path)
{
    enum { MOST = 1 << 26 };
    char why[TEXT_FILE_WHY], *file = NULL;
    const char *reason, *name = strcmp(path, "-") ? path : "standard input";
    if (sub_file_text(&file, path, MOST, why, sizeof why) != TEXT_FILE_READ) {
        message_file(name, why);
        return NULL;
    }
    char *text = transcript_lines_text(path, file, &reason);
    free(file);
    if (!text) message("%s: %s", name, reason ? reason : "out of memory");
    return text;
}

static void put_rate(const char *name, const struct text_errors *e)
{
    const long long wrong = e->more + e->less + e->others;
    printf("%s %.2f %% (%lld more, %lld less, %lld others of %lld)", name,
           wrong ? 100.0 * (double)wrong / (double)(e->units ? e->units : 1) : 0.0, e->more, e->less, e->others, e->units);
}

static void put_rates(const char *name, const struct text_errors e[TEXT_ERRORS])
{
    print_name(stdout, name, 0);
    fputs(": ", stdout);
    put_rate("CER", &e[TEXT_ERRORS_CHARACTERS]);
    put_rate(", WER", &e[TEXT_ERRORS_WORDS]);
    putchar('\n');
}

/* Add the errors to all[TEXT_ERRORS]. */
static int compare_texts(const char *name, const char *path_a, const char *path_b, struct text_errors *all)
{
    struct text_errors e[TEXT_ERRORS] = { { 0 } };
    char *a = text_of(path_a), *b = a ? text_of(path_b) : NULL;
    const char *why = b ? text_errors_add(e, a, b) : "";
    if (why && *why) message("%s: %s", name, why);
    if (!why) put_rates(name, e);
    for (int k = 0; k < TEXT_ERRORS && !why; k++) {
        all[k].units += e[k].units;
        all[k].more += e[k].more;
        all[k].less += e[k].less;
        all[k].others += e[k].others;
    }
    free(a);
    free(b);
    return !why;
}

/* ---- both kinds ----------------------------------------------------------------------------------------------------------------- */

/* @return 1 if they were compared */
static int compare(const char *name, const char *path_a, const char *path_b, struct text_errors *all)
{
    if (!is_npy(path_a) && !is_npy(path_b)) return compare_texts(name, path_a, path_b, all);
    struct npy a, b = { 0 };
    int ok = load(&a, path_a) == 0 && load(&b, path_b) == 0;
    if (ok && (a.n != b.n || a.n_dims != b.n_dims || memcmp(a.dim, b.dim, sizeof a.dim) != 0)) {
        print_name(stdout, name, 0);
        fputs(": ", stdout);
        put_shape(&a);
        fputs(" and ", stdout);
        put_shape(&b);
        puts(" cannot be compared");
        ok = 0;
    } else if (ok) put_distance(name, &a, &b);
    free(a.v);
    free(b.v);
    return ok;
}

static int is_either(const struct dirent *e)
{
    return is_called(e->d_name, ".npy") || is_transcript(e->d_name);
}

/* *n_bad: files that are in one folder only, or cannot be compared. @return the number of files compared, -1 if a folder cannot be read */
static int compare_folders(const char *dir_a, const char *dir_b, int *n_bad)
{
    struct dirent **list;
    const int n = scandir(dir_a, &list, is_either, alphasort);
    struct text_errors all[TEXT_ERRORS] = { { 0 } };
    int n_ok = 0, n_texts = 0;
    if (n < 0) message("%s: %s", dir_a, strerror(errno));
    for (int i = 0; i < n; i++) {
        char *a = path_join(dir_a, list[i]->d_name), *b = path_join(dir_b, list[i]->d_name);
        const int ok = a && b && compare(list[i]->d_name, a, b, all);
        n_ok += ok;
        n_texts += ok && is_transcript(list[i]->d_name);
        *n_bad += !ok;
        free(a);
        free(b);
        free(list[i]);
    }
    if (n >= 0) free(list);
    if (n_texts > 1) put_rates("all", all);
    return n < 0 ? -1 : n_ok;
}

int cmd_compare(int argc, char **argv)
{
    struct opts o;
    struct stat a, b;
    struct text_errors sum[TEXT_ERRORS] = { { 0 } };
    int n, n_bad = 0;
    const int code = args_parse(&compare_args, &o, NULL, argc, argv, &n);
    if (code != ARGS_RUN) return code;
    if (n != 2) return message_usage("compare takes two files or folders, not %d", n);
    if (!strcmp(argv[0], "-") && !strcmp(argv[1], "-")) return message_usage("compare reads standard input for one of the two");
    const int folders = stat(argv[0], &a) == 0 && stat(argv[1], &b) == 0 && S_ISDIR(a.st_mode) && S_ISDIR(b.st_mode);
    const int n_ok = folders ? compare_folders(argv[0], argv[1], &n_bad) : compare(argv[1], argv[0], argv[1], sum);
    if (!folders) n_bad = !n_ok;
    const int flushed = message_flush();
    if (flushed != EXIT_OK) return flushed;
    if (n_ok > 0) return n_bad ? EXIT_SOME : EXIT_OK;
    if (folders && !n_bad && n_ok == 0) message("%s has no .npy files and no transcripts", argv[0]);
    return EXIT_INPUT;
}
