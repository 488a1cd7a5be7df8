/* steno tests: the program on broken sounds. SPDX-License-Identifier: MIT
 *
 * Intact files of every container are cut, their bytes changed, their parts moved, lost, or taken from another file. The program must end
 * in time, with 0 or with 4 and a line with the reason, and never crash. A file that is refused or crashes the program is the same function
 * of the seed each time; findings are kept in /tmp. */
#include "attack.h"
#include <signal.h>

static const char *const names[] = {
    "demo.wav", "audio/de_8k.wav", "audio/de_alaw_48k.wav", "audio/de.w64", "audio/de.aiff", "audio/de.avi", "audio/de.wma",
    "audio/de.webm",
    "audio/de.m4a", "audio/de.opus", "audio/de_stereo.ogg", "audio/fr.flac", "audio/de_six.flac", "audio/de_22k.mp3", "audio/de.aac",
    "audio/de_video.mkv", "audio/de_video.mp4", "audio/silent_film.mp4",
};

enum { N_NAMES = sizeof names / sizeof *names, SHORT_RUNS = 25, GROW = 1 << 16 };

static struct bytes file[N_NAMES];

/* Numbers that parsers stumble over, written as 1, 2, 4 or 8 bytes in either order. */
static void put_number(struct attack *a, char *p, size_t room)
{
    static const uint64_t odd[] = { 0, 1, 2, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 0x7fffffff, 0x80000000u, 0xffffffffu, 0xfffffff0u,
                                    0x7fffffffffffffffull, 0x8000000000000000ull, ~0ull };
    const uint64_t v = odd[attack_random(a, sizeof odd / sizeof *odd)];
    const size_t n = (size_t)1 << attack_random(a, 4);
    const int big = (int)attack_random(a, 2);
    for (size_t i = 0; i < n && i < room; i++) p[i] = (char)(v >> 8 * (big ? n - 1 - i : i));
}

/* A place, more often near the beginning, where the headers are. */
static size_t somewhere(struct attack *a, size_t n)
{
    const size_t most = attack_random(a, 3) ? n : n < 512 ? n : 512;
    return attack_random(a, most ? most : 1);
}

/* Change b, which has room for GROW more bytes. */
static void change(struct attack *a, struct bytes *b)
{
    const size_t at = somewhere(a, b->n), left = b->n - at, n = attack_random(a, left < 4096 ? left + 1 : 4096);
    const struct bytes *other = &file[attack_random(a, N_NAMES)];
    const size_t from = somewhere(a, other->n), take = other->n - from < n ? other->n - from : n;
    switch (attack_random(a, 8)) {
    case 0: b->p[at] ^= (char)(1 << attack_random(a, 8)); break;
    case 1: b->p[at] = (char)attack_random(a, 256); break;
    case 2:
    case 3: put_number(a, b->p + at, left); break;
    case 4: b->n = at; break; /* cut */
    case 5: memset(b->p + at, 0, n); break;
    case 6: memmove(b->p + at, b->p + at + n, left - n), b->n -= n; break; /* lost */
    default:
        memmove(b->p + at + take, b->p + at, left);
        memcpy(b->p + at, other->p + from, take);
        b->n += take;
    }
}

static void attack(struct attack *a)
{
    const int i = (int)attack_random(a, N_NAMES);
    struct bytes b = { malloc(file[i].n + 16 * GROW), file[i].n };
    const char *dot = strrchr(names[i], '.');
    char name[64], args[1024];
    if (!b.p) exit(1);
    memcpy(b.p, file[i].p, b.n);
    for (int n = 1 + (int)attack_random(a, 6); n > 0 && b.n > 0; n--) change(a, &b);
    snprintf(name, sizeof name, "sound%s", dot);
    bytes_write(attack_at(a, name).s, b.p, b.n);
    snprintf(args, sizeof args, "-q -t 1 -l de --duration-ms 1000 --sample-length 4 -m models/whisper-digits/whisper-digits.bin %s%s",
             attack_random(a, 4) ? "" : "--strict -f jsonl ", attack_at(a, name).s);
    const int code = attack_run(a, args, NULL, NULL);
    struct bytes err = bytes_read(attack_at(a, "err").s);
    const int fine = code == 0 || ((code == 4 || code == 1 || code == 5) && err.n > 0);
    if (!fine) {
        char kept[100];
        snprintf(kept, sizeof kept, "/tmp/steno-finding-%ld%s", a->runs, dot);
        bytes_write(kept, b.p, b.n);
        a->findings++;
        printf("FINDING: %s (%d), from %s, run %ld: steno %s, with %s\n",
               code == -SIGALRM ? "it hangs" : code < 0 ? "it crashes" : "wrong exit code", code, names[i], a->runs, args, kept);
    }
    free(err.p);
    free(b.p);
}

int main(int argc, char **argv)
{
    struct attack a;
    char path[200];
    attack_begin(&a, argc, argv);
    for (int i = 0; i < N_NAMES; i++) {
        snprintf(path, sizeof path, "tests/data/%s", names[i]);
        file[i] = bytes_read(path);
    }
    while (a.until ? attack_now() < a.until : a.runs < SHORT_RUNS) attack(&a);
    for (int i = 0; i < N_NAMES; i++) free(file[i].p);
    return attack_end(&a);
}
