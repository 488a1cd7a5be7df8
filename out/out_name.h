/* steno: what output files are called. SPDX-License-Identifier: MIT
 *
 * A template holds {stem}, {format} and {language}; everything else stands for itself. Its result may name folders below the output
 * folder, never one beside or above it. */
#ifndef STENO_OUT_OUT_NAME_H
#define STENO_OUT_OUT_NAME_H
#include <stddef.h>

#define OUT_NAME_DEFAULT "{stem}.{format}"

/* Name of an input without folders and without its extension (leading dots are no extension); "stdin" for "-".
 * @return malloc'd text, or NULL */
char *out_stem(const char *input);

/* @return malloc'd text, or NULL in want of memory; an unknown {word} stands for itself */
char *out_name(const char *template, const char *stem, const char *format, const char *language);

/* Length of the first {word} of a template that is none of the three, *at receives its start; 0 when there is none. */
size_t out_template_unknown(const char *template, const char **at);

/* Why a name is no name of a file below the folder, or NULL when it is one; static. */
const char *out_name_fault(const char *name);
#endif
