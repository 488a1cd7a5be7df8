/* steno: post-processing of a transcript by a language model, and its options. SPDX-License-Identifier: MIT
 *
 * The text is split at sentence ends into parts that fit the model's context together with their answers. Parts are independent, so
 * several are answered in parallel. The prompt that all parts share is computed once. Decoding is greedy: the same text gives the same
 * answer. */
#include "options/post_opts.h"
#include "cli/signals.h"
#include "models/host.h"
#include "sink.h"
#include "utf8.h"
#include <stdlib.h>
#include <string.h>

enum { PASSES = 4,     /* maximum number of passes, for summaries of summaries */
       DRAFT = 15,     /* draft tokens from the prompt, if the answer repeats the text */
       ROOM = 64,      /* answer tokens, in addition to twice its text */
       PART_LEAST = 16 /* tokens; smaller parts are useless */ };

/* ---- opening ----------------------------------------------------------------------------------------------------------------- */

static const struct { const char *name, *prompt; int repeats, shortens; } known[] = {
    { "correct", "Correct the mistakes of spelling, grammar and punctuation in the following transcript of speech. Keep its words, its "
                 "order and its language. Answer with the corrected text alone.", 1, 0 },
    { "punctuate", "Put punctuation and capital letters into the following transcript of speech. Change no words. Answer with the text "
                   "alone.", 1, 0 },
    { "summarise", "Summarise the following transcript of speech in a few sentences, in its language. Answer with the summary alone.", 0,
      1 },
};

static int no_memory(void)
{
    message("out of memory for --post");
    return EXIT_MEMORY;
}

/* The number of slots that fit into a quarter of memory, at least one. */
static int slots_of(const struct post *p, const steno_team *team)
{
    struct host h;
    steno_batch_params bp;
    host_get(&h);
    steno_batch_params_init(&bp);
    const int64_t have = h.memory_limit && (!h.available || h.memory_limit < h.available) ? h.memory_limit : h.available;
    for (bp.max_windows = POST_SLOTS; bp.max_windows > 1; bp.max_windows /= 2)
        if (steno_batch_memory(p->model, team, &bp) <= have / 4) break;
    return bp.max_windows;
}

static void answered(void *user, steno_session *s, int status)
{
    struct post *p = user;
    for (int i = 0; i < p->n_slots; i++)
        if (p->slot[i] == s) p->status[i] = status;
}

static int open_slots(struct post *p, steno_team *team)
{
    steno_error err = { 0 };
    steno_batch_params bp;
    steno_session_params sp;
    steno_batch_params_init(&bp);
    steno_session_params_init(&sp);
    bp.max_windows = slots_of(p, team);
    bp.user = p;
    bp.on_done = answered;
    int rc = steno_batch_open(&p->batch, p->model, team, &bp, &err);
    sp.batch = p->batch;
    while (!rc && p->n_slots < bp.max_windows) {
        rc = steno_session_open(&p->slot[p->n_slots], p->model, team, &sp, &err);
        p->n_slots += !rc;
    }
    return rc == STENO_OK ? EXIT_OK : message_model_error(NULL, rc, err.text);
}

static int open_model(struct post *p, const char *path, const struct engine *e, const struct engine_opts *eo)
{
    steno_error err = { 0 };
    const int code = engine_beside(&p->model, path, "a file of the model of --post", e, eo);
    if (code != EXIT_OK) return code;
    const steno_message hello = { "user", "" };
    const int rc = steno_chat_tokenize(p->model, &hello, 1, STENO_CHAT_ANSWER, NULL, 0, &err);
    if (rc == STENO_ENOMEM) return no_memory();
    if (rc < 0) return message_usage("--post %s: %s; it takes a language model that answers", path, err.text);
    return open_slots(p, e->team);
}

