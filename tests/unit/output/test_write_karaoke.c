/* steno: karaoke, scores, and what a font is called. SPDX-License-Identifier: MIT
 *
 * The ASS file is read back by a small reader of its own: sections, the order of fields that the file announces, and per line the text
 * without commands and when each syllable begins. */
#include "write_help.h"
#include "font.h"
#include <stdio.h>
#include <unistd.h>

/* ---- a reader of ASS --------------------------------------------------------------------------------------------------------- */

enum { MAX_LINES = 8, MAX_SYLLABLES = 32, TEXT_SZ = 512 };

struct syllable { int t0, t1; char text[64]; }; /* hundredths of a second in the file */

struct ass_line {
    int t0, t1, n; /* hundredths; syllables */
    char style[32], name[32], text[TEXT_SZ];
    struct syllable syllable[MAX_SYLLABLES];
};

struct ass { char fonts[2][64]; int n_styles, n; struct ass_line line[MAX_LINES]; };

static int hundredths_of(const char *s)
{
    int h, m, sec, c;
    assert_int_equal(sscanf(s, "%d:%2d:%2d.%2d", &h, &m, &sec, &c), 4);
    assert_true(m < 60 && sec < 60);
    return ((h * 60 + m) * 60 + sec) * 100 + c;
}

/* Field `i` of a line, cut at commas; the last of n keeps its commas. */
static void field_of(char *out, size_t sz, const char *line, int i, int n)
{
    for (int k = 0; k < i; k++) {
        line = strchr(line, ',');
        assert_non_null(line);
        line++;
    }
    const size_t len = i == n - 1 ? strlen(line) : strcspn(line, ",");
    assert_true(len < sz);
    memcpy(out, line, len);
    out[len] = '\0';
}

static void put(char *to, const char *s, size_t n)
{
    const size_t at = strlen(to);
    assert_true(at + n < 64);
    memcpy(to + at, s, n);
    to[at + n] = '\0';
}

/* Text and syllables of the last field, as libass reads them. */
static void read_text(struct ass_line *l, const char *p)
{
    char head[64] = "", *to = head;
    int at = l->t0;
    l->text[0] = '\0';
    while (*p) {
        int k, len = 0;
        const char *s = p;
        if (sscanf(p, "{\\k%d}%n", &k, &len) == 1 && len) {
            assert_true(l->n < MAX_SYLLABLES);
            l->syllable[l->n] = (struct syllable){ .t0 = at, .t1 = at + k };
            to = l->syllable[l->n++].text;
            at += k;
            p += len;
            continue;
        }
        assert_true(*p != '{' && *p != '}');
        if (*p == '\\' && (p[1] == '{' || p[1] == '}')) s = p + 1, len = 2;
        else if (*p == '\\' && p[1] == 'N') s = "\n", len = 2;
        else if (strncmp(p, "\\\xe2\x81\xa0", 4) == 0) len = 4;
        else {
            assert_true(*p != '\\');
            len = 1;
        }
        put(to, s, 1);
        put(l->text, s, 1);
        p += len;
    }
}

static void read_ass(struct ass *a, char *text)
{
    char section[32] = "", format[512] = "", word[64];
    memset(a, 0, sizeof *a);
    for (char *line = text, *next; *line; line = next) {
        next = strchr(line, '\n');
        assert_non_null(next);
        *next++ = '\0';
        if (line[0] == '[') snprintf(section, sizeof section, "%s", line);
        else if (strncmp(line, "Format: ", 8) == 0) snprintf(format, sizeof format, "%s", line + 8);
        else if (strncmp(line, "Style: ", 7) == 0) {
            assert_string_equal(section, "[V4+ Styles]");
            assert_true(a->n_styles < 2);
            field_of(word, sizeof word, format, 1, 23);
            assert_string_equal(word, " Fontname");
            field_of(a->fonts[a->n_styles++], 64, line + 7, 1, 23);
        } else if (strncmp(line, "Dialogue: ", 10) == 0) {
            struct ass_line *l = &a->line[a->n++];
            char last[TEXT_SZ];
            assert_string_equal(section, "[Events]");
            assert_string_equal(format, "Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text");
            field_of(word, sizeof word, line + 10, 1, 10);
            l->t0 = hundredths_of(word);
            field_of(word, sizeof word, line + 10, 2, 10);
            l->t1 = hundredths_of(word);
            field_of(l->style, sizeof l->style, line + 10, 3, 10);
            field_of(l->name, sizeof l->name, line + 10, 4, 10);
            field_of(last, sizeof last, line + 10, 9, 10);
            read_text(l, last);
        } else assert_true(!*line || strncmp(section, "[Script Info]", 13) == 0);
    }
}

static void ass_of(struct ass *a, const struct transcript *t)
{
    char *text = written(ASS, t);
    read_ass(a, text);
    free(text);
}

/* ---- karaoke ----------------------------------------------------------------------------------------------------------------- */

static const int32_t first[] = { 0, 2 };

