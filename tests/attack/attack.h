/* steno tests: what the attacks on the program share. SPDX-License-Identifier: MIT
 *
 * Running the program with its output in files, and looking at what it left. An attack prints what it did and a line for every finding,
 * with what repeats it. Without arguments it takes a few seconds and always does the same; with SECONDS [SEED] it goes on for so long. */
#ifndef STENO_TESTS_ATTACK_H
#define STENO_TESTS_ATTACK_H
#include <dirent.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ARGS_MAX = 64, RUN_SECONDS = 60 };

struct attack {
    char dir[64];      /* of its own: out, err, count, results/ */
    uint64_t random;
    double until;      /* on the clock below; 0: the short form */
    long runs, findings;
};

struct bytes {
    char *p; /* ends with a NUL behind n bytes */
    size_t n;
};

static inline double attack_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline uint64_t attack_random(struct attack *a, uint64_t below)
{
    a->random ^= a->random << 13;
    a->random ^= a->random >> 7;
    a->random ^= a->random << 17;
    return (a->random * 0x2545f4914f6cdd1dull >> 32) % below;
}

struct attack_path { char s[512]; };

static inline void attack_begin(struct attack *a, int argc, char **argv)
{
    *a = (struct attack){ .dir = "/tmp/steno-attack-XXXXXX", .random = argc > 2 ? strtoull(argv[2], NULL, 10) * 2 + 1 : 12345 };
    if (argc > 1) a->until = attack_now() + atof(argv[1]);
    if (!mkdtemp(a->dir) || chdir(STENO_SOURCE_DIR)) {
        perror("attack");
        exit(1);
    }
    setenv("HOME", a->dir, 1);
    unsetenv("STENO_MODEL");
    unsetenv("XDG_CACHE_HOME");
    unsetenv("HF_HOME");
    unsetenv("HF_HUB_CACHE");
    setvbuf(stdout, NULL, _IOLBF, 0);
}

static inline struct attack_path attack_at(const struct attack *a, const char *name)
{
    struct attack_path p;
    snprintf(p.s, sizeof p.s, "%s/%s", a->dir, name);
    return p;
}

/* Files go, and folders that are empty then. */
static inline void files_remove(const char *path)
{
    DIR *d = opendir(path);
    for (struct dirent *e; d && (e = readdir(d));) {
        if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, "..")) continue;
        if (unlinkat(dirfd(d), e->d_name, 0)) unlinkat(dirfd(d), e->d_name, AT_REMOVEDIR);
    }
    if (d) closedir(d);
}

static inline void folder_empty(const char *path)
{
    char kept[600];
    snprintf(kept, sizeof kept, "%s/.steno_resume", path);
    files_remove(kept);
    files_remove(path);
}

static inline int attack_end(struct attack *a)
{
    folder_empty(attack_at(a, "results").s);
    rmdir(attack_at(a, "results").s);
    folder_empty(a->dir);
    rmdir(a->dir);
    printf("%ld runs, %ld findings\n", a->runs, a->findings);
    return a->findings > 0;
}

static inline struct bytes bytes_read(const char *path)
{
    struct bytes b = { 0 };
    struct stat st;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) || !(b.p = malloc((size_t)st.st_size + 1))) {
        perror(path);
        exit(1);
    }
    for (ssize_t got; b.n < (size_t)st.st_size && (got = read(fd, b.p + b.n, (size_t)st.st_size - b.n)) > 0;) b.n += (size_t)got;
    b.p[b.n] = '\0';
    close(fd);
    return b;
}

static inline void bytes_write(const char *path, const void *p, size_t n)
{
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(p, 1, n, f) != n || fclose(f)) {
        perror(path);
        exit(1);
    }
}

/* Run the program with the words of `args`, and standard input from `in`
 * (NULL: nothing). @ at the beginning of a word is the attack's folder; after a : there each _ is a blank. `env` is a list of NAME=VALUE
 * that ends with NULL. Output is then in the files out and err.
 *
 * @return its exit code, or minus the signal that ended it: -SIGALRM where it hung */
static inline int attack_run(struct attack *a, const char *args, const char *in, char *const *env)
{
    char words[2048], *argv[ARGS_MAX] = { (char *)"steno" };
    static struct attack_path path[ARGS_MAX];
    int n = 1, status;
    snprintf(words, sizeof words, "%s", args);
    for (char *w = strtok(words, " "); w && n < ARGS_MAX - 1; w = strtok(NULL, " "), n++) {
        if (w[0] == '@') path[n] = attack_at(a, w + 1);
        argv[n] = w[0] == '@' ? path[n].s : w[0] == ':' ? w + 1 : w;
        for (char *p = w; w[0] == ':' && *p; p++)
            if (*p == '_') *p = ' ';
    }
    a->runs++;
    fflush(stdout);
    const pid_t pid = fork();
    if (pid == 0) {
        const int fd[3] = { open(in ? in : "/dev/null", O_RDONLY), open(attack_at(a, "out").s, O_WRONLY | O_CREAT | O_TRUNC, 0600),
                            open(attack_at(a, "err").s, O_WRONLY | O_CREAT | O_TRUNC, 0600) };
        for (int i = 0; i < 3; i++)
            if (fd[i] < 0 || dup2(fd[i], i) < 0) _exit(99);
        for (int i = 3; i < 16; i++) close(i);
        for (; env && *env; env++) putenv(*env);
        setitimer(ITIMER_PROF, &(struct itimerval){ .it_value.tv_sec = RUN_SECONDS }, NULL); /* of the processor: others may be at work */
        alarm(10 * RUN_SECONDS);
        execv(STENO_PROGRAM, argv);
        _exit(98);
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid) {
        perror("attack");
        exit(1);
    }
    if (!WIFSIGNALED(status)) return WEXITSTATUS(status);
    return WTERMSIG(status) == SIGPROF ? -SIGALRM : -WTERMSIG(status);
}
#endif
