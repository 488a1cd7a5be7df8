/* steno-serve: reader of multipart/form-data. SPDX-License-Identifier: MIT
 *
 * A delimiter is CR LF, two dashes and the boundary. A boundary has no CR. So where a comparison with a delimiter fails, the next
 * delimiter begins at the byte that failed or later, and bytes that matched are data. */
#include "multipart_head.h"
#include <stdlib.h>
#include <string.h>

enum state {
    PREAMBLE,  /* before the first delimiter: dropped */
    DATA,      /* of a part */
    DELIMITED, /* after a delimiter: its end of line, or two dashes */
    HEAD,      /* of a part */
    EPILOGUE,  /* after the last delimiter: dropped */
    FAILED,
    STOPPED    /* by a callback */
};

enum { PADDING_MAX = 64 }; /* blanks after a boundary */

struct multipart {
    struct multipart_events ev;
    enum state state;
    int in_part;         /* before the delimiter: a part, not the preamble */
    int n_parts;
    const char *why;
    char delimiter[MULTIPART_BOUNDARY_MAX + 5];
    size_t n_delimiter;
    size_t matched;      /* bytes of the delimiter that the last bytes equal */
    size_t n_earlier;    /* of these: bytes before the data, the line end of the head */
    char behind[PADDING_MAX + 2]; /* [n_behind] bytes after a delimiter */
    size_t n_behind;
    char head[MULTIPART_HEAD_MAX + 1];
    size_t n_head;
};

struct multipart *multipart_open(const char *content_type, const struct multipart_events *ev, const char **why)
{
    char boundary[MULTIPART_BOUNDARY_MAX + 1];
    *why = multipart_boundary(boundary, content_type);
    if (*why) return NULL;
    struct multipart *m = calloc(1, sizeof *m);
    if (!m) {
        *why = "out of memory";
        return NULL;
    }
    m->ev = *ev;
    memcpy(m->delimiter, "\r\n--", 4);
    m->n_delimiter = 4 + strlen(boundary);
    memcpy(m->delimiter + 4, boundary, m->n_delimiter - 4);
    m->matched = m->n_earlier = 2; /* the first line may be a delimiter */
    return m;
}

static void fail(struct multipart *m, const char *why)
{
    m->why = why;
    m->state = FAILED;
}

static void heed(struct multipart *m, int stops)
{
    if (stops) m->state = STOPPED;
}

static void data(struct multipart *m, const char *bytes, size_t n)
{
    if (n && m->in_part && m->state != STOPPED) heed(m, m->ev.data(m->ev.user, bytes, n));
}

/* The bytes that looked like a delimiter are data. */
static void mismatch(struct multipart *m)
{
    const size_t from = m->n_earlier, n = m->matched - from;
    m->matched = m->n_earlier = 0;
    data(m, m->delimiter + from, n);
}

/* @return number of first bytes that equal the delimiter's from `matched` on */
static size_t match(const struct multipart *m, const char *bytes, size_t n)
{
    const size_t most = m->n_delimiter - m->matched;
    size_t k = 0;
    while (k < n && k < most && bytes[k] == m->delimiter[m->matched + k]) k++;
    return k;
}

/* Bytes of a part, or of the preamble, up to the end of a delimiter. Audio has a CR in every 256 bytes: data are passed on in one piece, up
 * to what may be a delimiter. @return their number */
static size_t add_data(struct multipart *m, const char *bytes, size_t n)
{
    size_t i = 0, from = 0; /* bytes[from..i) are data that was not passed on */
    while (i < n && m->state != STOPPED) {
        if (!m->matched) {
            const char *cr = memchr(bytes + i, '\r', n - i);
            i = cr ? (size_t)(cr - bytes) : n;
        }
        const size_t k = match(m, bytes + i, n - i);
        if (i + k == n || m->matched + k == m->n_delimiter) { /* the end of the bytes, or a delimiter */
            data(m, bytes + from, i - from);
            m->matched += k;
            if (m->matched < m->n_delimiter || m->state == STOPPED) return n;
            m->state = DELIMITED;
            m->n_behind = 0;
            return i + k;
        }
        if (m->matched) mismatch(m);
        i += k;
    }
    return i;
}