int post_open(struct post *p, const struct post_opts *o, const struct engine *e, const struct engine_opts *eo)
{
    steno_model_info i = { .size = sizeof i };
    *p = (struct post){ .prompt = o->prompt };
    if (!o->model) return EXIT_OK;
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        if (strcmp(known[k].name, o->prompt) != 0) continue;
        p->prompt = known[k].prompt;
        p->repeats = known[k].repeats;
        p->shortens = known[k].shortens;
    }
    const int code = open_model(p, o->model, e, eo);
    if (code != EXIT_OK) {
        post_close(p);
        return code;
    }
    steno_model_info_get(p->model, &i);
    p->ctx = i.n_text_ctx;
    return EXIT_OK;
}

void post_close(struct post *p)
{
    for (int i = 0; i < p->n_slots; i++) steno_session_close(p->slot[i]);
    steno_batch_close(p->batch);
    steno_model_close(p->model);
    memset(p, 0, sizeof *p);
}

/* ---- one part ---------------------------------------------------------------------------------------------------------------- */

static int tokens_of(const struct post *p, const char *text, size_t n)
{
    return steno_tokenize_text(p->model, text, n, 0, NULL, 0);
}

/* Tokenize the prompt for text[n] into malloc'd memory. @return the number of ids, or a status */
static int prompt_of(int32_t **ids, const struct post *p, const char *text, size_t n)
{
    const size_t len = strlen(p->prompt);
    char *whole = malloc(len + n + 3);
    *ids = NULL;
    if (!whole) return STENO_ENOMEM;
    memcpy(whole, p->prompt, len);
    memcpy(whole + len, "\n\n", 2);
    memcpy(whole + len + 2, text, n);
    whole[len + 2 + n] = '\0';
    const steno_message ask = { "user", whole };
    const uint32_t flags = STENO_CHAT_ANSWER | STENO_CHAT_NO_THINKING;
    int count = steno_chat_tokenize(p->model, &ask, 1, flags, NULL, 0, NULL);
    if (count >= 0 && !(*ids = malloc(((size_t)count + 1) * sizeof **ids))) count = STENO_ENOMEM;
    if (count >= 0) count = steno_chat_tokenize(p->model, &ask, 1, flags, *ids, count, NULL);
    free(whole);
    return count;
}

/* A part being answered. */
struct part { const char *text; size_t n; int32_t *ids; int n_ids; steno_generate_params g; };

/* @return EXIT_OK, or the exit code after a message */
static int part_failed(const steno_session *s, int rc)
{
    if (rc == STENO_ECANCELED) return EXIT_SIGNAL + signals_pending();
    message("--post: %s", s ? steno_last_error(s) : steno_status_text(rc));
    return rc == STENO_ENOMEM ? EXIT_MEMORY : EXIT_MODEL;
}

static int ask_part(struct part *a, const struct post *p, steno_session *s, int (*stop)(void *))
{
    const int of_text = tokens_of(p, a->text, a->n);
    steno_request_params r;
    a->n_ids = prompt_of(&a->ids, p, a->text, a->n);
    if (a->n_ids < 0) return part_failed(NULL, a->n_ids);
    steno_generate_params_init(&a->g);
    steno_request_params_init(&r);
    a->g.max_tokens = 2 * (of_text > 0 ? of_text : 0) + ROOM;
    a->g.draft_max = p->repeats ? DRAFT : 0;
    a->g.should_abort = stop;
    r.ids = a->ids;
    r.n_ids = a->n_ids;
    r.generate = &a->g;
    const int rc = steno_batch_submit(p->batch, s, NULL, &r);
    return rc ? part_failed(s, rc) : EXIT_OK;
}

/* Take the answer to a part, without the model's reasoning. */
static int take_answer(struct sink *out, const struct post *p, int slot)
{
    static const char thought[] = "</think>";
    const char *answer = steno_generated_text(p->slot[slot]);
    size_t len;
    if (p->status[slot] < 0) return part_failed(p->slot[slot], p->status[slot]);
    for (const char *at = strstr(answer, thought); at; at = strstr(answer, thought)) answer = at + strlen(thought);
    answer = utf8_strip(answer, &len);
    sink_bytes(out, answer, len);
    return EXIT_OK;
}

