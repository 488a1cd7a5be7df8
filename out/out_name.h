/* steno: what output files are called. SPDX-License-Identifier: MIT
 *
 * A template holds words in braces, which an input, the model and the run fill; everything else stands for itself. Its result may name
 * folders below the output folder, never one beside or above it: a value makes no folder but {dir}, which has no "..". */
#ifndef STENO_OUT_OUT_NAME_H
#define STENO_OUT_OUT_NAME_H
#include <stddef.h>
#include <time.h>

#define OUT_NAME_DEFAULT "{stem}.{format}"

/* What the words of a template say; NULL: not known yet, the word stands for itself. */
struct out_words {
    const char *stem, *ext; /* of the input: out_stem, out_ext */
    const char *format, *language;
    const char *dir;    /* out_dir_of: the folder of the input */
    const char *number; /* out_number_text: which of the inputs it is */
    const char *date, *time; /* out_time_text: of the run */
    const char *model;  /* out_part: its name */
};
#define OUT_WORDS_TOLD "{stem}, {ext}, {format}, {language}, {dir}, {n}, {date}, {time} and {model}"

/* Name of an input without folders and without its extension (leading dots are no extension); "stdin" for "-".
 * @return malloc'd text, or NULL */
char *out_stem(const char *input);

/* Its extension, without the dot; "" where it has none. In `input` */
const char *out_ext(const char *input);

/* The folder of an input as it was named, from the root or the host of an address on, without "." and ".."; "." where there is none.
 * @return malloc'd text, or NULL */
char *out_dir_of(const char *input);

/* A text as one part of a name: without slashes, and never "", "." or "..". @return malloc'd text, or NULL */
char *out_part(const char *text);

/* Input `index` of n, counted from 1, with zeros in front, so that names sort as inputs do. */
enum { OUT_NUMBER_SZ = 16 };
void out_number_text(char out[OUT_NUMBER_SZ], int index, int n);

/* "2026-03-01" and "14-05-59", of the place where the machine is. */
enum { OUT_TIME_SZ = 32 };
void out_time_text(char date[OUT_TIME_SZ], char time[OUT_TIME_SZ], time_t when);

/* The output folder of an input: `dir`, but for "@" and "@/NAME", which stand for the input's own folder and one in it.
 * @return malloc'd text, or NULL */
char *out_folder(const char *dir, const char *input);
int out_folder_is_beside(const char *dir);
int out_input_has_folder(const char *input); /* not standard input or an address */

/* @return malloc'd text, or NULL in want of memory; an unknown {word} stands for itself */
char *out_name(const char *template, const struct out_words *words);

/* Length of the first {word} of a template that is none of ours, *at receives its start; 0 when there is none. */
size_t out_template_unknown(const char *template, const char **at);
/* Whether a template has a word, "{stem}"; NULL is OUT_NAME_DEFAULT. */
int out_template_has(const char *template, const char *word);

/* Why a name is no name of a file below the folder, or NULL when it is one; static. */
const char *out_name_fault(const char *name);
#endif
