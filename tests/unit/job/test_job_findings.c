/* steno tests: notes on results. SPDX-License-Identifier: MIT
 *
 * Every kind of note has a case here that makes it, and one beside it that does not. */
#include "findings.h"
#include "harness.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void state(struct notes *n, steno_media_state s)
{
    findings_state(n, s);
}

static struct level level_of(int64_t n, int64_t n_full, double peak)
{
    return (struct level){ .n = n, .n_full = n_full, .peak = peak, .squares = peak * peak * (double)n };
}

static void cut(struct notes *n, int on) { state(n, (steno_media_state){ .truncated = on, .promised_ms = 9000, .read_ms = 4000 }); }
static void damaged(struct notes *n, int on) { state(n, (steno_media_state){ .damaged_packets = on }); }
static void late(struct notes *n, int on) { state(n, (steno_media_state){ .start_ms = 4087 * on }); }
static void early(struct notes *n, int on) { state(n, (steno_media_state){ .start_ms = -120 * on }); }
static void gaps(struct notes *n, int on) { state(n, (steno_media_state){ .gaps = 2 * on, .gaps_ms = 3500 }); }
static void overlap(struct notes *n, int on) { state(n, (steno_media_state){ .dropped_ms = 400 * on }); }
static void jumps(struct notes *n, int on) { state(n, (steno_media_state){ .jumps = on }); }
static void prompt(struct notes *n, int on) { findings_prompt(n, 223 + on, 223); }
static void heads(struct notes *n, int on) { findings_heads(n, &(steno_model_info){ .alignment_unsure = on }); }
static void language(struct notes *n, int on) { findings_language(n, "de", on ? 0.37 : 0.5); }
static void other_language(struct notes *n, int on)
{
    findings_other_language(n, "en", "zh", on ? 70400 : 0);
}

static void doubtful(struct notes *n, int on) { findings_segments(n, 7, on, on); }

static void clipped(struct notes *n, int on)
{
    const struct level l = level_of(16000, on ? 160 : 159, 1);
    findings_level(n, &l);
}

static void no_speech(struct notes *n, int on)
{
    const struct level l = level_of(16000, 0, 0.001);
    if (on) findings_no_speech(n, &l, 1);
}

/* A stereo WAV whose right channel is the left one times `by`, opened. */
static void cancel(struct notes *n, int on)
{
    enum { N = 16000 };
    static uint8_t wav[44 + 4 * N] = "RIFF\xff\xff\xff\xffWAVEfmt \x10\0\0\0\1\0\2\0\x80\x3e\0\0\0\xfa\0\0\4\0\x10\0data\0\xfa\0\0";
    char path[] = "/tmp/steno-test-XXXXXX";
    steno_media *m;
    steno_error e = { 0 };
    int channel;
    for (int i = 0; i < N; i++) {
        const int left = i * 37 % 2000 - 1000, right = on ? -left : left;
        const uint16_t v[2] = { (uint16_t)left, (uint16_t)right };
        for (int k = 0; k < 4; k++) wav[44 + 4 * i + k] = (uint8_t)(v[k / 2] >> 8 * (k % 2));
    }
    const int fd = mkstemp(path);
    assert_true(fd >= 0 && write(fd, wav, sizeof wav) == sizeof wav);
    close(fd);
    if (steno_media_open(&m, path, NULL, NULL, &e)) fail_msg("%s", e.text);
    assert_int_equal(findings_channel(n, m, &channel), STENO_OK);
    assert_int_equal(channel, on ? 0 : STENO_MEDIA_MIX);
    steno_media_close(m);
    unlink(path);
}

static void marks_of(struct notes *n, const char *before, const char *after)
{
    struct marks_count c = { 0 };
    findings_punctuation_line(&c, before, after);
    findings_punctuation(n, &c);
}

static void no_text(struct notes *n, int on) { marks_of(n, on ? " \t" : "a", on ? "" : "a."); }
static void no_marks(struct notes *n, int on) { marks_of(n, "a 3.5", on ? "a 3.5" : "a 3.5."); }
static void marked(struct notes *n, int on) { marks_of(n, on ? "好，的" : "好的", "好，的。"); }
static void full(struct notes *n, int on) { findings_answer(n, "a", on ? STENO_FINISH_LENGTH : STENO_FINISH_END, 30, 2, 32); }
static void limit(struct notes *n, int on) { findings_answer(n, "a", on ? STENO_FINISH_LENGTH : STENO_FINISH_STOP, 29, 2, 32); }
static void no_answer(struct notes *n, int on) { findings_answer(n, on ? " \n" : "a", STENO_FINISH_END, 30, 1, 32); }
static void input_cut(struct notes *n, int on) { findings_vectors(n, on, 0); }
static void empty_line(struct notes *n, int on) { findings_vectors(n, 0, 2 * on); }
static void no_result(struct notes *n, int on) { findings_hits(n, !on); }

