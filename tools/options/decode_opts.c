/* steno: decoding options of transcribe and translate. SPDX-License-Identifier: MIT */
#include "options/decode_opts.h"
#include "cli/message.h"
#include "cli/option_names.h"
#include "cli/text_file.h"
#include "cli/time_text.h"
#include "fnv.h"
#include "utf8.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- weights in hot-word files of other programs ----------------------------------------------------------------------------- */

struct weight {
    size_t word; /* length of the word in bytes, without blanks */
    int is_there, is_low;
};

static int is_blank(char c) { return c == ' ' || c == '\t'; }

/* Is s[n] a number? fraction: a fraction is allowed. *low: it is 0 or less */
static int is_number(const char *s, size_t n, int fraction, int *low)
{
    size_t i = n && (*s == '-' || *s == '+'), digits = 0;
    int is_zero = 1;
    for (; i < n && ((s[i] >= '0' && s[i] <= '9') || (fraction && s[i] == '.')); i++) {
        if (s[i] == '.') fraction = 0;
        else digits++;
        is_zero &= s[i] == '0' || s[i] == '.';
    }
    *low = is_zero || (n && *s == '-');
    return digits && i == n;
}

/* The weight at the end of line[n], after a colon, or with `bare` without one. FunASR keeps whole weights, and drops fractions; a bare
 * number with a fraction is more likely a version ("Python 3.11"). */
static struct weight weight_of(const char *line, size_t n, int bare)
{
    struct weight w = { n, 0, 0 };
    size_t at = n;
    while (at && !is_blank(line[at - 1])) at--;
    const int colon = at < n && line[at] == ':';
    if (!colon && !bare) return w;
    const size_t from = at + (size_t)colon;
    w.is_there = is_number(line + from, n - from, colon, &w.is_low) && (at || colon);
    if (!w.is_there) return (struct weight){ n, 0, 0 };
    while (at && is_blank(line[at - 1])) at--;
    w.word = at;
    return w;
}

/* What stands at the ends of a text's lines. */
struct line_ends {
    int lines, whole, numbers; /* numbers: whole ones and fractions */
};

static struct line_ends line_ends_count(const char *text)
{
    struct line_ends c = { 0, 0, 0 };
    for (const char *p = text; *p; c.lines++) {
        const size_t n = strcspn(p, "\n");
        size_t at = n;
        int low;
        while (at && !is_blank(p[at - 1])) at--;
        c.whole += weight_of(p, n, 1).is_there;
        c.numbers += at && is_number(p + at, n - at, 1, &low);
        p += n + (p[n] != '\0');
    }
    return c;
}

enum hotword_weights hotword_weights_cut(char *text, int *line)
{
    const struct line_ends ends = line_ends_count(text);
    const int bare = ends.whole == ends.lines;
    const int is_doubtful = !bare && ends.numbers > 1 && 2 * ends.numbers >= ends.lines;
    enum hotword_weights found = HOTWORDS_PLAIN;
    char *to = text;
    *line = 0;
    for (char *p = text; *p;) {
        const size_t n = strcspn(p, "\n");
        const int is_last = p[n] == '\0';
        const struct weight w = weight_of(p, n, bare);
        ++*line;
        if (w.is_there && (w.is_low || !w.word)) return HOTWORDS_REFUSED;
        if (w.is_there) found = HOTWORDS_WEIGHTED;
        memmove(to, p, w.word);
        to += w.word;
        p += n + !is_last;
        if (!is_last) *to++ = '\n';
    }
    *to = '\0';
    return found == HOTWORDS_PLAIN && is_doubtful ? HOTWORDS_NUMBERED : found;
}

/* ---- decoding options -------------------------------------------------------------------------------------------------------- */

enum { FILE_MAX = 1 << 20, N_MAX = 1 << 20 };

static int no_memory(const char *option)
{
    message("out of memory for %s", option);
    return EXIT_MEMORY;
}

/* ---- text -------------------------------------------------------------------------------------------------------------------- */

