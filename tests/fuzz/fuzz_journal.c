/* steno: fuzzing of journals of unfinished inputs. SPDX-License-Identifier: MIT
 *
 * The first byte selects the action, the rest is a journal as it lies on a disk: as it is (0), with checksums that are right (1), or cut
 * into pieces that are written and read again (2). What is taken lies in what was given, and a journal that is written from it holds the
 * same. */
#include "journal.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

enum { BEGIN = 16 }; /* "steno journal 2\n" */
struct part { uint32_t len, sum; int64_t spent_us; };

static uint32_t add(uint32_t h, const void *data, size_t n)
{
    const uint8_t *p = data;
    for (size_t i = 0; i < n; i++) h = (h ^ p[i]) * 16777619u;
    return h;
}

/* Make all sums right, as far as lengths go. */
static void seal(char *file, size_t n)
{
    struct part p;
    for (size_t at = BEGIN; at <= n && n - at >= sizeof p; at += p.len) {
        memcpy(&p, file + at, sizeof p);
        const int is_end = p.len == UINT32_MAX;
        if (!is_end && p.len > n - at - sizeof p) break;
        p.sum = add(add(2166136261u, &p.len, sizeof p.len), &p.spent_us, sizeof p.spent_us);
        if (!is_end) p.sum = add(p.sum, file + at + sizeof p, p.len);
        memcpy(file + at, &p, sizeof p);
        at += sizeof p;
        if (is_end) break;
    }
}

static char fast[] = "/dev/shm/steno-fuzz-XXXXXX", slow[] = "/tmp/steno-fuzz-XXXXXX", *dir;

static void leave(void)
{
    rmdir(dir);
}

/* In a folder that this process has to itself. */
static const char *path(void)
{
    static char name[64];
    if (*name) return name;
    dir = mkdtemp(fast);
    if (!dir) dir = mkdtemp(slow);
    if (dir && atexit(leave) == 0) snprintf(name, sizeof name, "%s/journal", dir);
    return name;
}

static void write_again(const struct journal *was, const char *key)
{
    struct journal j = { .fd = -1, .data = was->data, .n = was->n, .spent_us = was->spent_us }, now;
    if (journal_open(&j, path(), key, 1) || journal_add(&j, key, strlen(key), 7)) abort();
    j.data = NULL;
    journal_close(&j);
    if (journal_read(&now, path(), key) != JOURNAL_BEGUN || now.damaged || now.spent_us != 7) abort();
    if (now.n != was->n + strlen(key) || (was->n && memcmp(now.data, was->data, was->n) != 0)) abort();
    journal_close(&now);
}

static void take(const uint8_t *data, size_t n, int sealed, const char *key)
{
    struct journal j;
    char *file = malloc(n ? n : 1);
    if (!file) return;
    if (n) memcpy(file, data, n);
    if (sealed) seal(file, n);
    const int found = journal_take(&j, file, n, key);
    if (found < JOURNAL_OTHER || found > JOURNAL_DONE) abort();
    if ((found >= JOURNAL_BEGUN) != (j.data != NULL) || (found == JOURNAL_OTHER) != (j.other != NULL)) abort();
    if (j.n > n || (j.other && strlen(j.other) > n) || j.spent_us < 0) abort();
    if (found == JOURNAL_BEGUN && n < 4096 && n % 8 == 0) write_again(&j, key);
    journal_close(&j);
}

/* Pieces, each behind a byte with its length. */
static void pieces(const uint8_t *data, size_t n, const char *key)
{
    struct journal j = { .fd = -1 };
    char *all = malloc(n + 1);
    size_t n_all = 0;
    if (!all || journal_open(&j, path(), key, 0)) abort();
    for (size_t at = 0, len; at < n; at += len) {
        len = data[at++];
        if (len > n - at) len = n - at;
        if (journal_add(&j, data + at, len, (int64_t)at)) abort();
        memcpy(all + n_all, data + at, len);
        n_all += len;
    }
    journal_close(&j);
    if (journal_read(&j, path(), key) != JOURNAL_BEGUN || j.damaged || j.n != n_all || memcmp(j.data, all, n_all) != 0) abort();
    journal_close(&j);
    if (journal_finish(path(), key, all, n_all) || journal_read(&j, path(), key) != JOURNAL_DONE) abort();
    if (j.n != n_all || memcmp(j.data, all, n_all) != 0) abort();
    journal_close(&j);
    if (journal_read(&j, path(), "another") != JOURNAL_OTHER || strcmp(j.other, key) != 0) abort();
    journal_close(&j);
    free(all);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    if (!n || !*path()) return 0;
    if (data[0] % 4 == 2) pieces(data + 1, n - 1 < 2000 ? n - 1 : 2000, "key");
    else take(data + 1, n - 1, data[0] % 4 == 1, "key");
    unlink(path());
    return 0;
}
