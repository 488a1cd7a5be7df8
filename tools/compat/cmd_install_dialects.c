/* steno: the verb install-dialects: links that run steno under other programs' names. SPDX-License-Identifier: MIT
 *
 * A link to a file called steno, in any folder, counts as steno's own. Any other file with one of the names is never changed, and no
 * link is made in its place. */
#include "cli/args.h"
#include "cli/message.h"
#include "cmd.h"
#include "compat/compat.h"
#include "path.h"
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct opts {
    int dry_run, remove;
};

#define AT(field) offsetof(struct opts, field)

static const struct arg rows[] = {
    ARG_HEADING("Links"),
    { .name = "dry-run", .kind = ARG_FLAG, .at = AT(dry_run), .help = "only print the actions" },
    { .name = "remove", .kind = ARG_FLAG, .at = AT(remove), .help = "remove such links; other files stay" },
    { 0 },
};

const struct args install_dialects_args = {
    "install-dialects", "[OPTION]... DIR [NAME]...",
    "Make links in the folder DIR by whose names steno accepts the options of other\n"
    "programs: whisper (openai-whisper), whisper-cli (whisper.cpp) and those of\n"
    "FunASR's runtime; with NAMEs only these. Existing files are never changed,\n"
    "except links to steno.", rows };

enum place { FREE, OURS, OTHER_THERE, NO_ROOM };

struct linking {
    const struct opts *o;
    const char *dir;
    char exe[PATH_MAX]; /* this program */
    char *const *names; /* [n] requested names; n 0: all */
    int n;
};

/* Generic names are linked only if the user asks for them. */
static int is_linked(const char *name)
{
    return strcmp(name, "main") != 0 && strcmp(name, "funasr") != 0;
}

static int is_asked(const struct linking *l, const char *name)
{
    for (int i = 0; i < l->n; i++)
        if (strcmp(l->names[i], name) == 0) return 1;
    return l->n == 0 && is_linked(name);
}

