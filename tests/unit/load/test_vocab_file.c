/* steno tests: vocabularies in files of their own. SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include "base/buf.h"
#include "folder.h"
#include "load/vocab.h"

struct got { struct weights w; int rc; steno_error e; };

static struct got *read_vocab(const char *path)
{
    struct got *g = calloc(1, sizeof *g);
    assert_non_null(g);
    arena_init(&g->w.arena);
    meta_init(&g->w.meta, &g->w.arena);
    g->w.name = "model";
    g->rc = weights_read_vocab(&g->w, path, &g->e);
    if (!g->rc) assert_non_null(g->w.vocab);
    if (g->rc) assert_true(!g->w.vocab && g->e.text[0]);
    return g;
}

static void got_free(struct got *g)
{
    weights_close(&g->w);
    free(g);
}

/* The file `name` with these bytes, and what they are read as. */
static struct got *read_bytes(const struct folder *d, const char *name, const void *bytes, size_t n)
{
    folder_put(d, name, bytes, n);
    return read_vocab(folder_at(d, name).path);
}

static void assert_string(const struct got *g, uint32_t id, const void *s, size_t n)
{
    if (g->rc) fail_msg("%s", g->e.text);
    assert_true(id < g->w.n_vocab_entries);
    const struct vocab_entry *v = &g->w.vocab[id];
    if (v->n != n || memcmp(v->s, s, n) != 0)
        fail_msg("id %u is '%.*s' (%u bytes)", (unsigned)id, (int)v->n, (const char *)v->s, (unsigned)v->n);
}

static void expect(const char *name, const char *text, int rc, const char *says)
{
    const struct folder d = folder_new();
    struct got *g = read_bytes(&d, name, text, strlen(text));
    if (g->rc != rc || (says && !strstr(g->e.text, says))) fail_msg("'%s' gives %d, '%s', want %d, '%s'", text, g->rc, g->e.text, rc, says);
    if (rc && !strstr(g->e.text, name)) fail_msg("the message does not name the file: %s", g->e.text);
    got_free(g);
    folder_remove(&d);
}

/* ---- vocab.json ---- */

static void test_every_byte_comes_back_from_the_byte_alphabet(void **state)
{
    (void)state;
    struct buf b = { 0 };
    buf_str(&b, "{");
    uint32_t next = 0x100;
    for (uint32_t i = 0; i < 256; i++) {
        const int prints = (i >= '!' && i <= '~') || (i >= 0xa1 && i <= 0xac) || i >= 0xae;
        buf_fmt(&b, "%s\"\\u%04x\":%u", i ? "," : "", (unsigned)(prints ? i : next++), (unsigned)i);
    }
    assert_int_equal(next, 0x144);
    buf_str(&b, "}");
    const struct folder d = folder_new();
    struct got *g = read_bytes(&d, "vocab.json", b.p, b.len);
    assert_int_equal(g->w.n_vocab_entries, 256);
    for (uint32_t i = 0; i < 256; i++) assert_string(g, i, &(uint8_t) { (uint8_t)i }, 1);
    got_free(g);
    folder_remove(&d);
    buf_free(&b);
}

static void test_vocab_json_may_name_ids_in_any_order(void **state)
{
    (void)state;
    const struct folder d = folder_new();
    static const char text[] = "{\"\xc4\xa0the\": 2, \"\": 1, \"a\\\"\": 0}";
    struct got *g = read_bytes(&d, "vocab.json", text, sizeof text - 1);
    assert_string(g, 0, "a\"", 2);
    assert_string(g, 1, "", 0);
    assert_string(g, 2, " the", 4);
    got_free(g);
    folder_remove(&d);
}

