/* steno: streams of C on Windows, without its text mode. SPDX-License-Identifier: MIT */
#include "win.h"

/* "r", "w", "a" and "+" of a mode, as a binary stream. */
static void binary_mode(wchar_t out[8], const char *mode)
{
    int n = 0;
    for (; *mode && n < 3; mode++)
        if (strchr("rwa+", *mode)) out[n++] = (wchar_t)*mode;
    out[n++] = 'b';
    out[n] = 0;
}

FILE *fopen(const char *path, const char *mode)
{
    const int way = mode[0] == 'r' ? 0 : mode[0] == 'w' ? O_CREAT | O_TRUNC : O_CREAT | O_APPEND;
    const int fd = open(path, way | (strchr(mode, '+') ? O_RDWR : mode[0] == 'r' ? O_RDONLY : O_WRONLY) | O_CLOEXEC, 0666);
    FILE *f = fd < 0 ? NULL : fdopen(fd, mode);
    if (fd >= 0 && !f) close(fd);
    return f;
}

FILE *fdopen(int fd, const char *mode)
{
    wchar_t wide[8];
    binary_mode(wide, mode);
    return _wfdopen(fd, wide);
}

/* ---- streams to memory: temporary files, which are read when they are closed */

enum { N_MEMORY = 16 };
static struct { FILE *f; char **text; size_t *n; } memory[N_MEMORY];
static pthread_mutex_t memory_lock = PTHREAD_MUTEX_INITIALIZER;

FILE *open_memstream(char **text, size_t *n)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/steno-XXXXXX", getenv("TMPDIR"));
    const int fd = mkostemp(path, 0);
    FILE *f = fd < 0 ? NULL : fdopen(fd, "w+");
    int at = N_MEMORY;
    if (fd >= 0) unlink(path);
    if (fd >= 0 && !f) close(fd);
    *text = NULL;
    *n = 0;
    pthread_mutex_lock(&memory_lock);
    for (at = 0; f && at < N_MEMORY && memory[at].f; at++);
    if (f && at < N_MEMORY) memory[at].f = f, memory[at].text = text, memory[at].n = n;
    pthread_mutex_unlock(&memory_lock);
    if (!f || at < N_MEMORY) return f;
    (fclose)(f);
    errno = EMFILE;
    return NULL;
}

static int memory_keep(FILE *f, char **text, size_t *n)
{
    const int64_t size = fflush(f) || ferror(f) ? -1 : _ftelli64(f);
    *text = size < 0 ? NULL : malloc((size_t)size + 1);
    if (!*text) return -1;
    rewind(f);
    *n = fread(*text, 1, (size_t)size, f);
    (*text)[*n] = '\0';
    return *n == (size_t)size ? 0 : -1;
}

#undef fclose
int win_fclose(FILE *f)
{
    char **text = NULL;
    size_t *n = NULL;
    pthread_mutex_lock(&memory_lock);
    for (int i = 0; i < N_MEMORY; i++) {
        if (memory[i].f != f) continue;
        text = memory[i].text;
        n = memory[i].n;
        memory[i].f = NULL;
    }
    pthread_mutex_unlock(&memory_lock);
    const int bad = text && memory_keep(f, text, n);
    return fclose(f) || bad ? EOF : 0;
}

/* ---- output */

static int put(FILE *f, const char *fmt, va_list ap) __attribute__((format(gnu_printf, 2, 0)));
static int put(FILE *f, const char *fmt, va_list ap)
{
    char few[1024], *all = few;
    va_list again;
    va_copy(again, ap);
    const int n = vsnprintf(few, sizeof few, fmt, ap);
    if (n >= (int)sizeof few && vasprintf(&all, fmt, again) < 0) all = NULL;
    va_end(again);
    const int ok = n >= 0 && all && fwrite(all, 1, (size_t)n, f) == (size_t)n;
    if (all != few) free(all);
    return ok ? n : -1;
}

int printf(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    const int n = put(stdout, fmt, ap);
    va_end(ap);
    return n;
}

int fprintf(FILE *f, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    const int n = put(f, fmt, ap);
    va_end(ap);
    return n;
}

int vasprintf(char **out, const char *fmt, va_list ap)
{
    va_list again;
    va_copy(again, ap);
    const int n = vsnprintf(NULL, 0, fmt, again);
    va_end(again);
    *out = n < 0 ? NULL : malloc((size_t)n + 1);
    return *out ? vsnprintf(*out, (size_t)n + 1, fmt, ap) : -1;
}

/* A buffer by lines does not exist. A file has a whole buffer instead, and consoles and pipes, whose reader waits for lines, have none. */
#undef setvbuf
int win_setvbuf(FILE *f, char *buffer, int how, size_t n)
{
    struct stat st;
    if (how != _IOLBF) return setvbuf(f, buffer, how, n);
    if (fstat(fileno(f), &st) == 0 && S_ISREG(st.st_mode)) return setvbuf(f, buffer, _IOFBF, n ? n : BUFSIZ);
    return setvbuf(f, NULL, _IONBF, 0);
}
