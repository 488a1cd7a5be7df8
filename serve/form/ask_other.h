/* steno-serve: fields of other servers' routes as fields of this one's. SPDX-License-Identifier: MIT
 *
 * A route is a table: one row per field whose name or meaning differs. Fields of the same name need no row. What has no effect here is an
 * error, or is named among the ignored fields. */
#ifndef STENO_SERVE_ASK_OTHER_H
#define STENO_SERVE_ASK_OTHER_H
#include "ask.h"

/* whisper.cpp's server: POST /inference, fields in the form. whisper-asr-webservice: POST /asr and /detect-language, options in the query,
 * which the caller adds to the form. Deepgram: POST /v1/listen, parameters in the query, of which the caller makes a form. */
#define ASK_OUTPUTS "txt|vtt|srt|tsv|json" /* of /asr */
enum ask_route { ASK_OPENAI, ASK_INFERENCE, ASK_ASR, ASK_DETECT_LANGUAGE, ASK_LISTEN, ASK_N_ROUTES };

/* Name of the part that has the audio; NULL: the body is the audio. */
const char *ask_file_field(enum ask_route route);

/* Field i of a route that has a name or a meaning of its own; `of`: the field of this server that it stands for, NULL: a flag.
 * @return 0, or -1 past the last one. Fields that are refused are left out */
struct ask_other { const char *name, *of; };
int ask_other_at(enum ask_route route, int i, struct ask_other *out);

/* As ask_read, for a route's fields. Errors have the client's names, those of ask_fill, too. @return API_OK or a code, in *e */
int ask_read_as(struct ask *a, struct form *f, enum ask_route route, int task, int is_strict, struct api_error *e);
#endif
