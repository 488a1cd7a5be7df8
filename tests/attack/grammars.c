/* steno tests: random and mutated grammars over random models. SPDX-License-Identifier: MIT
 *
 * Every round makes a model, a grammar and parameters from the seed and its own number, and gives the library's text to a recogniser
 * that shares nothing with its engine: each window's text must be a sentence or nothing, and steno_text all of them. Models are small, so
 * that vocabularies split characters and rooms are short.
 *
 *     attack_grammars                    the short form
 *     attack_grammars SECONDS [SEED]     goes on for so long
 *     attack_grammars 0 SEED ROUND       one round again, from the line of a finding */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <steno/steno.h>
#include "api/sentences.h"
#include "harness.h"
#include "base/file.h"
#include "convert/bin_random.h"

enum { SHORT_ROUNDS = 400, SANITIZED_ROUNDS = 80 }; /* the latter under sanitizers, without script/test --long */
enum { GRAMMAR_MAX = 1200, PCM_MAX = 48000, LANES = 4, MODELS = 6,
       ALL_WORDS = 50257 /* of the vocabulary with languages */ };

struct text { char s[GRAMMAR_MAX]; size_t n; };

struct attack {
    uint64_t seed, random;
    long round, findings, sentences, refused, unread, empty, ways;
    steno_model *model[MODELS];
    struct slow_grammar slow;
    struct sentences seen;
    struct text grammar;
    float pcm[PCM_MAX];
};

static uint32_t below(struct attack *a, uint32_t n)
{
    a->random = a->random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((a->random >> 33) % n);
}

static int often(struct attack *a, uint32_t of) { return below(a, of) == 0; }

/* ---- models ------------------------------------------------------------------------------------------------------------------ */

static void die(const char *what)
{
    fprintf(stderr, "attack_grammars: %s\n", what);
    exit(1);
}

static steno_model *model_make(uint64_t seed)
{
    static const int32_t ctx[MODELS] = { 70, 24, 40, 120, 32, 90 }, more[MODELS] = { 292, 256, 400, 1000, 300, ALL_WORDS };
    const int k = (int)(seed % MODELS);
    const struct whisper_dims d = { 80, 30, 48, 3, 2, 1608 + more[k], ctx[k], 48, 3, 2 };
    struct arena arena;
    struct random_file r;
    struct file f;
    steno_error e;
    steno_model *m;
    steno_model_params p;
    steno_model_params_init(&p);
    arena_init(&arena);
    if (whisper_random_file(&r, &f, &arena, &d, DT_F16, seed, &e)) die(e.text);
    void *bytes = malloc((size_t)f.size);
    if (!bytes || file_read(&f, 0, bytes, (size_t)f.size, &e)) die("a model");
    if (steno_model_open_memory(&m, bytes, (size_t)f.size, &p, &e)) die(e.text);
    free(bytes);
    arena_free(&arena);
    return m;
}

/* ---- grammars ---------------------------------------------------------------------------------------------------------------- */

static void put(struct text *t, const char *s)
{
    const size_t n = strlen(s);
    if (t->n + n + 1 > sizeof t->s) return;
    memcpy(t->s + t->n, s, n + 1);
    t->n += n;
}

static void put_element(struct attack *a, struct text *t, int depth);

static void put_alternatives(struct attack *a, struct text *t, int depth)
{
    for (uint32_t i = 0, n = 1 + below(a, 3); i < n; i++) {
        if (i) put(t, " | ");
        for (uint32_t k = 0, m = 1 + below(a, 3); k < m; k++) put_element(a, t, depth);
    }
}

static void put_element(struct attack *a, struct text *t, int depth)
{
    static const char *const leaf[] = { "\"no\"", "\" wa\"", "\"a\"", "\" \"", "\"日本\"", "\"é\"", "[a-c]", "[^a-z]", "\"\"", ".", "\"b c\"",
                                        "[あ-ん]",
                                        "\"x1\"", "[0-9]", "\"ничего\"", "\"\\n\"", "\", \"", "\"😀\"", "[日-本é ]", "\"n\"" };
    static const char *const times[] = { "*", "+", "?", "{2}", "{1,3}", "{0,2}", "{2,}" };
    const uint32_t what = below(a, depth > 2 ? 8 : 12);
    if (what < 8) put(t, leaf[below(a, sizeof leaf / sizeof *leaf)]);
    else if (what < 10) put(t, below(a, 2) ? "x " : "y ");
    else {
        put(t, "(");
        put_alternatives(a, t, depth + 1);
        put(t, ")");
    }
    if (often(a, 4)) put(t, times[below(a, sizeof times / sizeof *times)]);
    put(t, " ");
}