static void test_each_word_begins_when_it_is_spoken(void **state)
{
    (void)state;
    static const steno_word words[] = { WORD(" one", 3600004, 3600508), WORD(" two", 3600756, 3601000), WORD(" x", 3602000, 3602990) };
    const steno_segment segs[] = { { .n_words = 2 }, { .n_words = 1 } };
    const struct transcript t = { .segs = segs, .n = 2, .word_times = 1, .words = words, .first_word = first };
    struct ass a;
    ass_of(&a, &t);
    assert_int_equal(a.n, 2);
    const struct ass_line *l = &a.line[0];
    assert_string_equal(l->style, "Karaoke");
    assert_string_equal(l->text, "one two");
    assert_int_equal(l->t0, 360000);
    assert_int_equal(l->t1, 360100);
    assert_int_equal(l->n, 3); /* the second is the pause */
    assert_int_equal(l->syllable[0].t0, 360000);
    assert_int_equal(l->syllable[0].t1, 360051);
    assert_string_equal(l->syllable[1].text, "");
    assert_int_equal(l->syllable[2].t0, 360076);
    assert_int_equal(l->syllable[2].t1, 360100);
    assert_string_equal(l->syllable[2].text, " two");
    assert_int_equal(a.line[1].t0, 360200);
    assert_int_equal(a.line[1].t1, 360299);
}

static void test_braces_backslashes_and_newlines_are_text(void **state)
{
    (void)state;
    static const char nasty[] = "{\\b1}\\N\\{a\nb,\\";
    static const steno_word words[] = { WORD(nasty, 0, 100), WORD(" }", 100, 200) };
    const steno_segment s = { .t1_ms = 200, .text = nasty, .n_words = 2 };
    struct transcript t = { .segs = &s, .n = 1, .word_times = 1, .words = words, .first_word = first };
    struct ass a;
    ass_of(&a, &t);
    assert_int_equal(a.n, 1);
    assert_string_equal(a.line[0].text, "{\\b1}\\N\\{a\nb,\\ }");
    assert_int_equal(a.line[0].n, 2);
    t.word_times = 0;
    ass_of(&a, &t);
    assert_string_equal(a.line[0].text, nasty);
    assert_int_equal(a.line[0].n, 0);
    assert_string_equal(a.line[0].style, "Line");
}

static void test_layout_and_font_reach_the_karaoke_and_underlining_does_not(void **state)
{
    (void)state;
    static const steno_word words[] = { WORD(" one", 0, 100), WORD(" two", 100, 200) };
    const steno_segment s = { .n_words = 2 };
    const struct write_layout l = { .max_line_width = 4, .highlight_words = 1, .font = "DejaVu Serif" };
    const struct transcript t = { .segs = &s, .n = 1, .word_times = 1, .words = words, .first_word = first, .layout = &l };
    struct ass a;
    ass_of(&a, &t);
    assert_int_equal(a.n, 1);
    assert_string_equal(a.line[0].text, "one\ntwo");
    assert_string_equal(a.fonts[0], "DejaVu Serif");
    assert_string_equal(a.fonts[1], "DejaVu Serif");
}

static void test_words_that_overlap_or_have_no_time_do_not_move_the_others(void **state)
{
    (void)state;
    static const steno_word words[] = { WORD(" a", 0, 300), WORD(" b", 100, 200), WORD(" c", -1, -1), WORD(" d", 250, 500) };
    const steno_segment s = { .n_words = 4 };
    const struct transcript t = { .segs = &s, .n = 1, .word_times = 1, .words = words, .first_word = first };
    struct ass a;
    ass_of(&a, &t);
    assert_int_equal(a.line[0].n, 3);
    assert_string_equal(a.line[0].syllable[1].text, " b c");
    assert_int_equal(a.line[0].syllable[1].t1, 30);
    assert_int_equal(a.line[0].syllable[2].t0, 30);
    assert_int_equal(a.line[0].syllable[2].t1, 50);
}

static void test_script_holds_the_karaoke_and_quotes_the_inputs_name(void **state)
{
    (void)state;
    const steno_segment s = { .t1_ms = 1000, .text = " $(x) `y`" };
    struct transcript_source r = { .input = "-a 'b\" \xff.mp4" };
    struct write_layout l = { .font = "X", .font_file = "f.ttf" };
    struct transcript t = { .segs = &s, .n = 1, .source = &r, .layout = &l };
    check_holds(WTS, &t, "\ninput='-a '\\''b\" '\"$(printf '\\377')\"'.mp4'\n");
    check_holds(WTS, &t, "\nfont='f.ttf'\n");
    check_holds(WTS, &t, "-vf subtitles=words.ass:fontsdir=fonts ");
    char *ass = written(ASS, &t), part[4096];
    snprintf(part, sizeof part, "<<'END_OF_SUBTITLES'\n%sEND_OF_SUBTITLES\n", ass);
    check_holds(WTS, &t, part);
    free(ass);
    r.input = "-";
    l.font_file = NULL;
    check_holds(WTS, &t, "\ninput=${1:?");
    check_holds(WTS, &t, "-vf subtitles=words.ass -pix_fmt");
}

/* ---- scores ------------------------------------------------------------------------------------------------------------------ */

