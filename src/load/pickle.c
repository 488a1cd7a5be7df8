/* steno: values of a pickle. SPDX-License-Identifier: MIT
 *
 * The stack machine has a stack of values, a stack of marks, and a memo of values for reuse. An instruction may only take values above the
 * last mark. Scalars are stored in the value itself; lists, tuples and dictionaries are in the arena. Stack, memo and lists grow by
 * doubling with the bytes that fill them, up to a limit, so a hostile file costs a small multiple of its size. */
#include "load/pickle.h"

#include <string.h>

enum opcode {
    PK_MARK = '(', PK_STOP = '.', PK_BININT = 'J', PK_BININT1 = 'K', PK_BININT2 = 'M', PK_NONE = 'N', PK_BINPERSID = 'Q',
    PK_REDUCE = 'R', PK_BINUNICODE = 'X', PK_APPEND = 'a', PK_BUILD = 'b', PK_GLOBAL = 'c', PK_APPENDS = 'e', PK_BINGET = 'h',
    PK_LONG_BINGET = 'j', PK_EMPTY_LIST = ']', PK_BINPUT = 'q', PK_LONG_BINPUT = 'r', PK_SETITEM = 's', PK_TUPLE = 't',
    PK_EMPTY_TUPLE = ')', PK_SETITEMS = 'u', PK_EMPTY_DICT = '}', PK_BINFLOAT = 'G', PK_PROTO = 0x80, PK_TUPLE1 = 0x85,
    PK_TUPLE2 = 0x86, PK_TUPLE3 = 0x87, PK_NEWTRUE = 0x88, PK_NEWFALSE = 0x89, PK_LONG1 = 0x8a, PK_SHORT_BINUNICODE = 0x8c,
    PK_STACK_GLOBAL = 0x93, PK_MEMOIZE = 0x94, PK_FRAME = 0x95
};

/* Names of instructions for messages. Those without an opcode above are known and refused. */
static const struct { uint8_t code; const char *name; } opcode_name[] = {
    { PK_MARK, "MARK" }, { PK_STOP, "STOP" }, { PK_BININT, "BININT" }, { PK_BININT1, "BININT1" }, { PK_BININT2, "BININT2" },
    { PK_NONE, "NONE" }, { PK_BINPERSID, "BINPERSID" }, { PK_REDUCE, "REDUCE" }, { PK_BINUNICODE, "BINUNICODE" },
    { PK_APPEND, "APPEND" }, { PK_BUILD, "BUILD" }, { PK_GLOBAL, "GLOBAL" }, { PK_APPENDS, "APPENDS" }, { PK_BINGET, "BINGET" },
    { PK_LONG_BINGET, "LONG_BINGET" }, { PK_EMPTY_LIST, "EMPTY_LIST" }, { PK_BINPUT, "BINPUT" }, { PK_LONG_BINPUT, "LONG_BINPUT" },
    { PK_SETITEM, "SETITEM" }, { PK_TUPLE, "TUPLE" }, { PK_EMPTY_TUPLE, "EMPTY_TUPLE" }, { PK_SETITEMS, "SETITEMS" },
    { PK_EMPTY_DICT, "EMPTY_DICT" }, { PK_BINFLOAT, "BINFLOAT" }, { PK_PROTO, "PROTO" }, { PK_TUPLE1, "TUPLE1" },
    { PK_TUPLE2, "TUPLE2" }, { PK_TUPLE3, "TUPLE3" }, { PK_NEWTRUE, "NEWTRUE" }, { PK_NEWFALSE, "NEWFALSE" }, { PK_LONG1, "LONG1" },
    { PK_SHORT_BINUNICODE, "SHORT_BINUNICODE" }, { PK_STACK_GLOBAL, "STACK_GLOBAL" }, { PK_MEMOIZE, "MEMOIZE" }, { PK_FRAME, "FRAME" },
    { '0', "POP" }, { '1', "POP_MARK" }, { '2', "DUP" }, { 'B', "BINBYTES" }, { 'C', "SHORT_BINBYTES" }, { 'F', "FLOAT" },
    { 'I', "INT" }, { 'L', "LONG" }, { 'P', "PERSID" }, { 'S', "STRING" }, { 'T', "BINSTRING" }, { 'U', "SHORT_BINSTRING" },
    { 'V', "UNICODE" }, { 'd', "DICT" }, { 'g', "GET" }, { 'i', "INST" }, { 'l', "LIST" }, { 'o', "OBJ" }, { 'p', "PUT" },
    { 0x81, "NEWOBJ" }, { 0x82, "EXT1" }, { 0x83, "EXT2" }, { 0x84, "EXT4" }, { 0x8b, "LONG4" }, { 0x8d, "BINUNICODE8" },
    { 0x8e, "BINBYTES8" }, { 0x8f, "EMPTY_SET" }, { 0x90, "ADDITEMS" }, { 0x91, "FROZENSET" }, { 0x92, "NEWOBJ_EX" },
    { 0x96, "BYTEARRAY8" }, { 0x97, "NEXT_BUFFER" }, { 0x98, "READONLY_BUFFER" },
};

