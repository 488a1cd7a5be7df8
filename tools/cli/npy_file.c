/* steno: arrays in NumPy's .npy format. SPDX-License-Identifier: MIT
 *
 * A file has a magic word, a version, the length of a header, the header (a dictionary as Python prints it), and the numbers. */
#include "cli/npy_file.h"
#include <stdlib.h>
#include <string.h>

void npy_head(char head[NPY_HEAD], int64_t rows, int64_t width)
{
    char text[NPY_HEAD];
    int n = snprintf(text, sizeof text, "{'descr': '<f4', 'fortran_order': False, 'shape': (%lld,", (long long)rows);
    if (width) n += snprintf(text + n, sizeof text - (size_t)n, " %lld", (long long)width);
    n += snprintf(text + n, sizeof text - (size_t)n, "), }");
    memcpy(head, "\x93NUMPY\1\0", 8);
    head[8] = NPY_HEAD - 10;
    head[9] = 0;
    memset(head + 10, ' ', NPY_HEAD - 10);
    memcpy(head + 10, text, (size_t)n);
    head[NPY_HEAD - 1] = '\n';
}

/* The text after a key of the header; NULL if the key is missing. */
static const char *value_of(const char *head, const char *key)
{
    const char *p = strstr(head, key);
    if (!p) return NULL;
    p += strlen(key);
    return p + strspn(p, " :");
}

static const char *read_shape(struct npy *a, const char *p)
{
    if (!p || *p != '(') return "its shape is missing";
    a->n = 1;
    for (p++; *p && *p != ')';) {
        char *end;
        const long long dim = strtoll(p, &end, 10);
        if (end == p || dim < 0 || dim > NPY_MAX) return "its shape is not valid";
        if (a->n_dims == NPY_DIMS) return "it has more than 8 dimensions";
        a->dim[a->n_dims++] = dim;
        if (dim && a->n > (size_t)NPY_MAX / (size_t)dim) return "it is too large";
        a->n *= (size_t)dim;
        p = end + strspn(end, " ,L");
    }
    return *p == ')' ? NULL : "its shape is truncated";
}

/* Do all numbers lie along one dimension? Then columns and rows are the same. */
static int is_line(const struct npy *a)
{
    int n = 0;
    for (int i = 0; i < a->n_dims; i++) n += a->dim[i] != 1;
    return n < 2;
}

const char *npy_read(struct npy *a, const uint8_t *bytes, size_t n)
{
    enum { HEAD_MAX = 1 << 16 };
    *a = (struct npy){ 0 };
    if (n < 12 || memcmp(bytes, "\x93NUMPY", 6) != 0) return "it is not a .npy file";
    const size_t wide = bytes[6] > 1, at = wide ? 12 : 10;
    const size_t len = bytes[8] + 256u * bytes[9] + (wide ? 65536u * bytes[10] + 16777216u * bytes[11] : 0);
    if (len > n - at || len > HEAD_MAX) return "its header is truncated";
    char *head = malloc(len + 1);
    if (!head) return "out of memory";
    memcpy(head, bytes + at, len);
    head[len] = '\0';
    const char *type = value_of(head, "'descr'"), *order = value_of(head, "'fortran_order'"), *bad = NULL;
    const size_t sz = type && strncmp(type, "'<f4'", 5) == 0 ? 4 : type && strncmp(type, "'<f8'", 5) == 0 ? 8 : 0;
    if (!sz) bad = "its numbers are neither <f4 nor <f8";
    else bad = read_shape(a, value_of(head, "'shape'"));
    if (!bad && (!order || strncmp(order, "False", 5) != 0) && !is_line(a))
        bad = "it is stored by columns (fortran_order), not by rows";
    free(head);
    if (!bad && a->n > (n - at - len) / sz) bad = "its numbers are truncated";
    if (!bad && !(a->v = malloc((a->n + 1) * sizeof *a->v))) bad = "out of memory";
    for (size_t i = 0; i < a->n && !bad; i++) {
        const uint8_t *p = bytes + at + len + i * sz;
        double wide_x;
        if (sz == 4) memcpy(&a->v[i], p, 4);
        else memcpy(&wide_x, p, 8), a->v[i] = (float)wide_x;
    }
    return bad;
}