static void test_a_gap_in_vocab_json_is_filled_by_added_tokens(void **state)
{
    (void)state;
    const struct folder d = folder_new();
    folder_text(&d, "added_tokens.json", "{\"<|end|>\": 1, \"<|beyond|>\": 7, \"x\": 0}");
    struct got *g = read_bytes(&d, "vocab.json", "{\"a\":0,\"c\":2}", 13);
    assert_int_equal(g->w.n_vocab_entries, 3);
    assert_string(g, 0, "a", 1);
    assert_string(g, 1, "<|end|>", 7);
    assert_string(g, 2, "c", 1);
    got_free(g);
    folder_remove(&d);
}

static void test_links_that_lead_nowhere_are_passed_over_before_others(void **state)
{
    (void)state;
    const struct folder d = folder_new();
    folder_link_nowhere(&d, "vocab.json");
    folder_link_nowhere(&d, "added_tokens.json");
    struct got *g = read_vocab(d.path);
    assert_int_equal(g->rc, STENO_EIO);
    assert_non_null(strstr(g->e.text, "vocab.json': it is a link"));
    got_free(g);
    folder_text(&d, "tokens.json", "[\"a\"]");
    g = read_vocab(d.path);
    assert_string(g, 0, "a", 1);
    got_free(g);
    assert_int_equal(unlink(folder_at(&d, "vocab.json").path), 0);
    g = read_bytes(&d, "vocab.json", "{\"b\":0}", 7);
    assert_string(g, 0, "b", 1);
    got_free(g);
    folder_remove(&d);
}

static void test_damaged_vocab_json_is_refused_by_cause(void **state)
{
    (void)state;
    expect("vocab.json", "{\"a\":0,\"c\":2}", STENO_EFORMAT, "no string has the id 1, but one has 2");
    expect("vocab.json", "{\"a\":0,\"b\":0}", STENO_EFORMAT, "id 0 is given twice, to 'a' and to 'b'");
    expect("vocab.json", "{\"a\":1000000}", STENO_EFORMAT, "no string has the id 0");
    expect("vocab.json", "{\"a\":1048576}", STENO_EFORMAT, "want 0..1048575");
    expect("vocab.json", "{\"a\":-1}", STENO_EFORMAT, "id -1");
    expect("vocab.json", "{\"a\":0.5}", STENO_EFORMAT, "neither a vocabulary nor a tokenizer.json");
    expect("vocab.json", "{}", STENO_EFORMAT, "without strings");
    expect("vocab.json", "{\"a\":0", STENO_EFORMAT, "line 1");
    expect("vocab.json", "{\"a\":0} 1", STENO_EFORMAT, "text follows");
    expect("vocab.json", "{\"\xe2\x96\x81the\":0}", STENO_EFORMAT, "U+2581");
    expect("vocab.json", "", STENO_EFORMAT, NULL);
}

static void test_a_string_longer_than_any_token_is_refused(void **state)
{
    (void)state;
    const struct folder d = folder_new();
    for (int extra = 0; extra < 2; extra++) {
        struct buf b = { 0 };
        buf_fmt(&b, "[\"%0*d\"]", VOCAB_STRING + extra, 0);
        struct got *g = read_bytes(&d, "tokens.json", b.p, b.len);
        assert_int_equal(g->rc, extra ? STENO_EFORMAT : STENO_OK);
        got_free(g);
        buf_free(&b);
    }
    folder_remove(&d);
}

/* ---- tokenizer.json, tokens.json ---- */

#define TOKENIZER(vocab, part) "{\"version\":\"1.0\",\"added_tokens\":[{\"id\":1,\"content\":\"<|x|>\",\"special\":true}]," part \
                               "\"model\":{\"type\":\"BPE\",\"merges\":[\"a b\"],\"vocab\":" vocab "}}"

