/* steno tests: forms, cut anywhere. SPDX-License-Identifier: MIT */
#include "harness.h"
#include "multipart.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what a form has, as text: NAME{FILE}[DATA] --------------------------------------------------------------------------------- */

struct seen {
    char text[8192];
    size_t n;
    int depth;     /* 1: within a part */
    int stops_at;  /* number of the call that stops; 0: none */
    int n_calls;
};

static void note(struct seen *s, const char *bytes, size_t n)
{
    if (s->n + n >= sizeof s->text) fail_msg("more than %zu bytes", sizeof s->text);
    memcpy(s->text + s->n, bytes, n);
    s->text[s->n += n] = '\0';
}

static int stops(struct seen *s)
{
    return ++s->n_calls == s->stops_at;
}

static int on_part(void *user, const struct multipart_part *p)
{
    struct seen *s = user;
    assert_int_equal(s->depth++, 0);
    assert_true(p->name[0] && memchr(p->name, '\0', sizeof p->name) && memchr(p->file, '\0', sizeof p->file));
    note(s, p->name, strlen(p->name));
    if (p->has_file) {
        note(s, "{", 1);
        note(s, p->file, strlen(p->file));
        note(s, "}", 1);
    }
    note(s, "[", 1);
    return stops(s);
}

static int on_data(void *user, const char *bytes, size_t n)
{
    struct seen *s = user;
    assert_int_equal(s->depth, 1);
    assert_true(n > 0);
    note(s, bytes, n);
    return stops(s);
}

static int on_end(void *user)
{
    struct seen *s = user;
    assert_int_equal(s->depth--, 1);
    note(s, "]", 1);
    return stops(s);
}

/* Reads body[n] in pieces of `first` bytes and then `step`. @return 0, with what it has in s; or -1, with the reason in *why */
static int read_form(struct seen *s, const char *type, const char *body, size_t n, size_t first, size_t step, const char **why)
{
    const struct multipart_events ev = { on_part, on_data, on_end, s };
    struct multipart *m = multipart_open(type, &ev, why);
    if (!m) return -1;
    int rc = 0;
    for (size_t at = 0, k = first; !rc && at < n; at += k, k = step) {
        if (k > n - at) k = n - at;
        char *piece = malloc(k + !k); /* sanitizers see its end */
        assert_non_null(piece);
        memcpy(piece, body + at, k);
        rc = multipart_add(m, piece, k);
        free(piece);
    }
    if (!rc) rc = multipart_end(m);
    *why = multipart_why(m);
    multipart_close(m);
    return rc;
}

/* ---- 30 and more bodies, cut at every position ---------------------------------------------------------------------------------- */

#define FORM "multipart/form-data; boundary=B"
#define PART(head, data) "--B\r\nContent-Disposition: form-data; " head "\r\n\r\n" data "\r\n"
#define END "--B--\r\n"