enum {
    POOL = 256,              /* lists or values allocated from the arena at once */
    ROOM = 8 * PICKLE_MAX,   /* limit of all values, including old copies of lists that grew */
    SAID_MAX = 200           /* bytes of a name in a message */
};

struct machine {
    const uint8_t *p; /* [n] */
    size_t n, pos, op_pos;
    uint8_t op;
    const char *where;
    const struct pickle_name *names;
    uint32_t n_names, n_lists, n_values;
    struct pickle_list stack, memo;
    struct pickle_list *list_pool;   /* unused rest of the last blocks from the arena; a block has at least 64 elements */
    struct pickle_value *value_pool;
    uint32_t n_list_pool, n_value_pool, n_memo;
    uint32_t *mark, n_marks, cap_marks;
    struct arena *a;
    steno_error *e;
};

static const char *op_name(uint8_t op)
{
    for (size_t i = 0; i < sizeof opcode_name / sizeof *opcode_name; i++)
        if (opcode_name[i].code == op) return opcode_name[i].name;
    return "of no meaning";
}

/* Report an error at the current instruction. @return a status */
static int bad(struct machine *m, const char *what)
{
    return err_set(m->e, STENO_EFORMAT, "%s: byte %zu: instruction 0x%02x (%s): %s", m->where, m->op_pos, m->op, op_name(m->op), what);
}

/* ---- lists --------------------------------------------------------------------------------------------------------------------- */

static int values_new(struct machine *m, uint32_t n, struct pickle_value **out)
{
    const int own = n > POOL / 4;
    if (n > ROOM - m->n_values) return bad(m, "more than 8388608 values in all");
    m->n_values += n;
    if (own || n > m->n_value_pool) {
        const uint32_t want = own ? n : POOL;
        *out = arena_array(m->a, want, sizeof **out);
        if (!*out) return err_nomem(m->e, want * sizeof **out, "values of a pickle");
        if (own) return STENO_OK;
        m->value_pool = *out;
        m->n_value_pool = POOL;
    }
    m->n_value_pool -= n;
    *out = m->value_pool + m->n_value_pool;
    return STENO_OK;
}

static int list_new(struct machine *m, struct pickle_list **out)
{
    if (++m->n_lists > PICKLE_MAX) return bad(m, "more than 1048576 lists, tuples and dictionaries");
    if (!m->n_list_pool) {
        m->list_pool = arena_array(m->a, POOL, sizeof *m->list_pool);
        if (!m->list_pool) return err_nomem(m->e, POOL * sizeof *m->list_pool, "values of a pickle");
        m->n_list_pool = POOL;
    }
    *out = &m->list_pool[--m->n_list_pool];
    return STENO_OK;
}

