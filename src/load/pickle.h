/* steno: values of a pickle. SPDX-License-Identifier: MIT
 *
 * A pickle is a program for a small stack machine that builds Python objects. This reader runs only the instructions that create plain
 * values. A call of a name on the caller's list is recorded and not made. Any other name and any other instruction is an error. Values that
 * a pickle refers to twice are shared in the result, too, so a caller that walks them must limit the depth. */
#ifndef STENO_LOAD_PICKLE_H
#define STENO_LOAD_PICKLE_H
#include "base/arena.h"
#include "base/err.h"

enum pickle_kind {
    PICKLE_UNSET, PICKLE_NONE, PICKLE_BOOL, PICKLE_INT, PICKLE_FLOAT,
    PICKLE_TEXT,   /* text[0 .. n), UTF-8 as the file has it, no NUL */
    PICKLE_TUPLE, PICKLE_LIST,
    PICKLE_DICT,   /* key, value, key, value, … */
    PICKLE_NAME,
    PICKLE_CALL,   /* a call that was not made; list: the arguments */
    PICKLE_OUTSIDE /* a value stored outside the pickle; list: its description */
};

struct pickle_value {
    uint8_t kind;  /* enum pickle_kind */
    uint8_t name;  /* of PICKLE_NAME and PICKLE_CALL: index in the list of names */
    uint32_t n;    /* bytes of PICKLE_TEXT */
    union {
        int64_t i; /* PICKLE_INT, PICKLE_BOOL */
        double x;
        const char *text;
        struct pickle_list *list;
    };
};

struct pickle_list {
    struct pickle_value *item; /* [n] */
    uint32_t n, cap;
};

enum pickle_use { PICKLE_USE_VALUE, PICKLE_USE_CALL, PICKLE_USE_DICT /* a call without arguments makes an empty dictionary */ };

struct pickle_name {
    const char *module, *name;
    enum pickle_use use;
};

enum { PICKLE_MAX = 1 << 20 /* limit of values on the stack, in the memo or of one list, and of lists */ };

/* Run a pickle of protocol 2 to 5.
 *
 * @param data   [n] bytes; texts of the result point into them
 * @param where  "FILE: ENTRY", for messages
 * @param names  [n_names] names that the pickle may refer to
 * @return STENO_OK, STENO_EFORMAT (names the byte, the instruction, and the requested object), STENO_ENOMEM */
int pickle_read(struct pickle_value *out, const uint8_t *data, size_t n, const char *where, const struct pickle_name *names,
                uint32_t n_names, struct arena *a, steno_error *e);

/* The value of a text key in a dictionary; NULL: no such key, or v is not a dictionary. */
const struct pickle_value *pickle_find(const struct pickle_value *v, const char *key);
int pickle_is_text(const struct pickle_value *v, const char *text);
#endif