static const struct { const char *type, *body, *has, *why; } bodies[] = {
    { FORM, PART("name=\"a\"", "1") END, "a[1]", NULL },
    { FORM, PART("name=\"model\"", "base") PART("name=\"file\"; filename=\"a.wav\"", "RIFF\r\n\n\r") END,
      "model[base]file{a.wav}[RIFF\r\n\n\r]", NULL },
    /* .NET: unquoted names, filename*, a quoted boundary */
    { "multipart/form-data; boundary=\"B\"", PART("name=file; filename=a.wav; filename*=utf-8''a%20%c3%a9.wav", "x") END,
      "file{a \303\251.wav}[x]", NULL },
    { FORM, PART("name=file; filename*=UTF-8'de'a%C3%A9.wav; filename=other", "x") END, "file{a\303\251.wav}[x]", NULL },
    { FORM, PART("name=file; filename*=iso-8859-1''%e9; filename=b", "x") END, "file{\303\251}[x]", NULL },
    { FORM, PART("name=file; filename*=koi8-r''%e9; filename=b", "x") END, "file{b}[x]", NULL },
    { FORM, PART("name=file; filename*=utf-8''%zz", "x") END, "file{}[x]", NULL },
    { "Multipart/Form-Data;charset=utf-8;  Boundary=B ; charset=utf-8", PART("name=\"a\"", "1") END, "a[1]", NULL },
    { FORM ";", "--B\r\ncontent-type: text/plain; charset=utf-8\r\nCONTENT-DISPOSITION:form-data;NAME=\"a\"\r\n\r\n1\r\n" END,
      "a[1]", NULL },
    { FORM, PART("name=\"a\\\"b%22c\"; filename=\"d\\\"e%22f%0A.wav\"", "1") END, "a\"b\"c{d\"e\"f%0A.wav}[1]", NULL },
    { FORM, PART("name=\"f\"; filename=\"C:\\dir\\x y.wav\"", "") PART("name=\"f\"; filename=\"../../etc/p\"", "") END,
      "f{x y.wav}[]f{p}[]", NULL },
    { FORM, PART("name=\"f\"; filename=\"\"", "") PART("name=\"f\"; filename=\"a\300\2013\302\205.wav\"", "") END,
      "f{}[]f{a3.wav}[]", NULL },
    { FORM, PART("name=\"\303\244\"", "1") END, "\303\244[1]", NULL },
    { FORM, "preamble --B\r\n --B\r\n-\r\n" PART("name=\"a\"", "1") "--B--epilogue\r\n--B\r\nmore", "a[1]", NULL },
    { FORM, "--B \t\r\nContent-Disposition: form-data; name=a\r\n\r\n1\r\n--B--", "a[1]", NULL },
    { FORM, "--B\r\nContent-Disposition: form-data; name=a\r\n\r\n--B--", "a[]", NULL },                  /* an empty part */
    { FORM, PART("name=a", "") END, "a[]", NULL },
    { FORM, PART("name=a", "--Bx\r\n--B-x\r\n--BB\r\n--B x\r\n--B\rx\r\n--\r\n--C\r\n-\r\r\r\n") END,        /* boundary-like data */
      "a[--Bx\r\n--B-x\r\n--BB\r\n--B x\r\n--B\rx\r\n--\r\n--C\r\n-\r\r\r\n]", NULL },
    { FORM, PART("name=a", "\n--B\r\n--B\n\r\n--B\r\r\n--B -") END, "a[\n--B\r\n--B\n\r\n--B\r\r\n--B -]", NULL },
    { FORM, "--B\r\nContent-Disposition: form-data;\r\n name=a;\r\n\tfilename=b\r\n\r\n1\r\n" END, "a{b}[1]", NULL }, /* folded */
    { "multipart/form-data; boundary=\"a \\\"b\"", "--a \"b\r\nContent-Disposition: form-data; name=a\r\n\r\n"
      "1\r\n--a \"b--", "a[1]", NULL },
    { FORM, "--B\r\nContent-Transfer-Encoding: Binary\r\nContent-Disposition: form-data; name=a\r\n\r\n1\r\n" END, "a[1]", NULL },
    /* broken */
    { FORM, "", "", "does not occur" },
    { FORM, END, "", "no parts" },
    { FORM, "--C\r\nContent-Disposition: form-data; name=a\r\n\r\n1\r\n--C--", "", "does not occur" },
    { FORM, "--B\nContent-Disposition: form-data; name=a\n\n1\n--B--\n", "", "does not occur" },
    { FORM, PART("name=a", "1"), "a[1", "within a part" },
    { FORM, PART("name=a", "1") "--B", "a[1", "two dashes" },
    { FORM, PART("name=a", "1") "--B-", "a[1", "two dashes" },
    { FORM, PART("name=a", "1") "--B\r\nContent-Disposition", "a[1]", "within the head" },
    { FORM, "--B\r\n\r\n1\r\n" END, "", "no field Content-Disposition" },
    { FORM, "--B\r\nContent-Disposition: attachment; name=a\r\n\r\n1\r\n" END, "", "not form-data" },
    { FORM, "--B\r\nContent-Disposition: form-data name=a\r\n\r\n1\r\n" END, "", "not form-data" },
    { FORM, "--B\r\nContent-Disposition: form-data; name=\"a\r\n\r\n1\r\n" END, "", "not form-data" },
    { FORM, "--B\r\nContent-Disposition: form-data; name=a\r\nContent-Disposition: form-data; name=b\r\n\r\n1\r\n" END, "", "two fields" },
    { FORM, PART("name=a; name=b", "1") END, "", "two names" },
    { FORM, PART("name=a; filename=b; filename=c", "1") END, "", "two file names" },
    { FORM, PART("name=\"\"", "1") END, "", "no name" },
    { FORM, PART("filename=a", "1") END, "", "no name" },
    { FORM, PART("name=\"\377\"", "1") END, "", "UTF-8" },
    { FORM, PART("name=\"a\tb\"", "1") END, "", "control" },
    { FORM, "--B\r\nContent-Disposition: form-data; name=a\nX: y\r\n\r\n1\r\n" END, "", "control" },
    { FORM, "--B\r\nContent-Disposition : form-data; name=a\r\n\r\n1\r\n" END, "", "Name: value" },
    { FORM, "--B\r\n Content-Disposition: form-data; name=a\r\n\r\n1\r\n" END, "", "Name: value" },
    { FORM, "--B\r\nnonsense\r\n\r\n1\r\n" END, "", "Name: value" },
    { FORM, "--B\r\nContent-Transfer-Encoding: base64\r\nContent-Disposition: form-data; name=a\r\n\r\nMQ==\r\n" END,
      "", "Transfer-Encoding" },
    { FORM, "--B\r\nContent-Disposition: form-data; name=a\r\nContent-Type: multipart/mixed; boundary=C\r\n\r\n--C\r\n\r\n"
      "1\r\n--C--\r\n" END, "", "parts of its own" },
    { "application/json", "", "", "not multipart" },
    { NULL, "", "", "not multipart" },
    { "multipart/form-datax; boundary=B", "", "", "not multipart" },
    { "multipart/form-data", "", "", "no boundary" },
    { "multipart/form-data; boundary=", "", "", "empty" },
    { "multipart/form-data; boundary=\"B", "", "", "parameters" },
    { "multipart/form-data; boundary=\"B \"", "", "", "empty" },
    { "multipart/form-data; boundary=B; boundary=C", "", "", "two boundaries" },
    { "multipart/form-data boundary=B", "", "", "not multipart" },
    { "multipart/form-data; boundary=\"\001\"", "", "", "printable" },
};