static void test_tokenizer_json_gives_the_vocabulary_of_its_model(void **state)
{
    (void)state;
    static const char text[] = TOKENIZER("{\"\xc4\xa0" "a\":0,\"b\":2}", "\"decoder\":{\"type\":\"ByteLevel\"},");
    const struct folder d = folder_new();
    struct got *g = read_bytes(&d, "tokenizer.json", text, sizeof text - 1);
    assert_int_equal(g->w.n_vocab_entries, 3);
    assert_string(g, 0, " a", 2);
    assert_string(g, 1, "<|x|>", 5);
    assert_string(g, 2, "b", 1);
    got_free(g);
    folder_remove(&d);
    expect("tokenizer.json", TOKENIZER("{\"a\":0}", "\"pre_tokenizer\":{\"type\":\"Sequence\",\"x\":[{\"type\":\"ByteLevel\"}]},"), 0,
           NULL);
    expect("tokenizer.json", TOKENIZER("{\"a\":0}", ""), STENO_EUNSUPPORTED, "another kind");
    expect("tokenizer.json", TOKENIZER("[[\"a\",0]]", ""), STENO_EFORMAT, "not byte-level");
    expect("tokenizer.json", "{\"version\":\"1.0\"}", STENO_EFORMAT, "nor a tokenizer.json with a model");
    expect("tokenizer.json", "{\"model\":{},\"model\":{}}", STENO_EFORMAT, "twice");
}

static void test_tokens_json_is_a_list_of_strings_as_they_are(void **state)
{
    (void)state;
    static const char text[] = "[\"<blank>\", \"\xe9\x9b\xb6\", \"\xe2\x96\x81@@\", \"\xe9\x9b\xb6\"]";
    const struct folder d = folder_new();
    struct got *g = read_bytes(&d, "tokens.json", text, sizeof text - 1);
    assert_int_equal(g->w.n_vocab_entries, 4);
    assert_string(g, 1, "\xe9\x9b\xb6", 3);
    assert_string(g, 2, "\xe2\x96\x81@@", 5);
    assert_string(g, 3, "\xe9\x9b\xb6", 3);
    got_free(g);
    folder_remove(&d);
    expect("tokens.json", "[\"a\", 1]", STENO_EFORMAT, "member 1 of the list is not a string");
    expect("tokens.json", "[]", STENO_EFORMAT, "without strings");
}

/* ---- tiktoken ---- */

static void test_tiktoken_lines_give_bytes_by_rank(void **state)
{
    (void)state;
    const struct folder d = folder_new();
    static const char text[] = "IQ== 0\n/w== 1\r\nIHRoZQ== 3\nYWI= 2\n= 4\n";
    struct got *g = read_bytes(&d, "gpt2.tiktoken", text, sizeof text - 1);
    assert_int_equal(g->w.n_vocab_entries, 5);
    assert_string(g, 0, "!", 1);
    assert_string(g, 1, "\xff", 1);
    assert_string(g, 2, "ab", 2);
    assert_string(g, 3, " the", 4);
    assert_string(g, 4, "", 0);
    got_free(g);
    folder_remove(&d);
    expect("x.tiktoken", "IQ== 0\nIQ= 1\n", STENO_EFORMAT, "line 2: the string is not base64");
    for (int n = 4095; n <= 4098; n++) { /* bytes of a string; 4096 are the most */
        char line[5600];
        const int full = n / 3, rest = n % 3;
        memset(line, 'A', sizeof line);
        snprintf(line + 4 * full, sizeof line - (size_t)(4 * full), "%s 1\n", rest == 1 ? "AA==" : rest == 2 ? "AAA=" : "");
        expect("x.tiktoken", line, STENO_EFORMAT, n <= 4096 ? "no string has the id 0" : "or has more than 4096 bytes");
    }
    expect("x.tiktoken", "IR== 0\n", STENO_EFORMAT, "line 1: the string is not base64");
    expect("x.tiktoken", "IQ==\n", STENO_EFORMAT, "line 1: want a string in base64, a space and a rank");
    expect("x.tiktoken", "IQ== \n", STENO_EFORMAT, "line 1: want a rank of 1 to 7 digits");
    expect("x.tiktoken", "IQ== 1x\n", STENO_EFORMAT, "line 1: the rank");
    expect("x.tiktoken", "IQ== 99999999999\n", STENO_EFORMAT, "line 1: want a rank of 1 to 7 digits");
    expect("x.tiktoken", "IQ== 1\n", STENO_EFORMAT, "no string has the id 0");
    expect("x.tiktoken", "hello", STENO_EFORMAT, "line 1");
}