static void test_scores_are_a_line_per_token(void **state)
{
    (void)state;
    static const int32_t none[] = { 0 };
    steno_model *m = NULL;
    steno_error e;
    int32_t ids[2];
    assert_int_equal(steno_model_open(&m, "models/whisper-digits/whisper-digits.bin", NULL, &e), STENO_OK);
    const int32_t stamp = steno_token_id(m, STENO_TOKEN_TIMESTAMP);
    assert_int_equal(steno_tokenize(m, " five", ids, 2), 1);
    const steno_token tokens[] = { { .id = stamp + 61, .p = 0.5f }, { .id = ids[0], .p = 0.999943f }, { .id = ids[0], .p = 1.25e-7f } };
    assert_int_equal(steno_tokenize(m, "\n", ids, 2), 1);
    const steno_token newline = { .id = ids[0], .p = 1 }, all[] = { tokens[0], tokens[1], tokens[2], newline };
    const steno_segment s = { .n_tokens = 4 };
    const struct transcript t = { .segs = &s, .n = 1, .tokens = all, .first_token = none, .first_timestamp = stamp, .model = m };
    check_written(SCORE, &t, "<|1.22|>\t0.5\n five\t0.999943\n five\t1.25e-07\n\\x0a\t1\n");
    steno_model_close(m);
}

/* ---- fonts ------------------------------------------------------------------------------------------------------------------- */

enum { NAMES_AT = 64, FONT_SZ = 160 };

static void put16(unsigned char *p, unsigned v)
{
    p[0] = (unsigned char)(v >> 8);
    p[1] = (unsigned char)v;
}

/* A font with nothing but two names: "Ab" of the family, and, in full, "Ab" with e acute. */
static void make_font(unsigned char f[FONT_SZ])
{
    static const unsigned char text[] = { 0, 'A', 0, 'b', 0, ',', 0, 0xe9 };
    memset(f, 0, FONT_SZ);
    f[1] = 1;
    put16(f + 4, 1);
    memcpy(f + 12, "name", 4);
    put16(f + 12 + 10, NAMES_AT);
    put16(f + 12 + 14, 6 + 2 * 12 + sizeof text);
    unsigned char *p = f + NAMES_AT;
    put16(p + 2, 2);
    put16(p + 4, 30);
    const unsigned record[2][6] = { { 3, 1, 0x409, 1, 4, 0 }, { 3, 1, 0x407, 4, 8, 0 } };
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 6; k++) put16(p + 6 + 12 * i + 2 * k, record[i][k]);
    memcpy(p + 30, text, sizeof text);
}

static const char *name_in(char name[FONT_NAME_SZ], const unsigned char *f, size_t n)
{
    char path[] = "/tmp/steno-font-XXXXXX";
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, f, n), (ssize_t)n);
    close(fd);
    const char *fault = font_name(name, path);
    unlink(path);
    return fault;
}

static void test_font_is_asked_for_by_its_full_name(void **state)
{
    (void)state;
    unsigned char f[FONT_SZ];
    char name[FONT_NAME_SZ];
    make_font(f);
    assert_null(name_in(name, f, sizeof f));
    assert_string_equal(name, "Ab\xc3\xa9");
}

static void test_no_damaged_font_is_read_beyond_its_end(void **state)
{
    (void)state;
    unsigned char f[FONT_SZ];
    char name[FONT_NAME_SZ];
    make_font(f);
    for (size_t n = 0; n < NAMES_AT + 38; n++) assert_non_null(name_in(name, f, n));
    for (size_t i = 0; i < NAMES_AT + 30; i++) {
        make_font(f);
        f[i] = 0xff;
        name_in(name, f, sizeof f);
    }
    make_font(f);
    memset(f + NAMES_AT + 6 + 8, 0xff, 4); /* length and place of the first name, and of the second */
    memset(f + NAMES_AT + 18 + 8, 0xff, 4);
    assert_string_equal(name_in(name, f, sizeof f), "the font in it has no name");
    assert_string_equal(font_name(name, "README.md"), "it is not a TrueType or OpenType font");
    assert_string_equal(font_name(name, "tests/no-such-font.ttf"), "it cannot be read");
}

static void test_files_and_names_of_fonts_are_distinguished(void **state)
{
    (void)state;
    assert_true(font_is_file("a.TTF"));
    assert_true(font_is_file("./a"));
    assert_false(font_is_file("DejaVu Sans"));
    assert_false(font_is_file("Font 2.0"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_word_begins_when_it_is_spoken),
        cmocka_unit_test(test_braces_backslashes_and_newlines_are_text),
        cmocka_unit_test(test_layout_and_font_reach_the_karaoke_and_underlining_does_not),
        cmocka_unit_test(test_words_that_overlap_or_have_no_time_do_not_move_the_others),
        cmocka_unit_test(test_script_holds_the_karaoke_and_quotes_the_inputs_name),
        cmocka_unit_test(test_scores_are_a_line_per_token),
        cmocka_unit_test(test_font_is_asked_for_by_its_full_name),
        cmocka_unit_test(test_no_damaged_font_is_read_beyond_its_end),
        cmocka_unit_test(test_files_and_names_of_fonts_are_distinguished),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
