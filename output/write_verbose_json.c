/* steno: the OpenAI API's object (response_format=verbose_json) on one line. SPDX-License-Identifier: MIT
 *
 * The language is its full name. As in the API, the text and the words in the list have no surrounding white space. */
#include "utf8.h"
#include "write.h"

static void write_words(struct sink *f, const struct transcript *t)
{
    const char *sep = "";
    sink_text(f, ", \"words\": [");
    for (int i = 0; i < t->n; i++) {
        for (int32_t k = 0; k < t->segs[i].n_words; k++) {
            const steno_word *w = &t->words[t->first_word[i] + k];
            sink_format(f, "%s{\"word\": ", sep);
            write_json_stripped(f, w->text);
            sink_text(f, ", \"start\": ");
            write_json_number(f, w->start);
            sink_text(f, ", \"end\": ");
            write_json_number(f, w->end);
            sink_char(f, '}');
            sep = ", ";
        }
    }
    sink_char(f, ']');
}

void write_verbose_json(struct sink *f, const struct transcript *t)
{
    sink_format(f, "{\"task\": \"%s\", \"language\": ", t->task == STENO_TRANSLATE ? "translate" : "transcribe");
    const char *name = steno_language_name(t->language);
    utf8_json(f, name ? name : t->language);
    write_json_language_prob(f, t);
    sink_text(f, ", \"duration\": ");
    write_json_number(f, (double)t->duration_ms / 1000.0);
    sink_text(f, ", \"text\": ");
    write_json_stripped(f, t->text);
    sink_text(f, ", \"segments\": ");
    write_json_segments(f, t);
    if (t->word_times) write_words(f, t);
    write_json_hypotheses(f, t);
    write_json_left_out(f, t);
    write_json_post(f, t);
    write_json_lost(f, t, 0);
    write_json_notes(f, t->notes, 0);
    sink_char(f, '}');
}