static const struct {
    enum note_kind kind;
    void (*make)(struct notes *n, int on);
    const char *text;
} cases[] = {
    { NOTE_CUT_SHORT, cut, "is cut short: it promises 9.00 s and holds 4.00 s" },
    { NOTE_DAMAGED, damaged, "1 damaged packets were skipped" },
    { NOTE_SOUND_LATE, late, "the sound begins 4.087 s after the file's start; times count from the file's start" },
    { NOTE_SOUND_EARLY, early, "the sound begins 0.120 s before the file's start; that part is left out" },
    { NOTE_GAPS, gaps, "the sound has 2 gaps, 3.500 s in all; there is silence in the place of them" },
    { NOTE_OVERLAP, overlap, "0.400 s of sound lie under other sound and are left out" },
    { NOTE_CLOCK_JUMP, jumps, "the clock of the sound jumps 1 time without a gap; times count on as if there were no jump" },
    { NOTE_CHANNELS_CANCEL, cancel, "its channels cancel each other: the mix is silent, so channel 0 is read" },
    { NOTE_CLIPPED, clipped, "1.0 % of the samples are at full scale: louder sound is cut off there (clipped); record it lower" },
    { NOTE_NO_SPEECH, no_speech, "no speech was found (level -60.0 dBFS, peak -60.0 dBFS)" },
    { NOTE_HEADS_UNSURE, heads, "the model is large-v1 or large-v2, and its path names neither: word times use all heads of the upper "
                                "half of the layers; --alignment-heads large-v1 or large-v2 selects the official ones" },
    { NOTE_PROMPT_CUT, prompt, "the prompt has 224 tokens; the last 223 are used, which is as many as the model takes" },
    { NOTE_LANGUAGE_UNSURE, language, "the language de is uncertain, with a probability of 0.37; --language sets it" },
    { NOTE_LANGUAGE_OTHER, other_language,
      "at least 70 s seem to be in zh and not in en: that text is doubtful or left out; "
      "--language-per-segment detects the language of each window" },
    { NOTE_DOUBTFUL, doubtful, "2 of 7 segments may be invented (1 repeats itself, 1 lies where the model finds no speech)" },
    { NOTE_NO_TEXT, no_text, "there is no text in it" },
    { NOTE_NO_MARKS, no_marks, "1 of 1 line got no punctuation" },
    { NOTE_MARKED_BEFORE, marked, "1 of 1 line had punctuation before: marks may stand twice, or in other places" },
    { NOTE_CONTEXT_FULL, full, "the context of 32 tokens is full, and the answer ends here: --ctx-size makes room" },
    { NOTE_LIMIT, limit, "the answer ends after 2 tokens, which is its limit: --max-tokens sets another" },
    { NOTE_NO_ANSWER, no_answer, "the answer is empty: the model ended the text at once" },
    { NOTE_INPUT_CUT, input_cut, "1 text is longer than the model takes: only the beginning was read" },
    { NOTE_EMPTY_LINE, empty_line, "2 lines have no text and no vector" },
    { NOTE_NO_RESULT, no_result, "nothing was found: there is no line with text in the files" },
};

static void test_every_kind_has_a_case(void **s)
{
    (void)s;
    int seen[NOTE_N_KINDS] = { 0 };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct notes n = { .n = 0 };
        cases[i].make(&n, 0);
        if (n.n) fail_msg("%s: noted for nothing", note_name(cases[i].kind));
        cases[i].make(&n, 1);
        cases[i].make(&n, 1); /* there is one of a kind */
        assert_int_equal(n.n, 1);
        assert_int_equal(n.note[0].kind, cases[i].kind);
        assert_string_equal(n.note[0].text, cases[i].text);
        seen[cases[i].kind]++;
    }
    for (int k = 0; k < NOTE_N_KINDS; k++)
        if (seen[k] != 1) fail_msg("%s has %d cases", note_name((enum note_kind)k), seen[k]);
}

static void test_levels_of_nothing_and_of_silence(void **s)
{
    (void)s;
    const struct level none = { 0 }, silent = level_of(100, 0, 0);
    struct notes n = { .n = 0 }, other = { .n = 0 };
    findings_level(&n, &none);
    assert_int_equal(n.n, 0);
    findings_no_speech(&n, &none, 2);
    assert_string_equal(n.note[0].text, "no speech was found: there is no sound");
    findings_no_speech(&other, &silent, 1);
    assert_string_equal(other.note[0].text, "no speech was found: all samples are 0");
    other.n = 0;
    findings_no_speech(&other, &silent, 2);
    assert_string_equal(other.note[0].text,
                        "no speech was found: all samples are 0 in the mix of 2 channels, which may cancel each other");
    other.n = 0;
    findings_past_end(&other, 7218);
    assert_string_equal(other.note[0].text, "no speech was found: the audio ends at 7.218 s, before the part that is transcribed");
    assert_true(level_db(&none) == LEVEL_NONE && level_db(&silent) == LEVEL_NONE && level_peak_db(&silent) == LEVEL_NONE);
}

static void test_json_has_all_notes_or_an_empty_list(void **s)
{
    (void)s;
    struct sink_memory m = { 0 };
    struct sink to = sink_to_memory(&m);
    struct notes n = { .n = 0 };
    write_json_notes(&to, NULL, 0);
    write_json_notes(&to, &n, 0);
    assert_null(m.p);
    write_json_notes(&to, NULL, 1);
    assert_string_equal(m.p, ", \"notes\": []");
    m.n = 0;
    notes_add(&n, NOTE_GAPS, "a \"gap\"\n");
    notes_add(&n, NOTE_DOUBTFUL, "%300s", "x");
    write_json_notes(&to, &n, 0);
    static const char want[] = ", \"notes\": [{\"kind\": \"gaps\", \"text\": \"a \\\"gap\\\"\\n\"}, {\"kind\": \"doubtful\", \"text\": \"";
    assert_memory_equal(m.p, want, sizeof want - 1);
    assert_int_equal(strlen(n.note[1].text), NOTE_TEXT_SZ - 1);
    free(m.p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_kind_has_a_case),
        cmocka_unit_test(test_levels_of_nothing_and_of_silence),
        cmocka_unit_test(test_json_has_all_notes_or_an_empty_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
