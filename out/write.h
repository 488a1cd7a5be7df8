/* steno: what the writers share. SPDX-License-Identifier: MIT */
#ifndef STENO_OUT_WRITE_H
#define STENO_OUT_WRITE_H
#include "text_rules.h"
#include "transcript.h"

/* The writers, one file each. */
void write_txt(struct sink *f, const struct transcript *t);
void write_srt(struct sink *f, const struct transcript *t);
void write_vtt(struct sink *f, const struct transcript *t);
void write_tsv(struct sink *f, const struct transcript *t);
void write_json(struct sink *f, const struct transcript *t);
void write_verbose_json(struct sink *f, const struct transcript *t);
void write_jsonl(struct sink *f, const struct transcript *t); /* t->source must be set; of a failed input only that is read */
void write_jsonl_job(struct sink *f, const struct transcript_source *job); /* its model and options are read */
void write_jsonl_sums(struct sink *f, const struct transcript_sums *sums);
void write_csv(struct sink *f, const struct transcript *t);
void write_lrc(struct sink *f, const struct transcript *t);
void write_wts(struct sink *f, const struct transcript *t);
void write_ass(struct sink *f, const struct transcript *t);
void write_score(struct sink *f, const struct transcript *t);
void write_json_full(struct sink *f, const struct transcript *t);
void write_funasr(struct sink *f, const struct transcript *t); /* t->source names the input */

/* What the formats share. */
void write_stripped(struct sink *f, enum text_form form, const char *text); /* without white space at the ends */
void write_time(struct sink *f, int64_t ms, int always_hours, char sep); /* [HH:]MM:SS<sep>mmm */

/* Who speaks: "(speaker 0) ", "(speaker ?) " where that is not known, nothing where nobody asked. */
void write_speaker(struct sink *f, const int32_t *speaker);
void write_speaker_column(struct sink *f, const struct transcript *t, int seg, char sep); /* "0", "?" and the separator, or nothing */
enum { WRITE_LABEL_SZ = 160 };
/* The same for subtitles, where speakers may have names: "Ann: ", else as above. out[n] */
void write_speaker_label(char *out, size_t n, const struct transcript *t, int seg);
const char *write_speaker_name(size_t *n, const struct transcript *t, int32_t speaker); /* [n]; @return NULL: the speaker has none */
int32_t write_speaker_count(const struct transcript *t); /* one more than the last speaker's number */
const int32_t *write_speaker_of(const struct transcript *t, int seg); /* @return NULL: nobody asked */
#define WRITE_SPEAKER_TURN " [SPEAKER_TURN]" /* behind a segment that another speaker goes on after */

/* The segments as a JSON list. What is no number, or a time that is not known, reads null.  */
void write_json_segments(struct sink *f, const struct transcript *t);
void write_json_lost(struct sink *f, const struct transcript *t, int always); /* what of the sound is missing; always: also nothing */
void write_json_hypotheses(struct sink *f, const struct transcript *t); /* ", n_best", where there is any */
void write_json_left_out(struct sink *f, const struct transcript *t);   /* ", left_out", where there is any */
void write_json_post(struct sink *f, const struct transcript *t); /* , "post": TEXT, where there is one */
void write_json_language_prob(struct sink *f, const struct transcript *t); /* , "language_probability": P, where it is known */
void write_json_number(struct sink *f, double value);
void write_json_stripped(struct sink *f, const char *text); /* a string without white space at the ends */

/* Start and end in seconds, in the very doubles that the reference computes. */
void write_seconds(const steno_segment *s, int32_t first_timestamp, double *start, double *end);
#endif
