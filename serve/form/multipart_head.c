/* steno-serve: header fields of a form's parts. SPDX-License-Identifier: MIT */
#include "multipart_head.h"
#include "utf8.h"
#include <string.h>
#include <strings.h>

/* ---- parameters of a field: "; name=value", the value as it is or in quotes --------------------------------------------------- */

struct param {
    const char *name, *value; /* not terminated */
    size_t n_name, n;
    int quoted;
};

static int is_blank(char c) { return c == ' ' || c == '\t'; }

static const char *skip_blanks(const char *p)
{
    return p + strspn(p, " \t");
}

static size_t without_blanks(const char *s, size_t n)
{
    while (n && is_blank(s[n - 1])) n--;
    return n;
}

/* A backslash escapes a quote and itself. In front of other characters it is part of a Windows path. */
static size_t escape_at(const char *s)
{
    return s[0] == '\\' && (s[1] == '"' || s[1] == '\\');
}

/* The parameter behind a semicolon at *at. @return 1; 0: there is none; -1: it is broken */
static int param_next(const char **at, struct param *p)
{
    const char *s = skip_blanks(*at);
    if (*s && *s != ';') return -1;
    while (*s == ';') s = skip_blanks(s + 1);
    if (!*s) return 0;
    p->name = s;
    p->n_name = strcspn(s, "=; \t\"");
    s = skip_blanks(s + p->n_name);
    if (*s != '=' || !p->n_name) return -1;
    s = skip_blanks(s + 1);
    p->quoted = *s == '"';
    p->value = s += p->quoted;
    if (!p->quoted) {
        p->n = strcspn(s, ";");
        *at = s + p->n;
        p->n = without_blanks(p->value, p->n);
        return 1;
    }
    while (*s && *s != '"') s += 1 + escape_at(s);
    if (*s != '"') return -1;
    p->n = (size_t)(s - p->value);
    *at = skip_blanks(s + 1);
    return !**at || **at == ';' ? 1 : -1;
}

static int param_is(const struct param *p, const char *name)
{
    return strlen(name) == p->n_name && strncasecmp(p->name, name, p->n_name) == 0;
}

/* ---- the boundary -------------------------------------------------------------------------------------------------------------- */

const char *multipart_boundary(char boundary[MULTIPART_BOUNDARY_MAX + 1], const char *content_type)
{
    static const char type[] = "multipart/form-data", other[] = "Content-Type is not multipart/form-data";
    if (!content_type) return other;
    const char *at = skip_blanks(content_type);
    if (strncasecmp(at, type, sizeof type - 1) != 0) return other;
    at = skip_blanks(at + sizeof type - 1);
    if (*at && *at != ';') return other;
    struct param p;
    int rc = 0;
    size_t k = 0;
    boundary[0] = '\0';
    while ((rc = param_next(&at, &p)) == 1) {
        if (!param_is(&p, "boundary")) continue;
        if (k) return "Content-Type has two boundaries";
        for (size_t i = 0; i < p.n; i++) {
            i += p.quoted && escape_at(p.value + i);
            if (k == MULTIPART_BOUNDARY_MAX) return "the boundary in Content-Type is longer than 70 characters";
            if (p.value[i] < ' ' || p.value[i] > '~') return "the boundary in Content-Type has a character that is not printable ASCII";
            boundary[k++] = p.value[i];
        }
        boundary[k] = '\0';
        if (!k || boundary[k - 1] == ' ') return "the boundary in Content-Type is empty, or ends with a space";
    }
    if (rc < 0) return "the parameters of Content-Type are not \"; name=value\"";
    return k ? NULL : "Content-Type has no boundary";
}

/* ---- names --------------------------------------------------------------------------------------------------------------------- */

static int hex_digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* The byte that %XX at s means, or -1. */
static int percent_at(const char *s, size_t n)
{
    if (n < 3 || s[0] != '%' || hex_digit(s[1]) < 0 || hex_digit(s[2]) < 0) return -1;
    return hex_digit(s[1]) * 16 + hex_digit(s[2]);
}

/* The value of a parameter in out[size]: \" and %22 are quotes, other %XX stay as they are. @return its length; `size`: longer */
static size_t value_text(char *out, size_t size, const struct param *p)
{
    size_t k = 0;
    for (size_t i = 0; i < p->n && k < size; i++) {
        const int quote = percent_at(p->value + i, p->n - i) == '"';
        i += p->quoted && i + 1 < p->n && escape_at(p->value + i);
        out[k++] = quote ? '"' : p->value[i];
        i += quote ? 2 : 0;
    }
    if (k < size) out[k] = '\0';
    return k;
}

/* The value of `filename*`: CHARSET'LANGUAGE'TEXT, with %XX for bytes. @return its length; 0: of another charset, or broken */
static size_t extended_text(char *out, size_t size, const struct param *p)
{
    static const char utf8[] = "utf-8'", latin[] = "iso-8859-1'";
    const int is_latin = strncasecmp(p->value, latin, sizeof latin - 1) == 0;
    const char *s = p->value + (is_latin ? sizeof latin : sizeof utf8) - 1, *end = p->value + p->n;
    if ((!is_latin && strncasecmp(p->value, utf8, sizeof utf8 - 1) != 0) || s >= end) return 0;
    if (!(s = memchr(s, '\'', (size_t)(end - s)))) return 0;
    size_t k = 0;
    for (s++; s < end && k + 2 < size; s++) {
        const int coded = percent_at(s, (size_t)(end - s));
        const unsigned char c = (unsigned char)(coded < 0 ? *s : coded);
        if (!c || (*s == '%' && coded < 0)) return 0;
        if (is_latin && c >= 0x80) out[k++] = (char)(0xc0 | c >> 6);
        out[k++] = (char)(is_latin && c >= 0x80 ? 0x80 | (c & 0x3f) : c);
        if (coded >= 0) s += 2;
    }
    out[k] = '\0';
    return k;
}

