/* steno: names of output files. SPDX-License-Identifier: MIT
 *
 * A template contains words in braces, which are replaced by values of the input, the model and the run. All other text is copied. The
 * result may name folders below the output folder, never beside or above it: no value except {dir} makes folders, and {dir} has no "..". */
#ifndef STENO_OUT_OUT_NAME_H
#define STENO_OUT_OUT_NAME_H
#include <stddef.h>
#include <time.h>

#define OUT_NAME_DEFAULT "{stem}.{format}"

/* Values of the words of a template; NULL: not known yet, the word is kept. */
struct out_words {
    const char *stem, *ext; /* of the input: out_stem, out_ext */
    const char *format, *language;
    const char *dir;    /* out_dir_of: folder of the input */
    const char *number; /* out_number_text: number of the input */
    const char *date, *time; /* out_time_text: start of the run */
    const char *model;  /* out_part: name of the model */
};
#define OUT_PLACEHOLDERS "{stem}, {ext}, {format}, {language}, {dir}, {n}, {date}, {time} and {model}"

/* Name of an input without folders and extension (leading dots do not begin an extension); "stdin" for "-". @return malloc'd text, or
 * NULL */
char *out_stem(const char *input);

/* Its extension without the dot, or "". Points into `input` */
const char *out_ext(const char *input);

/* The folder of an input as named, from the root or the host of a URL on, without "." and ".."; "." if there is none. @return malloc'd
 * text, or NULL */
char *out_dir_of(const char *input);

/* A text as a single part of a name: without slashes and control characters, not hidden by a dot in front, and never "". @return malloc'd
 * text, or NULL */
char *out_part(const char *text);

/* Number of input `index` of n, from 1, with leading zeros, so that names sort like inputs. */
enum { OUT_NUMBER_SZ = 16 };
void out_number_text(char out[OUT_NUMBER_SZ], int index, int n);

/* "2026-03-01" and "14-05-59", in local time. */
enum { OUT_TIME_SZ = 32 };
void out_time_text(char date[OUT_TIME_SZ], char time[OUT_TIME_SZ], time_t when);

/* The output folder of an input: `dir`, except that "@" and "@/NAME" are the input's own folder and a folder in it. @return malloc'd text,
 * or NULL */
char *out_folder(const char *dir, const char *input);
int out_folder_is_beside(const char *dir);
int out_input_has_folder(const char *input); /* not standard input or a URL */

/* @return malloc'd text, or NULL if memory runs out; an unknown {word} is kept */
char *out_name(const char *template, const struct out_words *words);

/* A name of which some parts are not known: values that only a run knows, and the mark of a result after {stem}. */
struct out_pattern {
    char *text;  /* [n]; an unknown part is one byte here */
    char *kinds; /* [n] enum out_part */
    size_t n;
};
enum out_part { OUT_PART_TEXT, OUT_PART_LANGUAGE, OUT_PART_DATE, OUT_PART_TIME, OUT_PART_MARK };
enum { OUT_PATTERN_MAX = 4096 /* bytes of a matched name */ };

/* Words without a value are unknown parts. is_marked: a mark may follow {stem}. @return 0, or -1: no memory. Free it with
 * out_pattern_free. */
int out_pattern_make(struct out_pattern *p, const char *template, const struct out_words *words, int is_marked);
void out_pattern_free(struct out_pattern *p);
int out_pattern_is_name(const struct out_pattern *p); /* 1: all parts are known */
/* Does the name match bytes [from, to) of the pattern? */
int out_pattern_match(const struct out_pattern *p, size_t from, size_t to, const char *name);

/* The mark of a result after {stem}: ".track2.ch1.translation". track 0, channel -1 and task NULL are left out. */
enum { OUT_MARK_SZ = 64 };
void out_mark_text(char mark[OUT_MARK_SZ], int track, int channel, const char *task);
/* Length of the mark of a track, of a channel, or of a track and possibly a channel of it at the start of a text; 0: there is none. */
size_t out_mark_length(const char *text, int has_track, int has_channel);

/* Length of the first unknown {word} of a template, or 0. *at receives its start. */
size_t out_template_unknown(const char *template, const char **at);
/* Does a template contain a word such as "{stem}"? NULL is OUT_NAME_DEFAULT. */
int out_template_has(const char *template, const char *word);

/* Why a name is not valid for a file below the folder, or NULL if it is valid; static. */
const char *out_name_fault(const char *name);
#endif
