/* steno: what is known of a file that is in hand. SPDX-License-Identifier: MIT */
#include "journal.h"
#include "atomic_file.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { SIZE_MAX_MB = 512, SYNC_S = 2 };
static const char magic[] = "steno journal 1\n";
static const uint32_t done = UINT32_MAX; /* in place of a piece's length */

static void take_key(char *out, const char *key)
{
    const uint32_t n = (uint32_t)strlen(key);
    memcpy(out, magic, sizeof magic - 1);
    memcpy(out + sizeof magic - 1, &n, sizeof n);
    memcpy(out + sizeof magic - 1 + sizeof n, key, n);
}

static size_t head_sz(const char *key)
{
    return sizeof magic - 1 + sizeof(uint32_t) + strlen(key);
}

/* All of a file. @return 0, or -1 with errno set */
static int read_all(char **data, size_t *n, const char *path)
{
    struct stat st;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    *data = NULL;
    *n = 0;
    if (fd < 0) return -1;
    const int fits = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size <= (off_t)SIZE_MAX_MB << 20;
    if (fits) *data = malloc((size_t)st.st_size + 1);
    ssize_t got = 0;
    while (*data && *n < (size_t)st.st_size && (got = read(fd, *data + *n, (size_t)st.st_size - *n)) > 0) *n += (size_t)got;
    const int keep = *data ? errno : fits ? ENOMEM : EINVAL;
    close(fd);
    errno = keep;
    if (*data && got >= 0) return 0;
    free(*data);
    *data = NULL;
    return -1;
}

/* Pieces of a file, moved to its front. @return enum journal_found */
static int take_pieces(struct journal *j, char *file, size_t n, size_t at)
{
    uint32_t len;
    j->data = file;
    while (n - at >= sizeof len) {
        memcpy(&len, file + at, sizeof len);
        if (len == done) return JOURNAL_DONE;
        if (len > n - at - sizeof len) break;
        memmove(file + j->n, file + at + sizeof len, len);
        j->n += len;
        at += sizeof len + len;
    }
    return JOURNAL_BEGUN;
}

int journal_read(struct journal *j, const char *path, const char *key)
{
    char *file;
    size_t n;
    *j = (struct journal){ .fd = -1 };
    if (read_all(&file, &n, path)) {
        if (errno == ENOENT || errno == ENOTDIR) return JOURNAL_NONE;
        return errno == EINVAL || errno == ELOOP ? JOURNAL_OTHER : -1;
    }
    const size_t head = head_sz(key);
    char *want = malloc(head);
    int is_ours = want && n >= head;
    if (want) take_key(want, key);
    if (is_ours) is_ours = memcmp(file, want, head) == 0;
    free(want);
    if (is_ours) return take_pieces(j, file, n, head);
    free(file);
    return JOURNAL_OTHER;
}

static int write_all(int fd, const void *data, size_t n)
{
    const char *p = data;
    while (n) {
        const ssize_t put = write(fd, p, n);
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) return -1;
        p += put;
        n -= (size_t)put;
    }
    return 0;
}

/* The beginning, and one piece of all that there was: so what a killed process left half is gone. */
static int write_begin(struct atomic_file *f, const char *key)
{
    const size_t n = head_sz(key);
    char *head = malloc(n);
    if (!head) return -1;
    take_key(head, key);
    const size_t put = fwrite(head, 1, n, f->f);
    free(head);
    return put == n ? 0 : -1;
}

int journal_open(struct journal *j, const char *path, const char *key, int begun)
{
    struct atomic_file f;
    const uint32_t len = (uint32_t)j->n;
    if (atomic_file_open(&f, path, NULL)) return -1;
    int bad = write_begin(&f, key);
    if (!bad && begun && j->n) bad = fwrite(&len, sizeof len, 1, f.f) != 1 || fwrite(j->data, 1, j->n, f.f) != j->n;
    if (bad) {
        atomic_file_abort(&f);
        return -1;
    }
    if (atomic_file_commit(&f)) return -1;
    j->fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW);
    return j->fd < 0 ? -1 : 0;
}

int journal_add(struct journal *j, const void *data, size_t n)
{
    struct timespec now;
    const uint32_t len = (uint32_t)n;
    char *piece = malloc(sizeof len + n);
    if (!piece || n >= done) {
        free(piece);
        return -1;
    }
    memcpy(piece, &len, sizeof len);
    memcpy(piece + sizeof len, data, n);
    const int bad = write_all(j->fd, piece, sizeof len + n);
    free(piece);
    if (bad) return -1;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (now.tv_sec - j->synced_s >= SYNC_S) {
        fdatasync(j->fd); /* of what a machine loses that stops at once: seconds */
        j->synced_s = now.tv_sec;
    }
    return 0;
}

void journal_close(struct journal *j)
{
    if (j->fd >= 0) close(j->fd);
    free(j->data);
    *j = (struct journal){ .fd = -1 };
}

int journal_finish(const char *path, const char *key)
{
    struct atomic_file f;
    if (atomic_file_open(&f, path, NULL)) return -1;
    if (write_begin(&f, key) || fwrite(&done, sizeof done, 1, f.f) != 1) {
        atomic_file_abort(&f);
        return -1;
    }
    return atomic_file_commit(&f);
}