static void check_body(size_t i, size_t first, size_t step)
{
    struct seen s = { 0 };
    const char *why = NULL;
    const int rc = read_form(&s, bodies[i].type, bodies[i].body, strlen(bodies[i].body), first, step, &why);
    if ((rc != 0) != (bodies[i].why != NULL) || strcmp(s.text, bodies[i].has) != 0 || (rc && !strstr(why, bodies[i].why)))
        fail_msg("body %zu, cut at %zu, then every %zu: %d %s: %s", i, first, step, rc, why ? why : "", s.text);
}

static void test_forms_are_the_same_wherever_they_are_cut(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++)
        for (size_t cut = 0; cut <= strlen(bodies[i].body); cut++) {
            check_body(i, cut, (size_t)-1);
            if (cut) check_body(i, cut, cut);
        }
}

static void test_a_callback_stops_the_form_without_a_reason(void **state)
{
    static const char body[] = PART("name=a", "1") PART("name=b", "\r\n--Bx2") END;
    (void)state;
    for (size_t step = 1; step < sizeof body; step++)
        for (int at = 1;; at++) {
            struct seen s = { .stops_at = at };
            const char *why = NULL;
            const int rc = read_form(&s, FORM, body, sizeof body - 1, step, step, &why);
            if (s.n_calls < at) break; /* it had all calls */
            assert_int_equal(rc, -1);
            assert_int_equal(s.n_calls, at);
            assert_null(why);
        }
}

/* ---- limits ---------------------------------------------------------------------------------------------------------------------- */

/* A form of n_parts parts; the name of the last one has n_name bytes, its head n_pad more, its boundary n_boundary.
 * @return why it failed */