/* Bytes put in, taken out, doubled or exchanged; still without NULs. */
static void mutate(struct attack *a, struct text *t)
{
    static const char bytes[] = "\"[]()|*+?{}^-\\ \n,.0129abxy:=#\xe6\x97";
    for (uint32_t i = 0, n = 1 + below(a, 4); i < n && t->n + 2 < sizeof t->s; i++) {
        const size_t at = below(a, (uint32_t)t->n + 1), left = t->n - at;
        const char c = bytes[below(a, sizeof bytes - 1)];
        if (below(a, 2)) memmove(t->s + at + 1, t->s + at, left + 1), t->s[at] = c, t->n++;
        else if (left && below(a, 2)) memmove(t->s + at, t->s + at + 1, left), t->n--;
        else if (left) t->s[at] = c;
    }
}

static void grammar_make(struct attack *a)
{
    static const char *const base[] = {
        "root ::= \"no wa\"", "root ::= \"yes\" | \"no\"", "root ::= \"日本\"", "root ::= w (\" \" w)* \".\"\nw ::= \"no\" | \"now\" | \"日\"",
        "root ::= \"a\" root \"b\" | \"\"", "root ::= [a-c]{3,5} (\" \" [x-z]{2})+ # end\n", "root ::= (\"é\" | \"e\")+ \"!\"",
    };
    struct text *t = &a->grammar;
    t->n = 0;
    if (below(a, 2)) put(t, base[below(a, sizeof base / sizeof *base)]);
    else {
        put(t, "root ::= ");
        put_alternatives(a, t, 0);
        put(t, "\nx ::= \"no\" | [a-b] y | \"日\"\ny ::= \"c\" | \"本\" x\n");
    }
    if (often(a, 3)) mutate(a, t);
}

/* ---- parameters -------------------------------------------------------------------------------------------------------------- */

static void search_make(struct attack *a, steno_transcribe_params *p)
{
    const uint32_t search = below(a, 4);
    if (search == 1) p->beam_size = 1 + (int32_t)below(a, LANES);
    if (search == 2) p->temperature = 0.1 + 0.2 * below(a, 5);
    if (search == 3) p->temperature = 0.9, p->best_of = 1 + (int32_t)below(a, LANES);
    p->seed = below(a, 1000);
    p->temperature_increment_on_fallback = often(a, 3) && p->temperature < 0.7 ? 0.3 : 0;
    if (often(a, 2)) p->logprob_threshold = often(a, 2) ? 0 : (double)NAN;
    if (often(a, 3)) p->sample_len = 1 + (int32_t)below(a, 12);
    p->without_timestamps = often(a, 4);
    p->suppress_blank = !often(a, 3);
    if (!p->without_timestamps) p->max_initial_timestamp = often(a, 3) ? 0 : 0.1;
}

static void params_make(struct attack *a, steno_transcribe_params *p, int has_languages)
{
    static const double clips[] = { 0, 0.7, 0.8, 1.2, 1.3 };
    steno_transcribe_params_init(p);
    p->language = "en";
    p->grammar = a->grammar.s;
    p->suppress_tokens = often(a, 3) ? "-1" : "";
    p->no_speech_threshold = (double)NAN;
    search_make(a, p);
    p->word_timestamps = often(a, 4);
    if (p->word_timestamps && often(a, 2)) p->hallucination_silence_threshold = 0.02 + 0.1 * below(a, 4);
    if (often(a, 6)) p->guards = STENO_GUARDS_RETRY;
    if (often(a, 6)) p->tinydiarize = 1;
    if (often(a, 6)) p->hotwords = "no\nwa\n日本\nабв", p->hotwords_boost = below(a, 60);
    if (often(a, 6) && !p->sample_len) p->prefix = "wa,";
    if (often(a, 6)) p->initial_prompt = "no no";
    if (has_languages && often(a, 2)) p->task = STENO_TRANSCRIBE_AND_TRANSLATE;
    if (often(a, 6)) p->condition_on_previous_text = 0;
    if (often(a, 6)) p->clip_timestamps = clips, p->n_clip_timestamps = 1 + (int32_t)below(a, 5);
    if (often(a, 8)) p->suppress_regex = "[ab]";
    if (often(a, 4) && (p->beam_size > 1 || p->best_of > 1)) p->length_penalty = 0.5;
}