static int check_utf8(const struct decode_opts *o)
{
    const char *hotwords = o->hotwords && o->hotwords[0] != '@' ? o->hotwords : NULL;
    const struct { const char *name, *text; } all[] = {
        { "initial-prompt", o->initial_prompt }, { "prefix", o->prefix }, { "hotwords", hotwords },
        { "suppress-regex", o->suppress_regex }, { "grammar-rule", o->grammar_rule },
        { "prepend-punctuations", o->prepend_punctuations }, { "append-punctuations", o->append_punctuations },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const int64_t bad = all[i].text ? utf8_invalid_at(all[i].text) : -1;
        if (bad >= 0) return message_usage("--%s is not valid UTF-8 at byte %lld", all[i].name, (long long)bad);
    }
    return EXIT_OK;
}

/* ---- lists ------------------------------------------------------------------------------------------------------------------- */

static size_t count_items(const char *list)
{
    size_t n = 1;
    for (const char *p = list; *p; p++) n += *p == ',';
    return n;
}

static int read_ids(struct decode_data *d, const char *list)
{
    if (!list || !*list) return EXIT_OK;
    d->prompt_ids = calloc(count_items(list), sizeof *d->prompt_ids);
    if (!d->prompt_ids) return no_memory("--prompt-tokens");
    for (const char *p = list;; p++) {
        char *end;
        errno = 0;
        const long id = strtol(p, &end, 10);
        if (end == p || errno || id < 0 || id > INT32_MAX || (*end && *end != ',') || d->n_prompt_ids == N_MAX)
            return message_usage("--prompt-tokens: '%s' is not a list of token ids", list);
        d->prompt_ids[d->n_prompt_ids++] = (int32_t)id;
        if (!*end) return EXIT_OK;
        p = end;
    }
}

static int read_clips(struct decode_data *d, const char *list)
{
    static const char name[] = "--clip-timestamps";
    if (!list) return EXIT_OK;
    d->clips = calloc(count_items(list), sizeof *d->clips);
    if (!d->clips) return no_memory(name);
    for (const char *p = list;; p++) {
        char *end;
        int64_t ms;
        const char *behind = time_read(p, &ms);
        const double s = behind ? (double)ms / 1000 : strtod(p, &end);
        if (behind) end = (char *)(uintptr_t)behind;
        if (end == p || !isfinite(s) || (*end && *end != ',') || d->n_clips == N_MAX)
            return message_usage("%s: '%s' is not a list of seconds or times (1:02:03.5)", name, list);
        if (s < 0) return message_usage("%s: %g lies before the audio", name, s);
        if (d->n_clips % 2 && s <= d->clips[d->n_clips - 1])
            return message_usage("%s: the clip from %g to %g is empty", name, d->clips[d->n_clips - 1], s);
        d->clips[d->n_clips++] = s;
        if (!*end) return EXIT_OK;
        p = end;
    }
}

static int read_ladder(struct decode_data *d, const char *list)
{
    static const char name[] = "--fallback-temperatures";
    if (!list) return EXIT_OK;
    d->ladder = calloc(count_items(list), sizeof *d->ladder);
    if (!d->ladder) return no_memory(name);
    for (const char *p = list;; p++) {
        char *end;
        const double t = strtod(p, &end);
        if (end == p || !isfinite(t) || (*end && *end != ',') || d->n_ladder == N_MAX)
            return message_usage("%s: '%s' is not a list of temperatures, such as 0.2,0.4", name, list);
        d->ladder[d->n_ladder++] = t;
        if (!*end) return EXIT_OK;
        p = end;
    }
}

/* ---- files ------------------------------------------------------------------------------------------------------------------- */

/* Read the text of a file into malloc'd memory. */
static int read_file(char **text, const struct decode_opts *o, const char *option, const char *path)
{
    char why[TEXT_FILE_WHY];
    switch (text_file_read(text, path, 0, FILE_MAX, why, sizeof why)) {
    case TEXT_FILE_READ: break;
    case TEXT_FILE_NO_MEMORY: return no_memory(option);
    case TEXT_FILE_UNREADABLE: return message_usage("%s: %s: %s", option, path, why);
    default: return message_usage("%s: %s %s", option, path, why);
    }
    return path_guard_code_read(o->path_guard, strcmp(option, "--grammar") == 0 ? "the file of --grammar" : "the file of --hotwords", path);
}

