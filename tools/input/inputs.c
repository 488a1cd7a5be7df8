/* steno: expansion of operands to inputs. SPDX-License-Identifier: MIT */
#include "input/inputs.h"
#include "cli/message.h"
#include "cli/text_file.h"
#include "input/sound.h"
#include "path.h"
#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

enum {
    DEPTH_MAX = 32,
    NAME_BYTES_MAX = 1 << 16,       /* bytes of a list's line; no path or URL is as long */
    INPUTS_MAX = 1 << 21,     /* inputs of a run; their names take about 200 MB */
    LINES_MAX = (1 << 23) + 1 /* lines of a list, including empty lines and comments */
};

/* Endings of sound files; other files in a folder are skipped. */
static const char *const endings[] = { "wav", "mp3", "flac", "m4a", "ogg", "opus", "oga", "aac", "wma", "aiff", "aif", "amr", "ac3", "caf",
                                       "mka", "w64", "mp4", "mkv", "mov", "webm", "avi", "m4v", "mpg", "mpeg", "ts", "3gp", "wmv", "flv",
                                       "m4b", "mp2", "au" };

static int no_memory(void)
{
    message("out of memory for the names of inputs");
    return EXIT_MEMORY;
}

static int add(struct inputs *in, const char *name)
{
    if (in->n == INPUTS_MAX) {
        message("there are more than %d inputs: give them in parts", INPUTS_MAX);
        return EXIT_INPUT;
    }
    if (in->n == in->cap) {
        const int cap = in->cap ? 2 * in->cap : 64;
        char **more = realloc(in->file, (size_t)cap * sizeof *more);
        if (!more) return no_memory();
        in->file = more;
        in->cap = cap;
    }
    in->file[in->n] = strdup(name);
    return in->file[in->n] && ++in->n ? EXIT_OK : no_memory();
}

static int is_sound(const char *name)
{
    const char *dot = strrchr(name, '.');
    for (size_t i = 0; dot && i < sizeof endings / sizeof *endings; i++)
        if (strcasecmp(dot + 1, endings[i]) == 0) return 1;
    return 0;
}