/* ---- SentencePiece ---- */

/* A model of three pieces between fields of other kinds. */
static struct buf spm(void)
{
    struct buf b = { 0 };
    static const char bytes[] = "\x0a\x0e\x0a\x05<unk>\x15\0\0\0\0\x18\x02"
                                "\x12\x03" "abc"             /* 2: trainer_spec */
                                "\x0a\x0a\x15\0\0\x80\x3f\x0a\x03\xe2\x96\x81" /* score before piece */
                                "\x18\xff\x01\x1d\1\2\3\4\x21\1\2\3\4\5\6\7\x08" /* varint, fixed32, fixed64 */
                                "\x0a\x03\x0a\x01" "a";
    buf_add(&b, bytes, sizeof bytes - 1);
    return b;
}

static void test_sentencepiece_models_give_their_pieces(void **state)
{
    (void)state;
    const struct folder d = folder_new();
    struct buf b = spm();
    struct got *g = read_bytes(&d, "x.model", b.p, b.len);
    assert_int_equal(g->w.n_vocab_entries, 3);
    assert_string(g, 0, "<unk>", 5);
    assert_string(g, 1, "\xe2\x96\x81", 3);
    assert_string(g, 2, "a", 1);
    got_free(g);
    buf_free(&b);
    folder_remove(&d);
}

static void test_a_sentencepiece_model_may_be_cut_between_fields_only(void **state)
{
    (void)state;
    const struct folder d = folder_new();
    struct buf b = spm();
    static const size_t whole[] = { 16, 21, 33, 36, 41, 50 };
    for (size_t n = 16; n < b.len; n++) {
        struct got *g = read_bytes(&d, "x.model", b.p, n);
        int ok = 0;
        for (size_t i = 0; i < sizeof whole / sizeof *whole; i++) ok |= whole[i] == n;
        if (g->rc != (ok ? STENO_OK : STENO_EFORMAT)) fail_msg("cut to %zu bytes: %d, %s", n, g->rc, g->e.text);
        got_free(g);
    }
    buf_free(&b);
    folder_remove(&d);
}

static void test_damaged_sentencepiece_models_are_refused_by_cause(void **state)
{
    (void)state;
    static const char text[] = "\x0a\x08\x0a\x01" "a\x15\0\0\xc0\x7f", none[] = "\x0a\x03\x0a\x01" "a\x0a\x05\x15\0\0\0\0",
                      longer[] = "\x0a\x03\x0a\x01" "a\x0a\x05\x0a\x7f" "abc", group[] = "\x0a\x03\x0a\x01" "a\x0b",
                      wide[] = "\x0a\x03\x0a\x01" "a\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
                      binary[] = "\x0a\x03\x0a\x7f" "a";
    static const struct { const char *bytes; size_t n; const char *why; } c[] = {
        { text, sizeof text - 1, "the score of piece 0 at byte 0 is not finite" },
        { none, sizeof none - 1, "piece 1 at byte 5 has no text" },
        { longer, sizeof longer - 1, "piece 1 at byte 5 is damaged" },
        { group, sizeof group - 1, "field at byte 5 of the SentencePiece model is damaged" },
        { wide, sizeof wide - 1, "field at byte 5 of the SentencePiece model is damaged" },
        { binary, sizeof binary - 1, "this is not a vocabulary: expected JSON, a SentencePiece model, or lines of base64" },
    };
    const struct folder d = folder_new();
    for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
        struct got *g = read_bytes(&d, "x.model", c[i].bytes, c[i].n);
        if (g->rc != STENO_EFORMAT || !strstr(g->e.text, c[i].why)) fail_msg("%d \"%s\", want \"%s\"", g->rc, g->e.text, c[i].why);
        got_free(g);
    }
    folder_remove(&d);
}

