/* steno: keys of inputs. SPDX-License-Identifier: MIT */
#include "input/resume_keys.h"
#include "fnv.h"
#include "out_name.h"
#include "path.h"
#include "stamp.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char kept[] = ".steno_resume"; /* in the output folder */
enum { ENDS = 1 << 14 /* bytes that are hashed at each end of an input */ };

/* A hash of both ends of a file. */
static uint64_t hash_ends(const char *file, off_t size)
{
    char bytes[ENDS];
    uint64_t h = FNV_BASIS;
    const int fd = open(file, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return h;
    ssize_t n = pread(fd, bytes, sizeof bytes, 0);
    if (n > 0) h = fnv(h, bytes, (size_t)n);
    n = size > ENDS ? pread(fd, bytes, sizeof bytes, size - ENDS) : 0;
    if (n > 0) h = fnv(h, bytes, (size_t)n);
    close(fd);
    return h;
}

int resume_is_kept(const struct resume *r, const char *file, struct stat *st)
{
    return r->dir && strcmp(file, "-") != 0 && stat(file, st) == 0 && S_ISREG(st->st_mode);
}

char *resume_folder_of(const struct resume *r, const char *file)
{
    char *dir = out_folder(r->dir, file), *folder = dir ? path_join(dir, kept) : NULL;
    free(dir);
    return folder;
}

char *resume_path_of(const struct resume *r, const char *file, int track, int channel)
{
    char name[64], of_track[16] = "", *whole = realpath(file, NULL);
    if (!whole && errno == ENOMEM) return NULL; /* without memory the name would differ */
    char *folder = resume_folder_of(r, file);
    const char *name_key = whole ? whole : file;
    if (track > 1) snprintf(of_track, sizeof of_track, ".t%d", track);
    snprintf(name, sizeof name, "%016llx%s.%d", (unsigned long long)fnv(FNV_BASIS, name_key, strlen(name_key)), of_track,
             channel == JOB_MIX ? 0 : channel + 1);
    char *path = folder ? path_join(folder, name) : NULL;
    free(folder);
    free(whole);
    return path;
}

char *resume_name_of(const struct out_naming *naming, const char *file, int format)
{
    struct out_naming bare = *naming;
    bare.dir = bare.mark = bare.date = bare.time = NULL;
    return out_names_one(NULL, &bare, file, format, NULL);
}

char *resume_key_of(const struct resume *r, const char *file, const struct stat *st)
{
    char about[160];
    snprintf(about, sizeof about, "input %lld bytes, of %lld.%09ld, ends %016llx\n", (long long)st->st_size, (long long)st->st_mtim.tv_sec,
             st->st_mtim.tv_nsec, (unsigned long long)hash_ends(file, st->st_size));
    char *key = malloc(strlen(about) + strlen(r->run) + 1);
    if (key) strcpy(stpcpy(key, about), r->run);
    return key;
}

const char *resume_difference_of(const char *word)
{
    static const struct { const char *word, *what; } part[] = {
        { "input", "the file has changed" }, { "steno", "it was another version of steno" }, { "model", "it was another model" },
        { "processor", "it was another processor, or --compute" },
    };
    for (size_t i = 0; i < sizeof part / sizeof *part; i++)
        if (strcmp(word, part[i].word) == 0) return part[i].what;
    return "it was with other options";
}

const char *resume_difference(const char *ours, const char *theirs)
{
    char word[STAMP_WORD_SZ];
    while (*ours) {
        const size_t n = strcspn(ours, "\n"), m = strcspn(theirs, "\n");
        if (n != m || strncmp(ours, theirs, n) != 0) break;
        ours += n + (ours[n] == '\n');
        theirs += m + (theirs[m] == '\n');
    }
    snprintf(word, sizeof word, "%.*s", (int)strcspn(ours, " \n"), ours);
    return resume_difference_of(word);
}