static int read_grammar(struct decode_data *d, const struct decode_opts *o)
{
    const char *given = o->grammar;
    d->grammar = given;
    if (!given) return EXIT_OK;
    if (strstr(given, "::=")) {
        const int64_t bad = utf8_invalid_at(given);
        return bad >= 0 ? message_usage("--grammar is not valid UTF-8 at byte %lld", (long long)bad) : EXIT_OK;
    }
    const int code = read_file(&d->grammar_file, o, "--grammar", given);
    d->grammar = d->grammar_file;
    return code;
}

/* Put each word between `separators` on its own line, without surrounding blanks and empty lines. Works in place. */
static void tidy_lines(char *text, const char *separators)
{
    char *to = text;
    for (char *p = text; *p;) {
        const size_t n = strcspn(p, separators);
        const char next = p[n];
        p[n] = '\0';
        size_t k;
        const char *word = utf8_strip(p, &k);
        if (k && to > text) *to++ = '\n';
        memmove(to, word, k);
        to += k;
        p += n + (next != '\0');
    }
    *to = '\0';
}

/* Remove the weights from the words of a file. */
static int cut_weights(char *words, const char *file)
{
    int line;
    switch (hotword_weights_cut(words, &line)) {
    case HOTWORDS_PLAIN: return EXIT_OK;
    case HOTWORDS_REFUSED:
        return message_usage("--hotwords: %s: word %d has no weight above 0; hot words become more likely, never less: leave it out",
                             file, line);
    case HOTWORDS_NUMBERED:
        message("--hotwords: %s: numbers after words count as text: they are no weights, since not every line ends with a whole number; a "
                "weight may follow a colon: \"word :20\"", file);
        return EXIT_OK;
    case HOTWORDS_WEIGHTED: break;
    }
    message("--hotwords: %s: weights after words are ignored, and all words count the same (--hotwords-boost); a number that belongs to "
            "its word stays if a weight follows it: \"iPhone 15 :1\"", file);
    return EXIT_OK;
}

/* Is it an object or a list of texts in JSON, as FunASR's server takes it? */
static int is_json(const char *text)
{
    static const char blank[] = " \t\r\n";
    const char *p = text + strspn(text, blank);
    if (*p != '{' && *p != '[') return 0;
    const char end = *p == '{' ? '}' : ']';
    p += 1 + strspn(p + 1, blank);
    return *p == '"' || *p == end;
}

static int read_hotwords(struct decode_data *d, const struct decode_opts *o)
{
    const char *given = o->hotwords;
    int code = EXIT_OK;
    if (!given) return EXIT_OK;
    if (given[0] == '@') code = read_file(&d->hotwords, o, "--hotwords", given + 1);
    else if (!(d->hotwords = strdup(given))) code = no_memory("--hotwords");
    if (code != EXIT_OK) return code;
    if (is_json(d->hotwords))
        return message_usage("--hotwords: %s is JSON, as FunASR's server takes it; write one word per line, with or without a weight",
                             given[0] == '@' ? given + 1 : "it");
    tidy_lines(d->hotwords, given[0] == '@' ? "\n" : ",\n");
    if (!d->hotwords[0]) return message_usage("--hotwords: %s has no words", given[0] == '@' ? given + 1 : "it");
    return given[0] == '@' ? cut_weights(d->hotwords, given + 1) : EXIT_OK;
}

/* ---- suppressed tokens ------------------------------------------------------------------------------------------------------- */

/* Copy a list of ids without its "-1". @return 1 if it had "-1"; `to` may be NULL */
static int list_without_set(char *to, const char *list)
{
    int found = 0;
    if (to) *to = '\0';
    for (const char *p = list;; p++) {
        const size_t n = strcspn(p, ",");
        char *end;
        const int is_set = strtol(p, &end, 10) == -1 && end + strspn(end, " \t") == p + n; /* the library refuses words that are not ids */
        found |= is_set;
        if (to && !is_set) sprintf(to + strlen(to), "%s%.*s", *to ? "," : "", (int)n, p);
        p += n;
        if (!*p) return found;
    }
}