/* Append the answers to n parts in order. lead: there is text before the first answer. */
static int answer_parts(struct sink *out, const struct post *p, struct part *part, int n, int lead, int (*stop)(void *))
{
    int code = EXIT_OK, asked = 0;
    while (asked < n && code == EXIT_OK) {
        code = ask_part(&part[asked], p, p->slot[asked], stop);
        asked++;
    }
    steno_batch_run(p->batch);
    for (int i = 0; i < asked; i++) {
        if ((i || lead) && code == EXIT_OK) sink_char(out, p->shortens ? '\n' : ' ');
        if (code == EXIT_OK) code = take_answer(out, p, i);
        free(part[i].ids);
    }
    return code;
}

/* ---- the whole text ---------------------------------------------------------------------------------------------------------- */

/* Number of bytes after which text[n] may be cut: at a sentence end, else at a word, else at a character. */
static size_t cut_before(const char *text, size_t n)
{
    static const char *const ends[] = { ". ", "! ", "? ", "\xe3\x80\x82", "\xef\xbc\x81", "\xef\xbc\x9f", "\n" };
    size_t word = 0;
    for (size_t at = n; at > n / 2; at--) {
        for (size_t k = 0; k < sizeof ends / sizeof *ends; k++) {
            const size_t len = strlen(ends[k]);
            if (at >= len && !memcmp(text + at - len, ends[k], len)) return at;
        }
        if (!word && text[at - 1] == ' ') word = at;
    }
    while (!word && n > 1 && ((unsigned char)text[n] & 0xc0) == 0x80) n--;
    return word ? word : n;
}

/* The longest start of text[n] that has at most `most` tokens. */
static size_t part_of(const struct post *p, const char *text, size_t n, int most)
{
    for (size_t k = n;;) {
        const int count = tokens_of(p, text, k);
        if (count <= most || k < 2) return k;
        const size_t fits = (size_t)((double)k * most / count);
        k = cut_before(text, fits > 1 ? fits : 1);
    }
}

/* Append the answers to all parts. *parts receives their number. */
static int answer_all(struct sink *out, const struct post *p, const char *text, int (*stop)(void *), int *parts)
{
    int32_t *ids;
    size_t n = strlen(text);
    const int bare = prompt_of(&ids, p, "", 0), room = p->ctx - bare - ROOM, most = p->shortens ? 2 * room / 3 : room / 3;
    free(ids);
    if (bare < 0) return no_memory();
    if (most < PART_LEAST) return message_usage("--post: a context of %d tokens has no room for --post-prompt and a text", p->ctx);
    int code = EXIT_OK;
    for (*parts = 0; n && code == EXIT_OK;) {
        struct part part[POST_SLOTS];
        int some = 0;
        for (; n && some < p->n_slots; some++) {
            part[some] = (struct part){ .text = text, .n = part_of(p, text, n, most) };
            text += part[some].n;
            n -= part[some].n;
        }
        code = answer_parts(out, p, part, some, *parts, stop);
        *parts += some;
    }
    return code;
}

int post_make(char **out, const struct post *p, const char *text, int (*stop)(void *user))
{
    int parts = 2, code = EXIT_OK;
    *out = strdup(text);
    if (!*out) return no_memory();
    for (int pass = 0; code == EXIT_OK && parts > 1 && pass < (p->shortens ? PASSES : 1); pass++) {
        struct sink_memory made = { 0 };
        struct sink to = sink_to_memory(&made);
        code = answer_all(&to, p, *out, stop, &parts);
        sink_char(&to, '\0');
        free(*out);
        *out = made.p;
        if (code == EXIT_OK && to.failed) code = no_memory();
    }
    if (code == EXIT_OK) return code;
    free(*out);
    *out = NULL;
    return code;
}
