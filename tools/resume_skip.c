/* steno: skip inputs that already have results. SPDX-License-Identifier: MIT */
#include "message.h"
#include "out_name.h"
#include "path.h"
#include "resume_keys.h"
#include "sound.h"
#include "stamp.h"
#include "writers.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Check one result file; frees `path`. @return the worse of `worst` and its own enum stamp_found, -1 if out of memory. `word` receives
 * the differing part of the worst */
static int look_at(int worst, char *path, const char *key, char word[STAMP_WORD_SZ])
{
    char other[STAMP_WORD_SZ];
    const int found = path ? (int)stamp_look(path, key, other) : -1;
    free(path);
    if (found < 0 || worst < 0) return -1;
    if (found > worst) memcpy(word, other, sizeof other);
    return found > worst ? found : worst;
}

/* Check the files that a journal names. @return as for look_at */
static int look_at_names(const struct resume *r, const char *file, const struct journal *j, const char *key, char word[STAMP_WORD_SZ])
{
    char *dir = out_folder(r->dir, file);
    int worst = dir ? STAMP_SAME : -1;
    if (!j->n || j->data[j->n - 1]) worst = STAMP_MISSING; /* every name must end with NUL */
    for (size_t at = 0; worst != STAMP_MISSING && worst >= 0 && at < j->n; at += strlen(j->data + at) + 1)
        worst = look_at(worst, path_join(dir, j->data + at), key, word);
    free(dir);
    return worst;
}

/* Check the results of an input at the names they would get, if these can be known; else at the names they had. @return as for look_at */
static int look_at_results(const struct resume *r, const char *file, int place, const struct journal *j, const char *key,
                           char word[STAMP_WORD_SZ])
{
    static const char *const decide[] = { "{language}", "{date}", "{time}" };
    struct out_naming of = *r->naming;
    int worst = STAMP_SAME;
    of.index = place;
    for (size_t i = 0; i < sizeof decide / sizeof *decide; i++)
        if (of.mark || out_template_has(of.template, decide[i])) return look_at_names(r, file, j, key, word);
    for (int f = 0; f < N_WRITERS && worst >= 0; f++)
        if (of.formats >> f & 1) worst = look_at(worst, out_names_one(NULL, &of, file, f, ""), key, word);
    return worst;
}

/* Why existing results are written again. */
struct again {
    int n[STAMP_MISSING + 1]; /* number of inputs by enum stamp_found */
    char word[STAMP_WORD_SZ]; /* the differing part of the first input with STAMP_OTHER */
};

/* An input is finished if its results carry the key, also after a run without --resume. It is also finished if a journal records that
 * and no result carries another key. @return 1, 0, or -1 if out of memory */
static int is_finished(const struct resume *r, const char *file, int place, struct again *again)
{
    struct stat st;
    struct journal j = { .fd = -1 };
    char word[STAMP_WORD_SZ] = "";
    if (!resume_is_kept(r, file, &st)) return 0;
    char *path = resume_path_of(r, file, 0, JOB_MIX), *key = resume_key_of(r, file, &st);
    errno = ENOMEM;
    const int kept_as = path && key ? journal_read(&j, path, key) : -1;
    const int no_memory = kept_as < 0 && errno == ENOMEM;
    const int found = no_memory ? -1 : look_at_results(r, file, place, &j, key, word);
    const int is = found < 0 ? -1 : found == STAMP_SAME || (found == STAMP_NONE && kept_as == JOURNAL_DONE);
    if (!is && found == STAMP_OTHER && !again->n[found]) memcpy(again->word, word, sizeof word);
    if (!is) again->n[found]++;
    journal_close(&j);
    free(path);
    free(key);
    return is;
}

static void tell_again(const struct resume *r, const struct again *a, int n)
{
    if (r->quiet) return;
    if (a->n[STAMP_OTHER])
        message("%d of %d inputs have results of another run (%s%s): they are written again", a->n[STAMP_OTHER], n,
                a->n[STAMP_OTHER] > 1 ? "of the first " : "", resume_difference_of(a->word));
    if (a->n[STAMP_CHANGED])
        message("%d of %d inputs have results that were changed or damaged since: they are written again", a->n[STAMP_CHANGED], n);
    if (a->n[STAMP_NONE])
        message("%d of %d inputs have results without a record of their origin (copies, another program's, an older version's, or a file "
                "system without extended attributes): they are written again", a->n[STAMP_NONE], n);
}

int resume_skip(struct resume *r, char **files, int *place, int *n)
{
    int left = 0;
    struct again again = { .word = "" };
    if (!r->dir || !r->wanted) return EXIT_OK;
    for (int i = 0; i < *n; i++) {
        const int is = is_finished(r, files[i], place[i], &again);
        if (is < 0) {
            message("out of memory for resume data of %s", sound_name(files[i]));
            return EXIT_MEMORY;
        }
        if (is) continue;
        files[left] = files[i];
        place[left++] = place[i];
    }
    r->n_finished = *n - left;
    if (left < *n && !r->quiet) message("%d of %d inputs were finished before", *n - left, *n);
    tell_again(r, &again, *n);
    *n = left;
    return EXIT_OK;
}