/* The list passed to the library. Without the non-speech set the list must not be empty, because an empty list would allow special
 * tokens. It then holds the start token, which is never chosen anyway. */
static int fill_suppress(steno_transcribe_params *p, struct decode_data *d, const struct decode_opts *o, const steno_model *m)
{
    const char *given = o->suppress_tokens;
    const int has_set = list_without_set(NULL, given);
    p->suppress_tokens = given;
    if (has_set == o->suppress_non_speech) return EXIT_OK;
    free(d->suppress); /* allocated by the call before the model was known */
    d->suppress = malloc(strlen(given) + 16);
    if (!d->suppress) return no_memory("--suppress-tokens");
    if (o->suppress_non_speech) sprintf(d->suppress, "%s%s-1", given, given[0] ? "," : "");
    else list_without_set(d->suppress, given);
    const int32_t start = steno_token_id(m, STENO_TOKEN_START);
    if (!d->suppress[0] && start >= 0) sprintf(d->suppress, "%d", (int)start);
    p->suppress_tokens = d->suppress;
    return EXIT_OK;
}

/* ---- all options ------------------------------------------------------------------------------------------------------------- */

int decode_opts_check(struct decode_data *d, struct decode_opts *o, int has_vad)
{
    memset(d, 0, sizeof *d);
    int code = check_utf8(o);
    if (code == EXIT_OK) code = read_ids(d, o->prompt_tokens);
    if (code == EXIT_OK) code = read_clips(d, o->clip_timestamps);
    if (code == EXIT_OK) code = read_ladder(d, o->fallback_temperatures);
    if (code == EXIT_OK) code = read_grammar(d, o);
    if (code == EXIT_OK) code = read_hotwords(d, o);
    if (o->condition < 0) o->condition = !has_vad && isnan(o->chunk_s);
    if (o->suppress_non_speech < 0) o->suppress_non_speech = list_without_set(NULL, o->suppress_tokens);
    return code;
}

/* Does an attempt sample? As the library decides for a ladder of temperatures. */
static int draws(const struct decode_opts *o)
{
    const double step = o->temperature_increment;
    return o->temperature > 0 || o->fallback_temperatures || (step > 0 && o->temperature + step <= 1 + 1e-6);
}

/* Set widths that were not given. A model that is not known yet is assumed to be Whisper. */
void decode_opts_settle(struct decode_opts *o, const steno_model *m)
{
    const int width = (int)strtol(DECODE_WIDTH, NULL, 10);
    const int searches = !o->greedy && !o->bare && (!m || option_served(m, "best_of"));
    const int beams = !o->drafted && (!(o->temperature > 0) || o->decoding == STENO_DECODING_GGML);
    if (o->beam_size < 0) o->beam_size = searches && beams ? width : 0;
    if (o->best_of < 0) o->best_of = searches && draws(o) ? width : 0;
}

int decode_opts_check_drafts(const struct decode_opts *o, const struct args_given *given, const steno_model *m)
{
    char name[OPTION_TEXT_SZ];
    steno_model_info i = { .size = sizeof i };
    steno_model_info_get(m, &i);
    const int lacks = option_was_given(given, "draft-max") && !o->drafted && i.draft_sources == STENO_DRAFTS_OF_MODEL;
    return lacks ? message_usage("%s needs --draft with this model", option_name(name, given, "draft-max")) : EXIT_OK;
}

static void fill_search(steno_transcribe_params *p, const struct decode_data *d, const struct decode_opts *o, const steno_model *m)
{
    struct decode_opts settled = *o;
    decode_opts_settle(&settled, m);
    p->beam_size = (int32_t)settled.beam_size;
    p->best_of = (int32_t)settled.best_of;
    p->patience = o->patience;
    p->length_penalty = o->length_penalty;
    p->temperature = o->temperature;
    p->temperature_increment_on_fallback = o->temperature_increment;
    p->fallback_temperatures = d->ladder;
    p->n_fallback_temperatures = d->n_ladder;
    p->prompt_reset_on_temperature = o->prompt_reset;
}