/* What is behind the last slash of either kind, without control characters and invalid bytes, cut to the size between characters. */
static void file_name(char file[MULTIPART_NAME_SZ], const char *text, size_t n)
{
    size_t at = n, k = 0, used;
    while (at && text[at - 1] != '/' && text[at - 1] != '\\') at--;
    for (; at < n; at += used) {
        const int32_t c = utf8_decode(text + at, n - at, &used);
        if (c == UTF8_BAD || c < 0x20 || (c >= 0x7f && c < 0xa0)) continue;
        if (k + used >= MULTIPART_NAME_SZ) break;
        memcpy(file + k, text + at, used);
        k += used;
    }
    file[k] = '\0';
}

/* ---- a part's head ------------------------------------------------------------------------------------------------------------- */

static const char *field_name(struct multipart_part *p, const struct param *from)
{
    if (p->name[0]) return "a part has two names";
    const size_t n = value_text(p->name, sizeof p->name, from);
    if (n == sizeof p->name) return "the name of a part is longer than 255 bytes";
    if (utf8_invalid_at(p->name) >= 0) return "the name of a part is not valid UTF-8";
    for (const char *s = p->name; *s; s++)
        if ((unsigned char)*s < 0x20 || *s == 0x7f) return "the name of a part has a control character";
    return NULL;
}

static const char *disposition(struct multipart_part *p, const char *value)
{
    static const char kind[] = "form-data", broken[] = "the Content-Disposition of a part is not form-data; name=\"NAME\"";
    char text[MULTIPART_HEAD_MAX];
    struct param q;
    int rc = 0, has_plain = 0, has_extended = 0;
    const char *at = value, *why = NULL;
    if (p->name[0]) return "a part has two fields Content-Disposition";
    if (strncasecmp(at, kind, sizeof kind - 1) != 0) return broken;
    at += sizeof kind - 1;
    while (!why && (rc = param_next(&at, &q)) == 1) {
        if (param_is(&q, "name")) why = field_name(p, &q);
        else if (param_is(&q, "filename")) {
            if (has_plain++) why = "a part has two file names";
            const size_t n = value_text(text, sizeof text, &q);
            if (!has_extended) file_name(p->file, text, n);
        } else if (param_is(&q, "filename*")) {
            const size_t n = extended_text(text, sizeof text, &q);
            if (n) file_name(p->file, text, n);
            has_extended = n != 0;
            p->has_file = 1;
        }
    }
    p->has_file |= has_plain;
    return why ? why : rc < 0 ? broken : p->name[0] ? NULL : "a part has no name";
}

static const char *encoding(const char *value)
{
    static const char *const plain[] = { "binary", "8bit", "7bit" };
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        if (strcasecmp(value, plain[i]) == 0) return NULL;
    return "the Content-Transfer-Encoding of a part is not binary: send the bytes as they are";
}

/* A line of a head. *value: its value without blanks around it. @return length of the name; 0: broken */
static size_t head_line(char *line, char **value)
{
    const size_t n = strcspn(line, ":");
    if (!line[n] || strcspn(line, " \t\"(),/;<=>?@[\\]{}") < n) return 0;
    *value = line + n + 1 + strspn(line + n + 1, " \t");
    (*value)[without_blanks(*value, strlen(*value))] = '\0';
    return n;
}

const char *multipart_head(struct multipart_part *p, char *head, size_t n)
{
    memset(p, 0, sizeof *p);
    for (size_t i = 0; i < n; i++) {
        const int ends = head[i] == '\r' && i + 1 < n && head[i + 1] == '\n';
        if (!ends && ((unsigned char)head[i] < 0x20 || head[i] == 0x7f) && head[i] != '\t')
            return "the head of a part has a control character, or a line that does not end with CR LF";
        if (!ends) continue;
        const int goes_on = i + 2 < n && is_blank(head[i + 2]); /* a folded line */
        head[i] = goes_on ? ' ' : '\0';
        head[++i] = goes_on ? ' ' : '\0';
    }
    const char *why = NULL;
    for (size_t at = 0, k; !why && at < n; at += k + 2) {
        char *value;
        k = strlen(head + at);
        const size_t name = head_line(head + at, &value);
        if (!name) why = "the head of a part has a line that is not \"Name: value\"";
        else if (name == 19 && strncasecmp(head + at, "Content-Disposition", name) == 0) why = disposition(p, value);
        else if (name == 25 && strncasecmp(head + at, "Content-Transfer-Encoding", name) == 0) why = encoding(value);
        else if (name == 12 && strncasecmp(head + at, "Content-Type", name) == 0 && strncasecmp(value, "multipart/", 10) == 0)
            why = "a part has parts of its own: send each file as a part of the form";
    }
    return why ? why : p->name[0] ? NULL : "a part has no field Content-Disposition";
}