static void test_a_first_piece_of_any_length_is_recognised(void **state)
{
    (void)state;
    static const int length[] = { 120, 127, 128, 300, 4096, 4097 };
    const struct folder d = folder_new();
    for (size_t i = 0; i < sizeof length / sizeof *length; i++) {
        const int n = length[i], outer = n + (n < 128 ? 2 : 3);
        struct buf b = { 0 };
        for (int k = 0; k < 2; k++) {
            const int len = k ? n : outer;
            buf_add(&b, "\x0a", 1);
            if (len < 128) buf_add(&b, &(uint8_t) { (uint8_t)len }, 1);
            else buf_add(&b, (const uint8_t[]) { (uint8_t)(len | 0x80), (uint8_t)(len >> 7) }, 2);
        }
        for (int k = 0; k < n; k++) buf_add(&b, "a", 1);
        struct got *g = read_bytes(&d, "x.model", b.p, b.len);
        if (n > 4096) assert_non_null(strstr(g->e.text, "4096"));
        else if (g->rc || g->w.n_vocab_entries != 1 || g->w.vocab[0].n != (uint32_t)n) fail_msg("%d bytes: %s", n, g->e.text);
        got_free(g);
        buf_free(&b);
    }
    folder_remove(&d);
}

/* ---- where it is looked for ---- */

static void test_the_first_vocabulary_of_a_folder_is_taken(void **state)
{
    (void)state;
    static const struct { const char *file, *text, *first; } in_turn[] = { /* from the last in the order of search to the first */
        { "tokens.json", "[\"tokens\"]", "tokens" },
        { "my.model", "\x0a\x07\x0a\x05piece", "piece" },
        { "gpt2.tiktoken", "Z3B0 0\n", "gpt" },
        { "multilingual.tiktoken", "bXVsdGkx 0\n", "multi1" },
        { "tokenizer.json", TOKENIZER("{\"tokenizer\":0}", "\"decoder\":{\"type\":\"ByteLevel\"},"), "tokenizer" },
        { "vocab.json", "{\"vocab\":0}", "vocab" },
    };
    const struct folder d = folder_new();
    struct got *g = read_vocab(d.path);
    assert_int_equal(g->rc, STENO_ENOVOCAB);
    assert_non_null(strstr(g->e.text, "vocab.json"));
    got_free(g);
    folder_text(&d, "configuration.json", "{\"file_path_metas\":{\"tokenizer_conf\":{\"bpemodel\":\"my.model\"}}}");
    for (size_t i = 0; i < sizeof in_turn / sizeof *in_turn; i++) {
        folder_text(&d, in_turn[i].file, in_turn[i].text);
        g = read_vocab(d.path);
        assert_string(g, 0, in_turn[i].first, strlen(in_turn[i].first));
        got_free(g);
    }
    folder_remove(&d);
}

static void test_a_configuration_cannot_point_out_of_its_folder(void **state)
{
    (void)state;
    const struct folder d = folder_new();
    folder_text(&d, "config.yaml", "tokenizer_conf:\n  bpemodel: ../../etc/passwd\n");
    struct got *g = read_vocab(d.path);
    assert_int_equal(g->rc, STENO_EFORMAT);
    assert_non_null(strstr(g->e.text, "is not the name of a file beside it"));
    got_free(g);
    folder_remove(&d);
}

static void test_a_path_that_cannot_be_read_is_an_io_error(void **state)
{
    (void)state;
    struct got *g = read_vocab("/nonexistent/vocab.json");
    assert_int_equal(g->rc, STENO_EIO);
    got_free(g);
    g = read_vocab(NULL); /* the model has no place */
    assert_int_equal(g->rc, STENO_ENOVOCAB);
    got_free(g);
}

