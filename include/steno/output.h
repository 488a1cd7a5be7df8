/* steno-output: results as text, subtitles and JSON. SPDX-License-Identifier: MIT
 *
 * Writes the result of a session in the formats of `steno -f FORMAT`. Notes on the audio file and the options of a run belong to the
 * program and are not included. Nothing here prints, ends the process, reads the environment or keeps state between calls. Any number of
 * threads may write results of their own sessions. */
#ifndef STENO_OUTPUT_H
#define STENO_OUTPUT_H
#include <steno/steno.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Parameters that are not part of the session; filled by steno_output_params_init. A limit of 0 means no limit. */
typedef struct steno_output_params {
    uint32_t size;              /**< set by steno_output_params_init */
    int32_t task;               /**< enum steno_task of the result, for JSON */
    int32_t word_times;         /**< 1: JSON lists words, and cues are made of them. Needs a result with word_timestamps */
    int32_t token_times;        /**< 1: JSON has token times. Needs a result with token_timestamps */
    const steno_model *model;   /**< the session's model: texts of tokens, for score, json_full and max_len; NULL: score and json_full
                                 * omit them */
    const char *input;          /**< name of the input, in jsonl, wts and funasr; NULL: "-" */
    const char *style;          /**< style of cues: "plain", "netflix", "bbc", "broadcast"; needs word_times. NULL: cues are segments */
    int32_t max_len;            /**< maximum code points of a segment; longer ones are split, which needs model or word_times */
    int32_t split_on_word;      /**< 1: split between words only */
    int32_t max_line_width;     /**< maximum code points of a line; needs word_times, as the next three do */
    int32_t max_line_count;     /**< maximum lines of a cue; needs max_line_width */
    int32_t max_words_per_line; /**< maximum words of a cue */
    int32_t highlight_words;    /**< 1: srt and vtt underline the spoken word */
} steno_output_params;

STENO_API void steno_output_params_init(steno_output_params *p);

/** @return name of format `number`, from 0: "txt", "srt", "vtt", ...; static. NULL past the last one */
STENO_API const char *steno_output_format(int number);

/** Write the result of a session in one format.
 *
 * @param s       session with a result: steno_transcribe_source or another call that makes segments has returned STENO_OK
 * @param format  a name from steno_output_format
 * @param p       parameters, or NULL for the defaults
 * @param put     receives the bytes in order, in pieces of any size; a non-zero return ends the call
 * @param user    for put
 * @param e       receives the reason of a failure; may be NULL
 * @return STENO_OK; STENO_EARG (an unknown format or style, a negative limit, params that were not initialised), STENO_ENOMEM, STENO_EIO
 *         (put did not return 0: the output is incomplete) */
STENO_API int steno_output_write(const steno_session *s, const char *format, const steno_output_params *p,
                                 int (*put)(void *user, const char *bytes, size_t n), void *user, steno_error *e);

/** As steno_output_write, into memory.
 *
 * @param text  receives the bytes and a final NUL, to be freed with free(); NULL on failure
 * @param n     receives the number of bytes without that NUL; may be NULL */
STENO_API int steno_output_text(char **text, size_t *n, const steno_session *s, const char *format, const steno_output_params *p,
                                steno_error *e);

#ifdef __cplusplus
}
#endif
#endif
