/* steno tests: no text breaks a format. SPDX-License-Identifier: MIT
 *
 * Every writer of the table writes every hostile text, as a text, a word, the name of a speaker, a font, an input, a language. What it has
 * written is read back: it has as many rows, cues or values as that of harmless texts, is UTF-8, and has no control characters. A writer
 * that the table of checks does not know fails. */
#include "hostile_texts.h"
#include "sub_read.h"
#include "utf8.h"
#include "write_help.h"
#include <jansson.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SEGS = 3 };

/* A transcript in which a text stands in one place. */
struct told {
    struct transcript t;
    steno_segment seg[SEGS];
    steno_word word[2 * SEGS];
    int32_t first[SEGS], speaker[SEGS];
    struct write_layout layout;
    struct transcript_source source;
    char names[1024];
};

enum place { IN_TEXT, IN_WORD, IN_NAME, IN_FONT, IN_FILE, IN_LANGUAGE, IN_POST, N_PLACES };
enum way { PLAIN, WORDS, LIT, BUILT, NARROW, N_WAYS };

static void tell(struct told *o, const char *text, enum place place, enum way way)
{
    memset(o, 0, sizeof *o);
    for (int i = 0; i < SEGS; i++) {
        const char *own = place <= IN_WORD && i == 1 ? text : " harmless words";
        o->seg[i] = (steno_segment){ .id = i, .t0_ms = 1000 * i, .t1_ms = 1000 * i + 900, .start = i, .end = i + 0.9, .text = own,
                                      .n_words = 2 };
        o->word[2 * i] = (steno_word)WORD(place == IN_WORD && i == 1 ? text : " harmless", 1000 * i, 1000 * i + 400);
        o->word[2 * i + 1] = (steno_word)WORD(" words", 1000 * i + 400, 1000 * i + 900);
        o->first[i] = 2 * i;
        o->speaker[i] = i % 2;
    }
    o->layout.highlight_words = way == LIT;
    if (way == BUILT) o->layout.cues = (struct cue_choice)CUE_CHOICE_UNSET, o->layout.cues.on = 1;
    if (way == NARROW) o->layout.max_line_width = 12, o->layout.max_line_count = 2;
    if (place == IN_NAME) {
        snprintf(o->names, sizeof o->names, "%s,Bob", text);
        for (char *c = o->names; *c && c < o->names + strlen(text); c++) *c = *c == ',' ? ';' : *c;
        o->layout.speaker_names = o->names;
        o->layout.speaker_colors = o->layout.vtt_regions = 1;
    }
    if (place == IN_FONT) snprintf(o->layout.font, sizeof o->layout.font, "%s", text), o->layout.font_file = text;
    o->source = (struct transcript_source){ .input = place == IN_FILE && *text ? text : "a.wav",
                                            .model = place == IN_FILE ? text : "m.bin" };
    o->t = (struct transcript){ .segs = o->seg, .n = SEGS, .text = text, .language = place == IN_LANGUAGE ? text : "en",
                                .first_timestamp = -1, .word_times = way == WORDS || way == LIT || way == BUILT, .words = o->word,
                                .first_word = o->first,
                                .layout = &o->layout, .source = &o->source, .speakers = place == IN_NAME ? o->speaker : NULL,
                                .post = place == IN_POST ? text : NULL };
}

/* ---- what is read back ------------------------------------------------------------------------------------------------------------ */

static int lines_of(const char *s)
{
    int n = 0;
    for (; *s; s++) n += *s == '\n';
    return n;
}

static int cues_of(const char *s, enum sub_form form)
{
    struct sub_file f;
    assert_int_equal(sub_read(&f, form, s, strlen(s)), 0);
    int bad = (int)f.n_strays;
    for (size_t i = 0; i < f.n; i++) bad += f.cue[i].t0_ms < 0 || f.cue[i].t1_ms < 0;
    const int n = bad ? -bad : (int)f.n;
    sub_free(&f);
    return n;
}

static int srt(const char *s) { return cues_of(s, SUB_SRT); }
static int vtt(const char *s) { return cues_of(s, SUB_VTT); }

/* Sections and lines by their words. */
static int ass(const char *s)
{
    static const char *const begins[] = { "", "[", "ScriptType:", "PlayRes", "WrapStyle:", "Scaled", "Format:", "Style:", "Dialogue:" };
    for (const char *line = s; *line; line = strchr(line, '\n') + 1) {
        int known = *line == '\n';
        for (size_t i = 1; i < sizeof begins / sizeof *begins; i++) known |= strncmp(line, begins[i], strlen(begins[i])) == 0;
        if (!known) return -1;
    }
    return cues_of(s, SUB_ASS);
}

