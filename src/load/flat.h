/* steno: from nested settings to a flat table. SPDX-License-Identifier: MIT
 *
 * JSON and YAML are two spellings of the same maps and lists. Their readers say what opens, what closes and what is in between; keys,
 * places in lists, limits and repetitions are looked after here. A list of more than FLAT_LONG members below the top is data and not a
 * setting (a vocabulary, say): of numbers or of texts alone it becomes a long list (struct meta_list). Such a map, or a list of other or
 * mixed members, is left out whole. */
#ifndef STENO_LOAD_FLAT_H
#define STENO_LOAD_FLAT_H
#include "base/buf.h"
#include "load/meta.h"

enum { FLAT_LONG = 4096 };

struct flat_level { uint32_t count, mark, key_len; uint8_t is_list, want_key; };

struct flat {
    struct meta *m;
    const char *name;     /* of the file */
    uint32_t line;        /* of what is read now; the reader keeps it up to date */
    uint32_t n_added;     /* with those left out again */
    char key[META_KEY_MAX + 1];
    uint32_t key_len;
    struct flat_level level[META_DEPTH_MAX];
    int depth, hidden;    /* hidden: levels at and above this one are left out; 0: none */
    struct buf values;    /* of the long list that is being read, as struct meta_list has them */
    uint64_t n_values;
    enum meta_list_type list_type;
    int is_long_list;     /* level `hidden` is one, and all its members so far have its type */
    uint64_t *seen;       /* [seen_cap] hashes of keys, 0: free */
    uint32_t n_seen, seen_cap;
};

void flat_begin(struct flat *f, struct meta *m, const char *prefix, const char *name);
void flat_end(struct flat *f);
int flat_wants_key(const struct flat *f); /* the next text is the key of a map */
int flat_key(struct flat *f, const char *s, size_t n, steno_error *e);
int flat_open(struct flat *f, int is_list, steno_error *e);
int flat_close(struct flat *f, steno_error *e);
int flat_value(struct flat *f, struct meta_entry v, steno_error *e); /* key and source are filled in */
#endif