static int list_room(struct machine *m, struct pickle_list *l, uint32_t n)
{
    if (n > PICKLE_MAX - l->n) return bad(m, "more than 1048576 values in one place");
    if (l->n + n <= l->cap) return STENO_OK;
    const uint32_t cap = l->n + n > 2 * l->cap ? l->n + n : 2 * l->cap;
    struct pickle_value *item;
    const int rc = values_new(m, cap, &item);
    if (rc) return rc;
    if (l->n) memcpy(item, l->item, l->n * sizeof *item);
    l->item = item;
    l->cap = cap;
    return STENO_OK;
}

/* ---- stack --------------------------------------------------------------------------------------------------------------------- */

static uint32_t floor_of(const struct machine *m)
{
    return m->n_marks ? m->mark[m->n_marks - 1] : 0;
}

static int push(struct machine *m, struct pickle_value v)
{
    const int rc = list_room(m, &m->stack, 1);
    if (!rc) m->stack.item[m->stack.n++] = v;
    return rc;
}

static int push_int(struct machine *m, enum pickle_kind kind, int64_t i)
{
    return push(m, (struct pickle_value){ .kind = (uint8_t)kind, .i = i });
}

/* The n topmost values, first pushed first, without popping them; NULL and the error if fewer are above the last mark. */
static struct pickle_value *top(struct machine *m, uint32_t n)
{
    if (m->stack.n - floor_of(m) >= n) return &m->stack.item[m->stack.n - n];
    bad(m, "takes more values than there are");
    return NULL;
}

static int push_mark(struct machine *m)
{
    if (m->n_marks == m->cap_marks) {
        const uint32_t cap = m->cap_marks ? 2 * m->cap_marks : 64;
        if (cap > PICKLE_MAX) return bad(m, "more than 1048576 marks");
        uint32_t *mark = arena_array(m->a, cap, sizeof *mark);
        if (!mark) return err_nomem(m->e, cap * sizeof *mark, "values of a pickle");
        if (m->n_marks) memcpy(mark, m->mark, m->n_marks * sizeof *mark);
        m->mark = mark;
        m->cap_marks = cap;
    }
    m->mark[m->n_marks++] = m->stack.n;
    return STENO_OK;
}

/* Remove the last mark. @return STENO_OK with the number of values above it, or an error */
static int pop_mark(struct machine *m, uint32_t *n)
{
    if (!m->n_marks) return bad(m, "there is no mark");
    *n = m->stack.n - m->mark[--m->n_marks];
    return STENO_OK;
}

/* ---- bytes --------------------------------------------------------------------------------------------------------------------- */

/* The next n bytes of the pickle, or NULL and the error. */
static const uint8_t *take(struct machine *m, size_t n)
{
    if (n > m->n - m->pos) {
        bad(m, "the pickle ends inside of it");
        return NULL;
    }
    const uint8_t *p = m->p + m->pos;
    m->pos += n;
    return p;
}

/* Read a number of n bytes, n at most 8. @return 1, or 0 and the error */
static int take_number(struct machine *m, unsigned n, int is_signed, uint64_t *out)
{
    const uint8_t *p = take(m, n);
    if (!p) return 0;
    *out = is_signed && n && p[n - 1] & 0x80 ? UINT64_MAX : 0;
    for (unsigned i = n; i-- > 0;) *out = *out << 8 | p[i];
    return 1;
}

static int read_int(struct machine *m, unsigned n, int is_signed)
{
    uint64_t v;
    if (!take_number(m, n, is_signed, &v)) return STENO_EFORMAT;
    int64_t i;
    memcpy(&i, &v, sizeof i);
    return push_int(m, PICKLE_INT, i);
}

static int read_long(struct machine *m)
{
    uint64_t n;
    if (!take_number(m, 1, 0, &n)) return STENO_EFORMAT;
    return n <= 8 ? read_int(m, (unsigned)n, 1) : bad(m, "a whole number of more than 64 bits");
}

static int read_float(struct machine *m)
{
    const uint8_t *p = take(m, 8);
    if (!p) return STENO_EFORMAT;
    uint64_t bits = 0;
    struct pickle_value v = { .kind = PICKLE_FLOAT };
    for (int i = 0; i < 8; i++) bits = bits << 8 | p[i]; /* the only number stored big-endian */
    memcpy(&v.x, &bits, sizeof v.x);
    return push(m, v);
}

