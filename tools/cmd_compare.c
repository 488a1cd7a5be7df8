/* steno: the verb compare: how far tables of numbers are apart. SPDX-License-Identifier: MIT
 *
 * Two .npy files, or two folders: then those that have one name. */
#include "args.h"
#include "cmd.h"
#include "message.h"
#include "npy_file.h"
#include "path.h"
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct opts { int unused; };

static const struct arg rows[] = { { 0 } };

static const struct args compare_args = { "compare", "A B",
                                          "Print how far the numbers of the .npy file B are from those of A: cosine,\n"
                                          "relative error (length of the difference by length of A), largest difference\n"
                                          "and where. A and B may be folders: files that have one name are compared.\n"
                                          "\"steno --dump DIR\" writes such files.", rows };

/* @return 0, or -1 after a message */
static int load(struct npy *a, const char *path)
{
    FILE *f = fopen(path, "rb");
    uint8_t *bytes = NULL;
    struct stat st;
    const char *bad = NULL;
    *a = (struct npy){ 0 };
    if (!f || fstat(fileno(f), &st)) bad = strerror(errno);
    else if (!S_ISREG(st.st_mode)) bad = "it is no file";
    else if (st.st_size > (off_t)8 * NPY_MOST + 65536) bad = "it is too large";
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
    printf("%s: ", name);
    put_shape(a);
    printf(", cosine %.9f, relative error %.3g, maximum difference %.3g", cosine, aa > 0 ? sqrt(dd / aa) : sqrt(dd), most);
    if (a->n) printf(" at %zu: %.9g, %.9g", at, (double)a->v[at], (double)b->v[at]);
    putchar('\n');
}

/* @return 1: they are compared */
static int compare(const char *name, const char *path_a, const char *path_b)
{
    struct npy a, b = { 0 };
    int ok = load(&a, path_a) == 0 && load(&b, path_b) == 0;
    if (ok && (a.n != b.n || a.n_dims != b.n_dims || memcmp(a.dim, b.dim, sizeof a.dim) != 0)) {
        printf("%s: ", name);
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

static int is_npy(const struct dirent *e)
{
    const size_t n = strlen(e->d_name);
    return n > 4 && strcmp(e->d_name + n - 4, ".npy") == 0;
}

/* *n_bad: those that are not in both, or cannot be compared. @return how many are compared, -1: a folder cannot be read */
static int compare_folders(const char *dir_a, const char *dir_b, int *n_bad)
{
    struct dirent **list;
    const int n = scandir(dir_a, &list, is_npy, alphasort);
    int n_ok = 0;
    if (n < 0) message("%s: %s", dir_a, strerror(errno));
    for (int i = 0; i < n; i++) {
        char *a = path_join(dir_a, list[i]->d_name), *b = path_join(dir_b, list[i]->d_name);
        const int ok = a && b && compare(list[i]->d_name, a, b);
        n_ok += ok;
        *n_bad += !ok;
        free(a);
        free(b);
        free(list[i]);
    }
    if (n >= 0) free(list);
    return n < 0 ? -1 : n_ok;
}

int cmd_compare(int argc, char **argv)
{
    struct opts o;
    struct stat a, b;
    int n, n_bad = 0;
    const int code = args_parse(&compare_args, &o, NULL, argc, argv, &n);
    if (code != ARGS_RUN) return code;
    if (n != 2) return message_usage("compare takes two files or folders, not %d", n);
    const int folders = stat(argv[0], &a) == 0 && stat(argv[1], &b) == 0 && S_ISDIR(a.st_mode) && S_ISDIR(b.st_mode);
    const int n_ok = folders ? compare_folders(argv[0], argv[1], &n_bad) : compare(argv[1], argv[0], argv[1]);
    if (!folders) n_bad = !n_ok;
    const int flushed = message_flush();
    if (flushed != EXIT_OK) return flushed;
    if (n_ok > 0) return n_bad ? EXIT_SOME : EXIT_OK;
    if (folders && !n_bad && n_ok == 0) message("%s has no .npy files", argv[0]);
    return EXIT_INPUT;
}
