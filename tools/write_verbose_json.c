/* steno: the OpenAI API's object (response_format=verbose_json) on one line. SPDX-License-Identifier: MIT
 *
 * The language is spelled out and the text has no white space at its ends, as the API answers. */
#include "u8.h"
#include "write.h"

void write_verbose_json(FILE *f, const struct transcript *t)
{
    fprintf(f, "{\"task\": \"%s\", \"language\": ", t->task == STENO_TRANSLATE ? "translate" : "transcribe");
    const char *name = steno_language_name(t->language);
    u8_json(f, name ? name : t->language);
    fputs(", \"duration\": ", f);
    write_json_number(f, (double)t->duration_ms / 1000.0, WRITE_NULL);
    fputs(", \"text\": ", f);
    write_json_stripped(f, t->text);
    fputs(", \"segments\": ", f);
    write_json_segments(f, t, WRITE_NULL);
    fputc('}', f);
}