static int is_file(const char *a, const char *b)
{
    struct stat x, y;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* What has the name at present. A link to this program, or to another program of the same name, is steno's own. */
static enum place look(const struct linking *l, const char *path)
{
    struct stat st;
    char to[PATH_MAX];
    if (lstat(path, &st)) return errno == ENOENT ? FREE : NO_ROOM;
    const ssize_t n = S_ISLNK(st.st_mode) ? readlink(path, to, sizeof to - 1) : -1;
    if (n < 0) return OTHER_THERE;
    to[n] = '\0';
    const char *slash = strrchr(to, '/'), *own = strrchr(l->exe, '/');
    if (is_file(path, l->exe)) return OURS;
    return strcmp(slash ? slash + 1 : to, own ? own + 1 : l->exe) == 0 ? OURS : OTHER_THERE;
}

/* Target of a link in DIR: the bare name if the program is in the same folder, so that the folder can be moved. */
static const char *target(const struct linking *l)
{
    char own[PATH_MAX];
    const char *slash = strrchr(l->exe, '/');
    snprintf(own, sizeof own, "%.*s", slash && slash > l->exe ? (int)(slash - l->exe) : 1, l->exe);
    return slash && is_file(own, l->dir) ? slash + 1 : l->exe;
}

static int report_error(const char *path)
{
    const int why = errno;
    message("%s: %s", path, strerror(why));
    return why == ENOMEM ? EXIT_MEMORY : EXIT_OUTPUT;
}

static int make(const struct linking *l, const char *path, enum place is)
{
    const char *to = target(l);
    if (is == OURS && is_file(path, l->exe)) {
        printf("%s is there\n", path);
        return EXIT_OK;
    }
    if (!l->o->dry_run && ((is == OURS && unlink(path)) || symlink(to, path))) return report_error(path);
    printf("%s -> %s\n", path, to);
    return EXIT_OK;
}

static int take_away(const struct linking *l, const char *path, enum place is)
{
    if (is == FREE) return EXIT_OK;
    if (is != OURS) {
        message("%s: not a link to steno; it stays", path);
        return EXIT_OK;
    }
    if (!l->o->dry_run && unlink(path)) return report_error(path);
    printf("removed %s\n", path);
    return EXIT_OK;
}

/* Call `what` for every name. @return EXIT_OK, or the exit code to end with, after a message */
static int each(const struct linking *l, int (*what)(const struct linking *l, const char *path, enum place is))
{
    int code = EXIT_OK;
    const struct compat *d;
    for (int i = 0; (d = compat_at(i)) && code == EXIT_OK; i++) {
        if (d->refused || !is_asked(l, d->name)) continue;
        char *path = path_join(l->dir, d->name);
        if (path) code = what(l, path, look(l, path));
        else {
            message("out of memory for the name of a link");
            code = EXIT_MEMORY;
        }
        free(path);
    }
    return code;
}

/* All names are checked before the first link is made. */
static int check_place(const struct linking *l, const char *path, enum place is)
{
    (void)l;
    if (is == NO_ROOM) return report_error(path);
    if (is != OTHER_THERE) return EXIT_OK;
    message("%s: it exists and is not a link to steno: nothing is done (give another folder, or only the names you need)", path);
    return EXIT_OUTPUT;
}

static int check_names(const struct linking *l)
{
    for (int i = 0; i < l->n; i++) {
        const struct compat *d = compat_find(l->names[i]);
        char names[256];
        if (d && !d->refused) continue;
        compat_names(names, sizeof names);
        return message_usage("%s is not a known program; known programs: %s", l->names[i], names);
    }
    return EXIT_OK;
}

/* Warn if PATH has another program of that name first. */
static void report_path(const struct linking *l)
{
    const char *path = getenv("PATH");
    char dir[PATH_MAX], at[PATH_MAX + 64];
    const struct compat *d;
    for (const char *p = path ? path : ""; *p;) {
        const size_t n = strcspn(p, ":");
        snprintf(dir, sizeof dir, "%.*s", n ? (int)n : 1, n ? p : ".");
        if (is_file(dir, l->dir)) return;
        for (int i = 0; (d = compat_at(i)); i++) {
            if (d->refused || !is_asked(l, d->name)) continue;
            snprintf(at, sizeof at, "%s/%s", dir, d->name);
            if (access(at, X_OK) == 0) message("%s comes before it in PATH", at);
        }
        p += n + (p[n] == ':');
    }
    message("%s is not in PATH; this puts it there, until the shell ends: export PATH=\"%s:$PATH\"", l->dir, l->dir);
}

int cmd_install_dialects(int argc, char **argv)
{
    struct opts o;
    struct linking l = { .o = &o };
    struct stat st;
    int n, code = args_parse(&install_dialects_args, &o, NULL, argc, argv, &n);
    if (code != ARGS_RUN) return code;
    if (n < 1) return message_usage("install-dialects takes a folder for its links, such as ~/.local/bin");
    l.dir = argv[0];
    l.names = argv + 1;
    l.n = n - 1;
    code = check_names(&l);
    if (code != EXIT_OK) return code;
    if (stat(l.dir, &st) && errno == ENOENT) {
        message("%s: no such folder; make it first: mkdir -p \"%s\"", l.dir, l.dir);
        return EXIT_OUTPUT;
    }
    if (stat(l.dir, &st)) return report_error(l.dir);
    if (!S_ISDIR(st.st_mode)) return message_usage("%s is not a folder", l.dir);
    const ssize_t len = readlink("/proc/self/exe", l.exe, sizeof l.exe - 1);
    if (len <= 0) return report_error("/proc/self/exe");
    l.exe[len] = '\0';
    if (!o.remove) code = each(&l, check_place);
    if (code == EXIT_OK) code = each(&l, o.remove ? take_away : make);
    if (code == EXIT_OK && !o.remove) report_path(&l);
    const int flushed = message_flush();
    return code == EXIT_OK ? flushed : code;
}