static int json(const char *s)
{
    json_t *j = json_loads(s, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
    if (!j) return -1;
    const json_t *list = json_object_get(j, "segments");
    const int n = list ? (int)json_array_size(list) : 1;
    json_decref(j);
    return n;
}

static int one_line_json(const char *s)
{
    return lines_of(s) == 1 ? json(s) : -1;
}

/* Fields of each row of tsv. */
static int tsv(const char *s)
{
    int fields = 0;
    for (; *s; s++) fields += *s == '\t' || *s == '\n';
    return fields;
}

/* The same of csv, where they may be quoted. */
static int csv(const char *s)
{
    int fields = 0, quoted = 0;
    for (; *s; s++) {
        if (*s == '"') quoted = !quoted;
        fields += !quoted && (*s == ',' || *s == '\n');
        if (quoted && *s == '\n') return -1;
    }
    return quoted ? -1 : fields;
}

/* Lines that are times and a text, which has no times in it. */
static int lrc(const char *s)
{
    int n = 0;
    for (const char *line = s; *line; line = strchr(line, '\n') + 1) {
        int m, second, len = 0;
        n += sscanf(line, "[%d:%*d.%*d]%n", &m, &len) == 1 && len > 0;
        for (const char *p = line + len; *p != '\n'; p++)
            if (sscanf(p, "[%d:%d", &m, &second) == 2 || sscanf(p, "<%d:%d", &m, &second) == 2) return -1;
    }
    return n;
}

/* Run by a shell beside programs that do nothing, it runs no command of the text. */
static int wts(const char *s)
{
    FILE *f = fopen("script", "w");
    assert_non_null(f);
    fputs(s, f);
    fclose(f);
    unlink("canary");
    const int code = system("PATH=$PWD/bin:$PATH CANARY=$PWD/canary bash ./script >messages 2>&1 </dev/null");
    struct stat st;
    return stat("canary", &st) == 0 || code == 2 << 8 || code == 127 << 8 ? -1 : 1; /* 2: it is no script of a shell */
}

static const struct { const char *name; int (*count)(const char *s); } checks[] = {
    { "txt", lines_of }, { "srt", srt }, { "vtt", vtt }, { "tsv", tsv }, { "json", json }, { "verbose_json", json },
    { "jsonl", one_line_json }, { "csv", csv }, { "lrc", lrc }, { "wts", wts }, { "ass", ass }, { "score", lines_of },
    { "json_full", json }, { "funasr", json },
};

static int (*check_of(const char *name))(const char *)
{
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++)
        if (strcmp(checks[i].name, name) == 0) return checks[i].count;
    fail_msg("the writer %s has no check: add one", name);
    return NULL;
}

/* ---- tests ------------------------------------------------------------------------------------------------------------------------ */

static void check_bytes(const char *format, const char *s, const char *text)
{
    if (utf8_invalid_at(s) >= 0) fail_msg("%s of \"%s\" is not UTF-8: %s", format, text, s);
    size_t used;
    for (size_t i = 0, n = strlen(s); i < n; i += used) {
        const int32_t c = utf8_decode(s + i, n - i, &used);
        const int shell = strcmp(format, "wts") == 0; /* a name in it is the file's */
        if ((c < 0x20 && c != '\n' && c != '\t') || (c >= 0x7F && c < 0xA0) || ((c == 0x2028 || c == 0x2029) && !shell))
            fail_msg("%s of \"%s\" has U+%04X", format, text, (unsigned)c);
    }
}

static int is_empty_of(const char *text)
{
    size_t n;
    utf8_strip(text, &n);
    return !n;
}

static void test_every_writer_keeps_its_form_with_any_text(void **state)
{
    (void)state;
    struct told o;
    for (const struct writer *w = writers; w->name; w++) {
        int (*count)(const char *) = check_of(w->name);
        for (int way = 0; way < N_WAYS; way++) {
            for (int place = 0; place < N_PLACES; place++) {
                if (strcmp(w->name, "wts") == 0 && way != (place == IN_WORD ? WORDS : PLAIN)) continue; /* a shell each */
                if (place == IN_POST && strcmp(w->name, "txt") == 0) continue;        /* its lines are the answer's */
                tell(&o, " harmless", place, way);
                char *plain = written((int)(w - writers), &o.t);
                const int want = count(plain);
                assert_true(want >= 0);
                free(plain);
                for (int i = 0; i < HOSTILE_TEXTS; i++) {
                    const char *text = hostile_texts[i];
                    if (place <= IN_WORD && is_empty_of(text)) continue;
                    tell(&o, text, place, way);
                    char *s = written((int)(w - writers), &o.t);
                    const int got = count(s);
                    const int is_long_or_short = way >= BUILT && got > 0; /* as many cues as it needs */
                    if (got != want && !is_long_or_short)
                        fail_msg("%s, way %d, place %d, of \"%s\": %d, not %d: %s", w->name, way, place, text, got, want, s);
                    check_bytes(w->name, s, text);
                    free(s);
                }
            }
        }
    }
}