static int read_text(struct machine *m, unsigned n_len)
{
    uint64_t n;
    const uint8_t *p = take_number(m, n_len, 0, &n) ? take(m, (size_t)n) : NULL;
    return p ? push(m, (struct pickle_value){ .kind = PICKLE_TEXT, .n = (uint32_t)n, .text = (const char *)p }) : STENO_EFORMAT;
}

static int read_proto(struct machine *m)
{
    uint64_t v;
    if (!take_number(m, 1, 0, &v)) return STENO_EFORMAT;
    return m->op_pos == 0 && v >= 2 && v <= 5 ? STENO_OK : bad(m, "want protocol 2 to 5, named once, at the beginning");
}

/* ---- memo ---------------------------------------------------------------------------------------------------------------------- */

static int memo_set(struct machine *m, uint64_t at)
{
    const struct pickle_value *v = top(m, 1);
    if (!v) return STENO_EFORMAT;
    if (at >= PICKLE_MAX) return bad(m, "want a place in the memo below 1048576");
    if (at >= m->n) return bad(m, "a place in the memo that no pickle of this size has");
    if (at >= m->memo.n) {
        const int rc = list_room(m, &m->memo, (uint32_t)at + 1 - m->memo.n);
        if (rc) return rc;
        m->memo.n = (uint32_t)at + 1;
    }
    m->memo.item[at] = *v;
    m->n_memo++;
    return STENO_OK;
}

static int memo_put(struct machine *m, unsigned n)
{
    uint64_t at;
    return take_number(m, n, 0, &at) ? memo_set(m, at) : STENO_EFORMAT;
}

static int memo_get(struct machine *m, unsigned n)
{
    uint64_t at;
    if (!take_number(m, n, 0, &at)) return STENO_EFORMAT;
    if (at >= m->memo.n || m->memo.item[at].kind == PICKLE_UNSET) return bad(m, "nothing was put into this place of the memo");
    return push(m, m->memo.item[at]);
}

/* ---- containers ---------------------------------------------------------------------------------------------------------------- */

/* Replace the topmost n values by one container value. */
static int make(struct machine *m, enum pickle_kind kind, uint32_t n)
{
    const struct pickle_value *from = n ? top(m, n) : NULL;
    struct pickle_value v = { .kind = (uint8_t)kind };
    if (n && !from) return STENO_EFORMAT;
    int rc = list_new(m, &v.list);
    if (!rc && n) rc = list_room(m, v.list, n);
    if (rc) return rc;
    if (n) memcpy(v.list->item, from, n * sizeof v);
    v.list->n = n;
    m->stack.n -= n;
    return push(m, v);
}

static int make_tuple(struct machine *m)
{
    uint32_t n = 0;
    const int rc = pop_mark(m, &n);
    return rc ? rc : make(m, PICKLE_TUPLE, n);
}

/* Move the topmost n values into the list or dictionary below them. */
static int extend(struct machine *m, enum pickle_kind kind, uint32_t n)
{
    const struct pickle_value *v = top(m, n + 1);
    if (!v) return STENO_EFORMAT;
    if (v->kind != kind) return bad(m, kind == PICKLE_DICT ? "want a dictionary below the values" : "want a list below the values");
    if (kind == PICKLE_DICT && n % 2) return bad(m, "a key without a value");
    struct pickle_list *l = v->list;
    for (uint32_t i = 1; i <= n; i++)
        if (v[i].kind == kind && v[i].list == l) return bad(m, "a value that contains itself");
    const int rc = list_room(m, l, n);
    if (rc) return rc;
    if (n) memcpy(l->item + l->n, v + 1, n * sizeof *v);
    l->n += n;
    m->stack.n -= n;
    return STENO_OK;
}

static int extend_marked(struct machine *m, enum pickle_kind kind)
{
    uint32_t n = 0;
    const int rc = pop_mark(m, &n);
    return rc ? rc : extend(m, kind, n);
}