/* ---- rounds ------------------------------------------------------------------------------------------------------------------ */

static void finding(struct attack *a, const steno_transcribe_params *p, const char *what)
{
    a->findings++;
    printf("FOUND in round %ld: %s\n  beams %d, best of %d, temperature %g, room %d, times %d, words %d, silence %g, guards %d, turns %d, "
           "clips %d, task %d\n  grammar: %s\n  again: attack_grammars 0 %llu %ld\n", a->round, what, (int)p->beam_size, (int)p->best_of,
           p->temperature, (int)p->sample_len, !p->without_timestamps, (int)p->word_timestamps, p->hallucination_silence_threshold,
           (int)p->guards, (int)p->tinydiarize, (int)p->n_clip_timestamps, (int)p->task, a->grammar.s, (unsigned long long)a->seed,
           a->round);
}

static void judge(struct attack *a, steno_session *s, const steno_transcribe_params *p)
{
    const int before = a->seen.windows;
    a->seen.prefix = p->prefix && p->guards != STENO_GUARDS_OFF ? " wa," : NULL;
    for (int task = STENO_TRANSCRIBE; task <= (p->task == STENO_TRANSCRIBE_AND_TRANSLATE ? STENO_TRANSLATE : STENO_TRANSCRIBE); task++) {
        if (steno_result_select(s, task)) finding(a, p, "a result is missing");
        else if (!sentences_hold(s, &a->slow, NULL, &a->seen)) finding(a, p, a->seen.why);
    }
    a->sentences += a->seen.windows - before;
    a->empty += a->seen.windows == before;
}

static void round_run(struct attack *a)
{
    steno_transcribe_params p;
    steno_session_params sp;
    steno_session *s;
    a->random = (a->seed + 1) * 0x9e3779b97f4a7c15u + (uint64_t)a->round * 0xbf58476d1ce4e5b9u;
    (void)below(a, 2);
    const uint32_t k = below(a, MODELS);
    if (!a->model[k]) a->model[k] = model_make(a->seed / MODELS * MODELS + k);
    grammar_make(a);
    params_make(a, &p, k == MODELS - 1);
    const int64_t n = 4000 + below(a, PCM_MAX - 4000);
    for (int64_t i = 0; i < n; i++) a->pcm[i] = (float)below(a, 2001) / (i / 8000 % 3 == 2 ? 1e7f : 4000.0f) - 0.2f;
    steno_session_params_init(&sp);
    sp.max_lanes = LANES;
    if (steno_session_open(&s, a->model[k], NULL, &sp, NULL)) die("a session");
    const int rc = steno_transcribe(s, a->pcm, n, &p), read = slow_read(&a->slow, a->grammar.s);
    const char *why = steno_last_error(s);
    if (rc == STENO_EARG && (strstr(why, "grammar") || strstr(why, "prefix") || strstr(why, "prompt"))) a->refused++;
    else if (rc == STENO_ENOMEM && strstr(why, "too many ways")) a->ways++;
    else if (rc) finding(a, &p, why);
    else if (!read) a->unread++;
    else judge(a, s, &p);
    steno_session_close(s);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
    static struct attack a;
    const double until = argc > 1 ? now() + atof(argv[1]) : 0;
    a.seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (argc > 3) {
        a.round = atol(argv[3]);
        round_run(&a);
    } else {
        const long last = STENO_SANITIZED && !in_full() ? SANITIZED_ROUNDS : SHORT_ROUNDS;
        for (; argc > 1 ? now() < until : a.round < last; a.round++) round_run(&a);
    }
    for (int i = 0; i < MODELS; i++) steno_model_close(a.model[i]);
    printf("seed %llu, %ld rounds: %ld sentences, %d windows with several segments; %ld rounds without text, %ld refused, %ld unread by "
           "the recogniser, %ld with too many ways; %ld findings\n", (unsigned long long)a.seed, a.round, a.sentences, a.seen.more, a.empty,
           a.refused, a.unread, a.ways, a.findings);
    if (argc > 3) return a.findings > 0;
    return a.findings > 0 || a.sentences < a.round / 4 || a.unread > a.round / 20; /* an attack that tries little finds nothing */
}
