/* steno: what a language model makes of a transcript, and the options that say which and what. SPDX-License-Identifier: MIT
 *
 * The text is cut where a sentence ends, into parts that fit the model's context together with their answers; parts know nothing of each
 * other. Nothing is drawn: the same text gives the same answer. */
#include "post_opts.h"
#include "signals.h"
#include "sink.h"
#include "utf8.h"
#include <stdlib.h>
#include <string.h>

enum { PASSES = 4,     /* a summary of summaries, at most so often */
       DRAFT = 8,      /* an answer that says the text again is guessed from it */
       ROOM = 64,      /* of an answer, beside twice its text */
       PART_LEAST = 16 /* tokens, below which nothing fits */ };

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

static int open_model(struct post *p, const char *path, const struct engine *e, const struct engine_opts *eo)
{
    steno_error err = { 0 };
    const int code = engine_beside(&p->model, path, "a file of the model of --post", e, eo);
    if (code != EXIT_OK) return code;
    const steno_message hello = { "user", "" };
    const int rc = steno_chat_tokenize(p->model, &hello, 1, STENO_CHAT_ANSWER, NULL, 0, &err);
    if (rc == STENO_ENOMEM) return no_memory();
    if (rc < 0) return message_usage("--post %s: %s; it takes a language model that answers", path, err.text);
    steno_session_params sp;
    steno_session_params_init(&sp);
    const int opened = steno_session_open(&p->session, p->model, e->team, &sp, &err);
    return opened == STENO_OK ? EXIT_OK : message_model_error(NULL, opened, err.text);
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
    steno_session_close(p->session);
    steno_model_close(p->model);
    memset(p, 0, sizeof *p);
}

/* ---- one part ---------------------------------------------------------------------------------------------------------------- */

static int tokens_of(const struct post *p, const char *text, size_t n)
{
    return steno_tokenize_text(p->model, text, n, 0, NULL, 0);
}

/* Ids of what is asked about text[n] in malloc'd memory. @return their number, or a status */
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

static int answer_part(struct sink *out, const struct post *p, const char *text, size_t n, int (*stop)(void *))
{
    static const char thought[] = "</think>";
    steno_generate_params g;
    int32_t *ids;
    const int count = prompt_of(&ids, p, text, n), of_text = tokens_of(p, text, n);
    steno_generate_params_init(&g);
    g.max_tokens = 2 * (of_text > 0 ? of_text : 0) + ROOM;
    g.draft_max = p->repeats ? DRAFT : 0;
    g.should_abort = stop;
    const int rc = count < 0 ? count : steno_generate(p->session, ids, count, &g);
    free(ids);
    if (rc == STENO_ECANCELED) return EXIT_SIGNAL + signals_pending();
    if (rc < 0) {
        message("--post: %s", count < 0 ? steno_status_text(count) : steno_last_error(p->session));
        return rc == STENO_ENOMEM ? EXIT_MEMORY : EXIT_MODEL;
    }
    const char *said = steno_generated_text(p->session);
    for (const char *at = strstr(said, thought); at; at = strstr(said, thought)) said = at + strlen(thought);
    size_t len;
    said = utf8_strip(said, &len);
    sink_bytes(out, said, len);
    return EXIT_OK;
}

/* ---- all of it --------------------------------------------------------------------------------------------------------------- */

/* Bytes behind which text[n] may be cut: where a sentence ends, else a word, else a character. */
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

/* The first bytes of text[n] that have at most so many tokens. */
static size_t part_of(const struct post *p, const char *text, size_t n, int most)
{
    for (size_t k = n;;) {
        const int count = tokens_of(p, text, k);
        if (count <= most || k < 2) return k;
        const size_t fits = (size_t)((double)k * most / count);
        k = cut_before(text, fits > 1 ? fits : 1);
    }
}

/* Each part's answer, one behind the other. *parts: how many there were. */
static int answer_all(struct sink *out, const struct post *p, const char *text, int (*stop)(void *), int *parts)
{
    int32_t *ids;
    size_t n = strlen(text);
    const int bare = prompt_of(&ids, p, "", 0), room = p->ctx - bare - ROOM, most = p->shortens ? 2 * room / 3 : room / 3;
    free(ids);
    if (bare < 0) return no_memory();
    if (most < PART_LEAST) return message_usage("--post: a context of %d tokens has no room for --post-prompt and a text", p->ctx);
    int code = EXIT_OK;
    for (*parts = 0; n && code == EXIT_OK; ++*parts) {
        const size_t k = part_of(p, text, n, most);
        if (*parts) sink_char(out, p->shortens ? '\n' : ' ');
        code = answer_part(out, p, text, k, stop);
        text += k;
        n -= k;
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
