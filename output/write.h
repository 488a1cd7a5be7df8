/* steno: functions that writers share. SPDX-License-Identifier: MIT */
#ifndef STENO_OUT_WRITE_H
#define STENO_OUT_WRITE_H
#include "text_rules.h"
#include "transcript.h"

/* The writers, in write_*.c. */
void write_txt(struct sink *f, const struct transcript *t);
void write_srt(struct sink *f, const struct transcript *t);
void write_vtt(struct sink *f, const struct transcript *t);
void write_tsv(struct sink *f, const struct transcript *t);
void write_json(struct sink *f, const struct transcript *t);
void write_verbose_json(struct sink *f, const struct transcript *t);
void write_jsonl(struct sink *f, const struct transcript *t); /* t->source must be set; for a failed input only it is read */
void write_jsonl_job(struct sink *f, const struct transcript_source *job); /* reads its model and options */
void write_jsonl_sums(struct sink *f, const struct transcript_sums *sums);
void write_csv(struct sink *f, const struct transcript *t);
void write_lrc(struct sink *f, const struct transcript *t);
void write_wts(struct sink *f, const struct transcript *t);
void write_ass(struct sink *f, const struct transcript *t);
void write_score(struct sink *f, const struct transcript *t);
void write_json_full(struct sink *f, const struct transcript *t);
void write_funasr(struct sink *f, const struct transcript *t); /* t->source names the input */

/* Shared functions. */
void write_stripped(struct sink *f, enum text_form form, const char *text); /* without surrounding white space */
void write_time(struct sink *f, int64_t ms, int always_hours, char sep); /* [HH:]MM:SS<sep>mmm */

/* Writes the speaker: "(speaker 0) ", "(speaker ?) " if not known, nothing if speakers were not requested. */
void write_speaker(struct sink *f, const int32_t *speaker);
void write_speaker_column(struct sink *f, const struct transcript *t, int seg, char sep); /* "0" or "?" and the separator, or nothing */
enum { WRITE_LABEL_SZ = 160 };
/* Label for subtitles, where speakers may have names: "Ann: ", else as above. out[n] */
void write_speaker_label(char *out, size_t n, const struct transcript *t, int seg);
const char *write_speaker_name(size_t *n, const struct transcript *t, int32_t speaker); /* [n]; @return NULL: the speaker has no name */
int32_t write_speaker_count(const struct transcript *t); /* the highest speaker number plus one */
const int32_t *write_speaker_of(const struct transcript *t, int seg); /* @return NULL: speakers were not requested */
#define WRITE_SPEAKER_TURN " [SPEAKER_TURN]" /* after a segment that another speaker follows */

/* Writes the members of the API's object, without its braces, and those of its lists that are asked for. */
enum { WRITE_API_SEGMENTS = 1, WRITE_API_WORDS = 2 };
void write_json_api(struct sink *f, const struct transcript *t, unsigned lists);
/* Writes the segments as a JSON list. NAN, and times that are not known, become null. */
void write_json_segments(struct sink *f, const struct transcript *t);
/* audio that is missing; always: write it even if nothing is missing */
void write_json_lost(struct sink *f, const struct transcript *t, int always);
void write_json_hypotheses(struct sink *f, const struct transcript *t); /* ", n_best", if there are any */
void write_json_left_out(struct sink *f, const struct transcript *t);   /* ", left_out", if there are any */
void write_json_post(struct sink *f, const struct transcript *t); /* , "post": TEXT, if there is one */
void write_json_language_prob(struct sink *f, const struct transcript *t); /* , "language_probability": P, if it is known */
void write_json_number(struct sink *f, double value);
void write_json_stripped(struct sink *f, const char *text); /* a string without surrounding white space */

/* Start and end in seconds, in the doubles that the reference computes. */
void write_seconds(const steno_segment *s, int32_t first_timestamp, double *start, double *end);
#endif
