/* steno: the ids of a batch, as hashes. SPDX-License-Identifier: MIT
 *
 * A compact set: 16 bytes an entry, in a table that is between 7/16 and 7/8 full, so 18 to 37 bytes an id, and up to 55 while it grows.
 * An entry has 96 bits of the id's SHA-256. Of ten million ids, two have the same with a probability of 1e-15. A worker only keeps the
 * ids of its shard. */
#ifndef STENO_TOOLS_BATCH_IDS_H
#define STENO_TOOLS_BATCH_IDS_H
#include <stddef.h>
#include <stdint.h>

struct id_key {
    uint64_t first; /* the first 8 bytes of SHA-256 of the id, big endian: chooses the shard */
    uint32_t rest[3];
};
struct id_key id_key_of(const char *id);
int id_shard(const struct id_key *k, int n_shards);

enum { ID_ENTERED = 1, ID_IN_MANIFEST = 2, ID_DONE = 4, ID_FAILED = 8, ID_RETRYABLE = 16 };
struct id_entry {
    uint32_t rest[3];
    uint16_t flags;
    uint16_t begun; /* attempts that were begun since the last result and neither ended nor were stopped */
};

struct id_set {
    struct id_entry *entry; /* [size] */
    size_t size, n;
};

/* The entry of a key, entered if necessary; valid until the next call. @return NULL if out of memory */
struct id_entry *id_enter(struct id_set *s, const struct id_key *k);
struct id_entry *id_find(const struct id_set *s, const struct id_key *k); /* NULL: it was not entered */
void id_set_free(struct id_set *s);
#endif