static void test_any_text_of_hostile_pieces_keeps_the_forms(void **state)
{
    (void)state;
    uint64_t random = 7;
    char text[1024];
    for (int round = 0; round < 600; round++) {
        struct told o;
        size_t n = 0;
        text[0] = '\0';
        for (int k = 0; k < 4; k++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            const char *piece = hostile_texts[(random >> 33) % HOSTILE_TEXTS];
            const size_t from = strlen(piece) ? (random >> 20) % strlen(piece) : 0; /* perhaps inside a character */
            n += (size_t)snprintf(text + n, sizeof text - n, "%s", piece + from);
        }
        if (is_empty_of(text)) continue;
        for (const struct writer *w = writers; w->name; w++) {
            if (strcmp(w->name, "wts") == 0) continue; /* a shell each */
            tell(&o, text, IN_TEXT, round % 2 ? WORDS : PLAIN);
            if (round % 2) o.word[2].text = text;
            char *s = written((int)(w - writers), &o.t);
            if (check_of(w->name)(s) < 1 && strcmp(w->name, "score") != 0) fail_msg("%s of \"%s\": %s", w->name, text, s);
            check_bytes(w->name, s, text);
            free(s);
        }
    }
}

static void test_ordinary_text_stays_as_it_is(void **state)
{
    (void)state;
    static const char text[] = " It's 5 o'clock - \"yes\", 100 %; \xc2\xbfqu\xc3\xa9? \xe4\xbb\x8a\xe5\xa4\xa9 "
                               "(a) [b] #c *d* e/f -g +1 \xf0\x9f\x98\x80 "
                               "\xd7\xa9\xd7\x9c\xd7\x95\xd7\x9d \xd8\xb3\xd9\x84\xd8\xa7\xd9\x85";
    static const enum text_form same[] = { TEXT_LINE, TEXT_LINES, TEXT_SRT, TEXT_VTT, TEXT_VTT_NAME, TEXT_TSV, TEXT_LRC, TEXT_ASS,
                                           TEXT_TERMINAL, TEXT_SCREEN, TEXT_PIECE, TEXT_TOKEN };
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        struct sink_memory m = { 0 };
        struct sink f = sink_to_memory(&m);
        text_put(&f, same[i], text, strlen(text));
        assert_string_equal(m.p, text);
        free(m.p);
    }
}

static void test_a_terminal_gets_no_orders(void **state)
{
    (void)state;
    for (int i = 0; i < HOSTILE_TEXTS; i++) {
        struct sink_memory m = { 0 };
        struct sink f = sink_to_memory(&m);
        sink_text(&f, "|");
        text_put(&f, TEXT_TERMINAL, hostile_texts[i], strlen(hostile_texts[i]));
        size_t used;
        for (size_t k = 0; k < m.n; k += used) {
            const int32_t c = utf8_decode(m.p + k, m.n - k, &used);
            assert_true(c != UTF8_BAD && (c >= 0x20 || c == '\n' || c == '\t') && !(c >= 0x7F && c < 0xA0));
            assert_false((c >= 0x2028 && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069));
        }
        free(m.p);
    }
}

static int enter_folder(void **state)
{
    static char folder[] = "/tmp/steno-hostile-XXXXXX";
    *state = folder;
    return !mkdtemp(folder) || chdir(folder) ||
           system("mkdir bin && printf '#!/bin/sh\\nexit 0\\n' >bin/ffmpeg && cp bin/ffmpeg bin/ffprobe && chmod +x bin/*") != 0;
}

static int leave_folder(void **state)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", (const char *)*state);
    return chdir("/") || system(command) != 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_writer_keeps_its_form_with_any_text),
        cmocka_unit_test(test_any_text_of_hostile_pieces_keeps_the_forms),
        cmocka_unit_test(test_ordinary_text_stays_as_it_is),
        cmocka_unit_test(test_a_terminal_gets_no_orders),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