static int is_folder(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* Folders that were visited, because links may form loops. */
struct seen {
    struct { dev_t dev; ino_t ino; } *folder; /* [n] */
    int n, cap;
};

/* @return 1: new, 0: already visited, -1: out of memory */
static int enter(struct seen *s, const char *folder)
{
    struct stat st;
    if (stat(folder, &st)) return 1; /* the error is reported when the input is opened */
    for (int i = 0; i < s->n; i++)
        if (s->folder[i].dev == st.st_dev && s->folder[i].ino == st.st_ino) return 0;
    if (s->n == s->cap) {
        const int cap = s->cap ? 2 * s->cap : 64;
        void *more = realloc(s->folder, (size_t)cap * sizeof *s->folder);
        if (!more) return -1;
        s->folder = more;
        s->cap = cap;
    }
    s->folder[s->n].dev = st.st_dev;
    s->folder[s->n++].ino = st.st_ino;
    return 1;
}

/* Add the sound files of a folder; its subfolders go to *below. */
static int add_folder(struct inputs *in, struct inputs *below, const char *folder)
{
    struct dirent **entry;
    const int n = scandir(folder, &entry, NULL, alphasort);
    if (n < 0) {
        message("%s: %s", folder, strerror(errno));
        return errno == ENOMEM ? EXIT_MEMORY : EXIT_INPUT;
    }
    int code = EXIT_OK;
    for (int i = 0; i < n; i++) {
        const char *name = entry[i]->d_name;
        char *path = name[0] != '.' && code == EXIT_OK ? path_join(folder, name) : NULL;
        if (name[0] != '.' && code == EXIT_OK && !path) code = no_memory();
        if (path && is_folder(path)) code = below ? add(below, path) : EXIT_OK;
        else if (path && is_sound(name)) code = add(in, path);
        free(path);
        free(entry[i]);
    }
    free(entry);
    return code;
}

/* Add the sound files of all folders of one level; their subfolders go to *below. */
static int add_level(struct inputs *in, struct inputs *below, const struct inputs *level, struct seen *seen)
{
    int code = EXIT_OK;
    for (int i = 0; i < level->n && code == EXIT_OK; i++) {
        const int is_new = enter(seen, level->file[i]);
        if (is_new) code = is_new < 0 ? no_memory() : add_folder(in, below, level->file[i]);
    }
    return code;
}

/* Add a folder and, with `recursive`, all folders below it, level by level. */
static int add_tree(struct inputs *in, const char *folder, int recursive)
{
    struct inputs level = { 0 };
    struct seen seen = { 0 };
    const int before = in->n;
    int code = add(&level, folder);
    for (int depth = 0; code == EXIT_OK && level.n && depth < DEPTH_MAX; depth++) {
        struct inputs below = { 0 };
        code = add_level(in, recursive ? &below : NULL, &level, &seen);
        inputs_free(&level);
        level = below;
    }
    if (code == EXIT_OK && level.n) {
        message("%s: it lies more than %d folders deep in %s; give it by itself", level.file[0], DEPTH_MAX - 1, folder);
        code = EXIT_INPUT;
    }
    inputs_free(&level);
    free(seen.folder);
    if (code == EXIT_OK && in->n == before) return add(in, folder); /* the error is then reported for the folder */
    return code;
}

static int add_pattern(struct inputs *in, const char *pattern)
{
    glob_t found;
    errno = 0;
    const int none = glob(pattern, 0, NULL, &found);
    if (none == GLOB_NOSPACE) globfree(&found);
    if (none && (none == GLOB_NOSPACE || errno == ENOMEM)) return no_memory();
    if (none) return add(in, pattern); /* the error is then reported for a missing file */
    int code = EXIT_OK;
    for (size_t i = 0; i < found.gl_pathc && code == EXIT_OK; i++) code = add(in, found.gl_pathv[i]);
    globfree(&found);
    return code;
}

static int add_one(struct inputs *in, const char *name, int recursive)
{
    struct stat st;
    if (is_folder(name)) return add_tree(in, name, recursive);
    if (!strstr(name, "://") && strpbrk(name, "*?[") && stat(name, &st)) return add_pattern(in, name);
    return add(in, name);
}

/* Report why a list cannot be read. */
static int list_failed(const char *list, enum text_file how, const char *why)
{
    const char *hint = how == TEXT_FILE_UNREADABLE ? "" : how == TEXT_FILE_TOO_LONG ? ", and no name is" : ": it is not a list of names";
    if (how == TEXT_FILE_NO_MEMORY) return no_memory();
    message("%s: %s%s", sound_name(list), why, hint);
    return EXIT_INPUT;
}

/* Trailing blanks of a line belong to the name only if such a file exists. */
static void cut_blanks(char *line, size_t n)
{
    struct stat st;
    if (n && strchr(" \t", line[n - 1]) && stat(line, &st))
        while (n && strchr(" \t", line[n - 1])) line[--n] = '\0';
}

/* Add the lines of a file; empty lines and lines that begin with # are skipped. */
static int add_list(struct inputs *in, const char *list, int recursive)
{
    struct text_lines lines;
    char why[TEXT_FILE_WHY], *line = NULL;
    int code = EXIT_OK;
    enum text_file how = text_lines_open(&lines, list, 1, NAME_BYTES_MAX, why, sizeof why);
    while (code == EXIT_OK && how == TEXT_FILE_READ) {
        how = text_lines_next(&lines, &line, why, sizeof why);
        if (how != TEXT_FILE_READ || !line) break;
        cut_blanks(path_typed(line), strlen(line));
        if (line[0] && line[0] != '#') code = add_one(in, line, recursive);
        if (code == EXIT_OK && lines.number == LINES_MAX) {
            message("%s: has more than %d lines: give it in parts", sound_name(list), LINES_MAX - 1);
            code = EXIT_INPUT;
        }
    }
    text_lines_close(&lines);
    return code == EXIT_OK && how != TEXT_FILE_READ ? list_failed(list, how, why) : code;
}

int inputs_expand(struct inputs *in, char **operands, int n, int recursive)
{
    struct stat st;
    int code = EXIT_OK;
    *in = (struct inputs){ 0 };
    for (int i = 0; i < n && code == EXIT_OK; i++) {
        const char *name = path_typed(operands[i]);
        if (name[0] == '@' && name[1] && stat(name, &st)) code = add_list(in, name + 1, recursive);
        else code = add_one(in, name, recursive);
    }
    if (code == EXIT_OK && n && !in->n) {
        message("no input: the list is empty");
        return EXIT_USAGE;
    }
    return code;
}

void inputs_free(struct inputs *in)
{
    for (int i = 0; i < in->n; i++) free(in->file[i]);
    free(in->file);
    *in = (struct inputs){ 0 };
}
