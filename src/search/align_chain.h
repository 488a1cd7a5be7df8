/* steno: times of a text that is longer than a clip. SPDX-License-Identifier: MIT
 *
 * An aligner takes clips of a limited length, and a word's times depend on the words before it, not on those behind it. So each clip of a
 * long audio is aligned with more words than are spoken in it: those behind its end crowd there, and words up to a margin before the end
 * are certain. The next clip begins in a pause between certain words, and the words behind the pause are aligned twice. If most of them
 * have other times the second time, one of the two clips is wrong, and an earlier pause is tried. A stretch without certain words is left
 * behind with the clip. */
#ifndef STENO_SEARCH_ALIGN_CHAIN_H
#define STENO_SEARCH_ALIGN_CHAIN_H
#include <stdint.h>
#include "base/buf.h"

enum { CHAIN_TRIES = 3 };

/* A clip: where it begins, in ms, and its first word. */
struct chain_clip { int64_t at_ms; size_t first; };
/* A beginning of the next clip. Words before `keep` have the times of the clip before; apart, of: words that both clips have, and those of
 * them whose times differ. */
struct chain_try { struct chain_clip clip; size_t keep, apart, of; };

/* The times and probabilities of one clip: two of each word, in ms from its beginning, which do not fall. */
struct chain_times { const int32_t *ms; const float *p; size_t n; int64_t len_ms; int is_last; /* the audio ends with it */ };
struct chain_kept { struct buf ms, p; struct chain_times times; };

struct align_chain {
    int32_t *ms;               /* [2 n] starts and ends of words, which never fall; the caller's, as p */
    float *p;                  /* [2 n] their probabilities */
    size_t n;                  /* words */
    struct chain_clip clip;    /* to be aligned next */
    size_t keep;               /* words before it have their times */
    size_t sure;               /* words before it have times of the clip before, which later ones are compared with */
    struct chain_try tries[CHAIN_TRIES]; /* latest first */
    int n_tries, at, best;     /* at: the one that is tried; best: the one before it whose clip differs least */
    struct chain_kept *kept;   /* the times of that clip; the caller's */
};

static inline struct align_chain align_chain_of(int32_t *ms, float *p, size_t n, struct chain_kept *kept)
{
    return (struct align_chain){ .ms = ms, .p = p, .n = n, .kept = kept };
}
void chain_kept_free(struct chain_kept *k);

/* Where the audio of this clip and of later ones begins, ms. */
static inline int64_t align_chain_from(const struct align_chain *c)
{
    return c->n_tries ? c->tries[c->n_tries - 1].clip.at_ms : c->clip.at_ms;
}

/* The part of a clip, from its beginning, in which words are certain if the audio goes on behind it. */
static inline int64_t align_chain_certain(int64_t len_ms) { return len_ms - len_ms / 16; }

/* Takes the times of the words of c->clip: of all that are left, if it is the last. @return 1: align another clip, 0: all words have
 * times, -1: out of memory */
int align_chain_take(struct align_chain *c, const struct chain_times *t);
#endif