static void fill_chunks(steno_transcribe_params *p, const struct decode_opts *o)
{
    p->chunk_size = o->chunk_size;
    p->encoder_chunk_look_back = (int32_t)o->encoder_look_back;
    p->decoder_chunk_look_back = (int32_t)o->decoder_look_back;
    p->lookahead = (int32_t)o->lookahead;
}

int decode_opts_fill(steno_transcribe_params *p, struct decode_data *d, const struct decode_opts *o, const steno_model *m)
{
    p->clip_timestamps = d->clips;
    p->n_clip_timestamps = d->n_clips;
    p->chunk_ms = isnan(o->chunk_s) ? 0 : (int32_t)lrint(o->chunk_s * 1000);
    p->audio_ctx = (int32_t)o->audio_ctx;
    fill_chunks(p, o);
    p->language_detection_segments = (int32_t)o->detection_segments;
    p->language_detection_threshold = o->detection_threshold;
    p->language_per_segment = o->language_per_segment;

    p->initial_prompt = o->initial_prompt;
    p->carry_initial_prompt = o->carry;
    p->prompt_tokens = d->prompt_ids;
    p->n_prompt_tokens = d->n_prompt_ids;
    p->prefix = o->prefix;
    p->hotwords = d->hotwords;
    p->hotwords_boost = o->hotwords_boost;
    p->repetition_penalty = o->repetition_penalty;
    p->no_repeat_ngram_size = (int32_t)o->no_repeat_ngram;
    p->draft_max = (int32_t)o->draft_max;
    p->condition_on_previous_text = o->condition;
    p->max_context = (int32_t)o->max_context;
    p->without_timestamps = o->without_timestamps;
    p->max_initial_timestamp = isnan(o->max_initial_timestamp) ? 0 : o->max_initial_timestamp;
    p->itn = o->itn;
    p->tags = o->rich_text ? STENO_TAGS_RICH : o->keep_tags ? STENO_TAGS_KEEP : STENO_TAGS_APART;
    p->ban_unknown_emotion = o->ban_unknown_emotion;

    p->word_timestamps = o->word_timestamps;
    p->prepend_punctuations = o->prepend_punctuations;
    p->append_punctuations = o->append_punctuations;
    p->hallucination_silence_threshold = o->hallucination_silence;
    p->token_timestamps = o->token_timestamps;
    p->token_threshold = o->word_threshold;
    p->tinydiarize = o->tinydiarize;
    p->decoding = o->decoding;

    p->suppress_blank = o->suppress_blank;
    p->suppress_regex = o->suppress_regex;
    p->grammar = d->grammar;
    p->grammar_rule = o->grammar_rule;
    p->grammar_penalty = isnan(o->grammar_penalty) ? (double)INFINITY : o->grammar_penalty;

    fill_search(p, d, o, m);
    p->n_best = (int32_t)o->n_best;
    p->compression_ratio_threshold = o->compression_ratio_threshold;
    p->entropy_threshold = o->entropy_threshold;
    p->guards = o->guards;
    p->seed = (uint64_t)o->seed;
    p->sample_len = (int32_t)o->sample_length;
    p->no_speech_threshold = o->no_speech_threshold;
    p->logprob_threshold = o->logprob_threshold;
    return fill_suppress(p, d, o, m);
}

int decode_opts_lanes(const struct decode_opts *o)
{
    struct decode_opts settled = *o;
    decode_opts_settle(&settled, NULL);
    const int64_t most = settled.beam_size > settled.best_of ? settled.beam_size : settled.best_of;
    return most > 1 ? (int)most : 1;
}

uint64_t decode_data_hash(const struct decode_data *d)
{
    const char *text[] = { d->hotwords ? d->hotwords : "", d->grammar ? d->grammar : "" };
    return fnv(fnv(FNV_BASIS, text[0], strlen(text[0]) + 1), text[1], strlen(text[1]));
}

void decode_data_free(struct decode_data *d)
{
    free(d->prompt_ids);
    free(d->clips);
    free(d->ladder);
    free(d->grammar_file);
    free(d->hotwords);
    free(d->suppress);
    memset(d, 0, sizeof *d);
}