static const char *limit(int n_parts, size_t n_name, size_t n_pad, size_t n_boundary)
{
    struct seen s = { 0 };
    const char *why = NULL;
    char type[256], boundary[128];
    const size_t room = 128 * 1024 + (size_t)n_parts * 64 + n_name + n_pad + 2 * n_boundary;
    char *body = malloc(room);
    assert_non_null(body);
    memset(boundary, 'b', n_boundary);
    boundary[n_boundary] = '\0';
    snprintf(type, sizeof type, "multipart/form-data; boundary=%s", boundary);
    size_t n = 0;
    for (int i = 0; i < n_parts; i++) {
        n += (size_t)sprintf(body + n, "--%s\r\nContent-Disposition: form-data; name=", boundary);
        const size_t k = i + 1 < n_parts ? 1 : n_name;
        memset(body + n, 'n', k);
        n += k;
        n += (size_t)sprintf(body + n, "\r\nX: ");
        memset(body + n, 'x', i + 1 < n_parts ? 0 : n_pad);
        n += i + 1 < n_parts ? 0 : n_pad;
        n += (size_t)sprintf(body + n, "\r\n\r\n1\r\n");
    }
    n += (size_t)sprintf(body + n, "--%s--", boundary);
    const int rc = read_form(&s, type, body, n, 1000, 1000, &why);
    assert_int_equal(rc != 0, why != NULL);
    free(body);
    return why;
}

static void test_limits(void **state)
{
    static const size_t head = sizeof "Content-Disposition: form-data; name=n\r\nX: \r\n\r\n" - 1;
    (void)state;
    assert_null(limit(MULTIPART_PARTS_MAX - 1, 1, 0, 1));
    assert_null(limit(MULTIPART_PARTS_MAX, 1, 0, 1));
    assert_non_null(strstr(limit(MULTIPART_PARTS_MAX + 1, 1, 0, 1), "256 parts"));
    assert_non_null(strstr(limit(5000, 1, 0, 1), "256 parts"));
    assert_null(limit(1, 255, 0, 1));
    assert_non_null(strstr(limit(1, 256, 0, 1), "255 bytes"));
    assert_non_null(strstr(limit(1, 5000, 0, 1), "255 bytes"));
    assert_null(limit(1, 1, MULTIPART_HEAD_MAX - head, 1));
    assert_non_null(strstr(limit(1, 1, MULTIPART_HEAD_MAX - head + 1, 1), "8192"));
    assert_non_null(strstr(limit(1, 1, 100000, 1), "8192"));
    assert_null(limit(2, 1, 0, 70));
    assert_non_null(strstr(limit(2, 1, 0, 71), "70 characters"));
}

static void test_file_names_are_cut_between_characters(void **state)
{
    struct seen s = { 0 };
    const char *why;
    char body[1024], name[512];
    (void)state;
    for (size_t i = 0; i < 200; i++) memcpy(name + 2 * i, "\303\251", 3);
    snprintf(body, sizeof body, PART("name=f; filename=\"%s\"", "1") END, name);
    assert_int_equal(read_form(&s, FORM, body, strlen(body), 7, 7, &why), 0);
    assert_int_equal(strlen(s.text), strlen("f{}[1]") + 254);
}

static void test_blanks_after_a_boundary_have_a_limit(void **state)
{
    (void)state;
    for (int blanks = 62; blanks <= 67; blanks++) {
        struct seen s = { 0 };
        const char *why = NULL;
        char body[256];
        snprintf(body, sizeof body, PART("name=a", "1") "--B%*s\r\nContent-Disposition: form-data; name=b\r\n\r\n2\r\n--B--", blanks, "");
        assert_int_equal(read_form(&s, FORM, body, strlen(body), 9, 9, &why), 0);
        assert_int_equal(strstr(s.text, "b[2]") != NULL, blanks <= 63);
    }
}

static void test_data_with_line_ends_come_in_one_piece(void **state)
{
    struct seen s = { 0 };
    const char *why = NULL;
    static const char body[] = PART("name=a; filename=b", "\r\n\r\n--\r\r\n--C\r\rx\r\n-\r\n") END;
    (void)state;
    assert_int_equal(read_form(&s, FORM, body, sizeof body - 1, sizeof body - 1, 1, &why), 0);
    assert_string_equal(s.text, "a{b}[\r\n\r\n--\r\r\n--C\r\rx\r\n-\r\n]");
    assert_int_equal(s.n_calls, 3); /* part, data, end */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forms_are_the_same_wherever_they_are_cut),
        cmocka_unit_test(test_a_callback_stops_the_form_without_a_reason),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_file_names_are_cut_between_characters),
        cmocka_unit_test(test_blanks_after_a_boundary_have_a_limit),
        cmocka_unit_test(test_data_with_line_ends_come_in_one_piece),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