/* ---- real ones ---- */

static void assert_equal(const struct got *a, const struct got *b)
{
    if (a->rc) fail_msg("%s", a->e.text);
    if (b->rc) fail_msg("%s", b->e.text);
    for (uint32_t i = 0; i < a->w.n_vocab_entries && i < b->w.n_vocab_entries; i++) assert_string(a, i, b->w.vocab[i].s, b->w.vocab[i].n);
}

static void test_all_forms_of_the_shipped_vocabulary_hold_the_same_strings(void **state)
{
    (void)state;
    struct got *bin = read_vocab("models/whisper-digits/whisper-digits.bin");
    if (bin->rc) fail_msg("%s", bin->e.text);
    assert_int_equal(bin->w.n_vocab_entries, 50257);
    static const char *const form[] = { "hf", "hf/vocab.json", "hf/tokenizer.json", "hf/model.safetensors" };
    const char *shared = getenv("STENO_SHARED");
    for (size_t i = 0; shared && i < sizeof form / sizeof *form; i++) {
        char path[512];
        snprintf(path, sizeof path, "%s/material/whisper-digits/%s", shared, form[i]);
        struct got *g = read_vocab(path);
        assert_equal(g, bin);
        assert_int_equal(g->w.n_vocab_entries, 50258);
        got_free(g);
    }
    got_free(bin);
}

static void test_a_real_sentencepiece_model_equals_its_list_of_tokens(void **state)
{
    (void)state;
    const char *shared = getenv("STENO_SHARED");
    if (!shared) skip();
    char path[512];
    snprintf(path, sizeof path, "%s/material/funasr/models/sensevoice/pt", shared);
    struct got *folder = read_vocab(path);
    snprintf(path, sizeof path, "%s/material/funasr/models/sensevoice/pt/mini.bpe.model", shared);
    struct got *model = read_vocab(path);
    snprintf(path, sizeof path, "%s/material/funasr/models/sensevoice/pt/tokens.json", shared);
    struct got *list = read_vocab(path);
    assert_equal(model, list);
    assert_equal(folder, model);
    assert_int_equal(model->w.n_vocab_entries, 480);
    got_free(folder);
    got_free(model);
    got_free(list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_byte_comes_back_from_the_byte_alphabet),
        cmocka_unit_test(test_vocab_json_may_name_ids_in_any_order),
        cmocka_unit_test(test_a_gap_in_vocab_json_is_filled_by_added_tokens),
        cmocka_unit_test(test_links_that_lead_nowhere_are_passed_over_before_others),
        cmocka_unit_test(test_damaged_vocab_json_is_refused_by_cause),
        cmocka_unit_test(test_a_string_longer_than_any_token_is_refused),
        cmocka_unit_test(test_tokenizer_json_gives_the_vocabulary_of_its_model),
        cmocka_unit_test(test_tokens_json_is_a_list_of_strings_as_they_are),
        cmocka_unit_test(test_tiktoken_lines_give_bytes_by_rank),
        cmocka_unit_test(test_sentencepiece_models_give_their_pieces),
        cmocka_unit_test(test_a_sentencepiece_model_may_be_cut_between_fields_only),
        cmocka_unit_test(test_damaged_sentencepiece_models_are_refused_by_cause),
        cmocka_unit_test(test_a_first_piece_of_any_length_is_recognised),
        cmocka_unit_test(test_the_first_vocabulary_of_a_folder_is_taken),
        cmocka_unit_test(test_a_configuration_cannot_point_out_of_its_folder),
        cmocka_unit_test(test_a_path_that_cannot_be_read_is_an_io_error),
        cmocka_unit_test(test_all_forms_of_the_shipped_vocabulary_hold_the_same_strings),
        cmocka_unit_test(test_a_real_sentencepiece_model_equals_its_list_of_tokens),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