/* What follows a delimiter shows that it is none. */
static void undelimit(struct multipart *m)
{
    m->state = m->in_part ? DATA : PREAMBLE;
    mismatch(m);
    char behind[sizeof m->behind];
    const size_t n = m->n_behind;
    memcpy(behind, m->behind, n);
    if (m->state != STOPPED) add_data(m, behind, n); /* too short for a delimiter, and without its first byte before the last one */
}

static void delimit(struct multipart *m, enum state next)
{
    if (m->in_part) heed(m, m->ev.part_end(m->ev.user));
    m->in_part = 0;
    m->n_head = 0;
    if (m->state == STOPPED) return;
    m->state = next;
    if (next == HEAD && m->n_parts == MULTIPART_PARTS_MAX) fail(m, "the form has more than 256 parts");
}

static void add_behind(struct multipart *m, char c)
{
    const size_t n = m->n_behind;
    const char first = n ? m->behind[0] : c, last = n ? m->behind[n - 1] : '\0';
    m->behind[m->n_behind++] = c;
    if (first == '-') {
        if (c != '-') undelimit(m);
        else if (n) delimit(m, EPILOGUE);
    } else if (last == '\r') {
        if (c == '\n') delimit(m, HEAD);
        else undelimit(m);
    } else if ((c != ' ' && c != '\t' && c != '\r') || n == PADDING_MAX) undelimit(m);
}

static void begin_part(struct multipart *m, size_t n)
{
    struct multipart_part p;
    const char *why = multipart_head(&p, m->head, n);
    if (why) {
        fail(m, why);
        return;
    }
    m->n_parts++;
    m->state = DATA;
    m->in_part = 1;
    m->matched = m->n_earlier = 2; /* the line end of the head may begin a delimiter: then the part is empty */
    heed(m, m->ev.part(m->ev.user, &p));
}

static void add_head(struct multipart *m, char c)
{
    if (m->n_head == MULTIPART_HEAD_MAX) {
        fail(m, "the head of a part is longer than 8192 bytes");
        return;
    }
    m->head[m->n_head++] = c;
    const size_t n = m->n_head;
    m->head[n] = '\0';
    if (n == 2 && memcmp(m->head, "\r\n", 2) == 0) begin_part(m, 0);
    else if (n >= 4 && memcmp(m->head + n - 4, "\r\n\r\n", 4) == 0) begin_part(m, n - 2);
}

int multipart_add(struct multipart *m, const char *bytes, size_t n)
{
    size_t i = 0;
    while (i < n) switch (m->state) {
        case PREAMBLE:
        case DATA: i += add_data(m, bytes + i, n - i); break;
        case DELIMITED: add_behind(m, bytes[i++]); break;
        case HEAD: add_head(m, bytes[i++]); break;
        case EPILOGUE: return 0;
        case FAILED:
        case STOPPED: return -1;
        }
    return m->state == FAILED || m->state == STOPPED ? -1 : 0;
}

int multipart_end(struct multipart *m)
{
    switch (m->state) {
    case EPILOGUE:
        if (!m->n_parts) fail(m, "the form has no parts");
        break;
    case PREAMBLE: fail(m, "the boundary of Content-Type does not occur in the body"); break;
    case DATA: fail(m, "the body ends within a part: its last boundary is missing"); break;
    case DELIMITED: fail(m, "the body ends after a boundary, without the two dashes of the last one"); break;
    case HEAD: fail(m, "the body ends within the head of a part"); break;
    case FAILED:
    case STOPPED: break;
    }
    return m->state == EPILOGUE ? 0 : -1;
}

const char *multipart_why(const struct multipart *m)
{
    return m->why;
}

void multipart_close(struct multipart *m)
{
    free(m);
}