/* ---- names and calls ----------------------------------------------------------------------------------------------------------- */

/* Push a name. Only names on the list are allowed. */
static int push_name(struct machine *m, const char *module, size_t n_module, const char *name, size_t n)
{
    for (uint32_t i = 0; i < m->n_names; i++) {
        const struct pickle_name *it = &m->names[i];
        if (strlen(it->module) == n_module && strlen(it->name) == n && !memcmp(it->module, module, n_module) && !memcmp(it->name, name, n))
            return push(m, (struct pickle_value){ .kind = PICKLE_NAME, .name = (uint8_t)i });
    }
    return err_set(m->e, STENO_EFORMAT, "%s: byte %zu: instruction 0x%02x (%s): asks for %.*s.%.*s, which is not part of weights; "
                   "nothing of it was run; save the model's state_dict alone", m->where, m->op_pos, m->op, op_name(m->op),
                   n_module < SAID_MAX ? (int)n_module : SAID_MAX, module, n < SAID_MAX ? (int)n : SAID_MAX, name);
}

static int read_global(struct machine *m)
{
    const char *line[2];
    size_t len[2];
    for (int i = 0; i < 2; i++) {
        line[i] = (const char *)m->p + m->pos;
        const char *end = memchr(line[i], '\n', m->n - m->pos);
        if (!end) return bad(m, "the pickle ends inside of it");
        len[i] = (size_t)(end - line[i]);
        m->pos += len[i] + 1;
    }
    return push_name(m, line[0], len[0], line[1], len[1]);
}

static int read_stack_global(struct machine *m)
{
    const struct pickle_value *v = top(m, 2);
    if (!v) return STENO_EFORMAT;
    if (v[0].kind != PICKLE_TEXT || v[1].kind != PICKLE_TEXT) return bad(m, "want two texts");
    m->stack.n -= 2;
    return push_name(m, v[0].text, v[0].n, v[1].text, v[1].n);
}

/* Record a call without making it. */
static int reduce(struct machine *m)
{
    struct pickle_value *v = top(m, 2);
    if (!v) return STENO_EFORMAT;
    if (v[0].kind != PICKLE_NAME || v[1].kind != PICKLE_TUPLE || m->names[v[0].name].use == PICKLE_USE_VALUE)
        return bad(m, "want something to call and its arguments");
    struct pickle_value out = { .kind = PICKLE_CALL, .name = v[0].name, .list = v[1].list };
    m->stack.n -= 2;
    if (m->names[out.name].use == PICKLE_USE_CALL) return push(m, out);
    if (out.list->n) return bad(m, "want no arguments for a dictionary");
    return make(m, PICKLE_DICT, 0);
}

/* A dictionary of modules carries their versions as an attribute, which is ignored. */
static int build(struct machine *m)
{
    const struct pickle_value *v = top(m, 2);
    if (!v) return STENO_EFORMAT;
    if (v[0].kind != PICKLE_DICT || v[1].kind != PICKLE_DICT) return bad(m, "want a dictionary of attributes for a dictionary");
    m->stack.n--;
    return STENO_OK;
}

static int outside(struct machine *m)
{
    struct pickle_value *v = top(m, 1);
    if (!v) return STENO_EFORMAT;
    if (v->kind != PICKLE_TUPLE) return bad(m, "want a tuple with the place of the bytes");
    v->kind = PICKLE_OUTSIDE;
    return STENO_OK;
}

static int frame(struct machine *m)
{
    uint64_t n;
    if (!take_number(m, 8, 0, &n)) return STENO_EFORMAT;
    return n <= m->n - m->pos ? STENO_OK : bad(m, "the frame is longer than the pickle");
}

static int stop(struct machine *m)
{
    if (m->n_marks || m->stack.n != 1) return bad(m, "want one value at the end");
    return m->pos == m->n ? STENO_OK : bad(m, "bytes follow");
}

/* ---- running ------------------------------------------------------------------------------------------------------------------- */

