/* steno: the OpenAI API's object (response_format=verbose_json) on one line. SPDX-License-Identifier: MIT
 *
 * The language is spelled out; the text and each word of the list of words have no white space at their ends, as the API answers. */
#include "u8.h"
#include "write.h"

static void write_words(FILE *f, const struct transcript *t)
{
    const char *sep = "";
    fputs(", \"words\": [", f);
    for (int i = 0; i < t->n; i++) {
        for (int32_t k = 0; k < t->segs[i].n_words; k++) {
            const steno_word *w = &t->words[t->first_word[i] + k];
            fprintf(f, "%s{\"word\": ", sep);
            write_json_stripped(f, w->text);
            fputs(", \"start\": ", f);
            write_json_number(f, w->start);
            fputs(", \"end\": ", f);
            write_json_number(f, w->end);
            fputc('}', f);
            sep = ", ";
        }
    }
    fputc(']', f);
}

void write_verbose_json(FILE *f, const struct transcript *t)
{
    fprintf(f, "{\"task\": \"%s\", \"language\": ", t->task == STENO_TRANSLATE ? "translate" : "transcribe");
    const char *name = steno_language_name(t->language);
    u8_json(f, name ? name : t->language);
    fputs(", \"duration\": ", f);
    write_json_number(f, (double)t->duration_ms / 1000.0);
    fputs(", \"text\": ", f);
    write_json_stripped(f, t->text);
    fputs(", \"segments\": ", f);
    write_json_segments(f, t);
    if (t->word_times) write_words(f, t);
    write_json_lost(f, t, 0);
    fputc('}', f);
}