static int step(struct machine *m)
{
    switch (m->op) {
    case PK_PROTO: return read_proto(m);
    case PK_FRAME: return frame(m);
    case PK_MARK: return push_mark(m);
    case PK_NONE: return push_int(m, PICKLE_NONE, 0);
    case PK_NEWTRUE: return push_int(m, PICKLE_BOOL, 1);
    case PK_NEWFALSE: return push_int(m, PICKLE_BOOL, 0);
    case PK_BININT: return read_int(m, 4, 1);
    case PK_BININT1: return read_int(m, 1, 0);
    case PK_BININT2: return read_int(m, 2, 0);
    case PK_LONG1: return read_long(m);
    case PK_BINFLOAT: return read_float(m);
    case PK_BINUNICODE: return read_text(m, 4);
    case PK_SHORT_BINUNICODE: return read_text(m, 1);
    case PK_BINPUT: return memo_put(m, 1);
    case PK_LONG_BINPUT: return memo_put(m, 4);
    case PK_MEMOIZE: return memo_set(m, m->n_memo);
    case PK_BINGET: return memo_get(m, 1);
    case PK_LONG_BINGET: return memo_get(m, 4);
    case PK_EMPTY_TUPLE: return make(m, PICKLE_TUPLE, 0);
    case PK_EMPTY_LIST: return make(m, PICKLE_LIST, 0);
    case PK_EMPTY_DICT: return make(m, PICKLE_DICT, 0);
    case PK_TUPLE1: return make(m, PICKLE_TUPLE, 1);
    case PK_TUPLE2: return make(m, PICKLE_TUPLE, 2);
    case PK_TUPLE3: return make(m, PICKLE_TUPLE, 3);
    case PK_TUPLE: return make_tuple(m);
    case PK_APPEND: return extend(m, PICKLE_LIST, 1);
    case PK_APPENDS: return extend_marked(m, PICKLE_LIST);
    case PK_SETITEM: return extend(m, PICKLE_DICT, 2);
    case PK_SETITEMS: return extend_marked(m, PICKLE_DICT);
    case PK_GLOBAL: return read_global(m);
    case PK_STACK_GLOBAL: return read_stack_global(m);
    case PK_REDUCE: return reduce(m);
    case PK_BUILD: return build(m);
    case PK_BINPERSID: return outside(m);
    case PK_STOP: return stop(m);
    default: return bad(m, "is not one that weights are written with");
    }
}

int pickle_read(struct pickle_value *out, const uint8_t *data, size_t n, const char *where, const struct pickle_name *names,
                uint32_t n_names, struct arena *a, steno_error *e)
{
    struct machine m = { .p = data, .n = n, .where = where, .names = names, .n_names = n_names, .a = a, .e = e };
    *out = (struct pickle_value){ 0 };
    if (!n || data[0] != PK_PROTO) return err_set(e, STENO_EFORMAT, "%s: no pickle of protocol 2 to 5", where);
    while (m.pos < n) {
        m.op_pos = m.pos;
        m.op = data[m.pos++];
        const int rc = step(&m);
        if (rc) return rc;
        if (m.op != PK_STOP) continue;
        *out = m.stack.item[0];
        return STENO_OK;
    }
    return err_set(e, STENO_EFORMAT, "%s: the pickle ends at byte %zu without STOP; is the copy complete?", where, n);
}

int pickle_is_text(const struct pickle_value *v, const char *text)
{
    const size_t n = strlen(text);
    return v->kind == PICKLE_TEXT && v->n == n && !memcmp(v->text, text, n);
}

const struct pickle_value *pickle_find(const struct pickle_value *v, const char *key)
{
    const struct pickle_value *last = NULL;
    if (v->kind != PICKLE_DICT) return NULL;
    for (uint32_t i = 0; i + 1 < v->list->n; i += 2)
        if (pickle_is_text(&v->list->item[i], key)) last = &v->list->item[i + 1]; /* as in Python, a later value replaces an earlier one */
    return last;
}
