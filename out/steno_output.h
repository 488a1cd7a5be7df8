/* steno-output: results as text, subtitles and JSON. SPDX-License-Identifier: MIT
 *
 * A companion of libsteno: it writes the result of a session in the formats of `steno -f FORMAT`. Notes on the sound file and the options
 * of a run, which only the program knows, are not in them. Nothing here prints, ends the process, reads the environment or keeps state
 * between calls; any number of threads may write results of their own sessions. */
#ifndef STENO_OUTPUT_H
#define STENO_OUTPUT_H
#include <steno/steno.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What a writer cannot learn from the session; filled by steno_output_params_init. A limit of 0 is none. */
typedef struct steno_output_params {
    uint32_t size;              /**< set by steno_output_params_init */
    int32_t task;               /**< enum steno_task of the result, for JSON */
    int32_t word_times;         /**< 1: JSON lists the words, and cues are made of them. The result was computed with word_timestamps */
    int32_t token_times;        /**< 1: JSON has the times of tokens. The result was computed with token_timestamps */
    const steno_model *model;   /**< of the session: the spelling of tokens, for score, json_full and max_len; NULL: score and json_full
                                 * leave it out */
    const char *input;          /**< name of the sound, in jsonl, wts and funasr; NULL: "-" */
    const char *style;          /**< rules for cues: "plain", "netflix", "bbc", "broadcast"; want word_times. NULL: cues are segments */
    int32_t max_len;            /**< code points of a segment; longer ones are cut, which wants model or word_times */
    int32_t split_on_word;      /**< 1: such cuts lie between words */
    int32_t max_line_width;     /**< code points of a line; wants word_times, as the next three do */
    int32_t max_line_count;     /**< lines of a cue; wants max_line_width */
    int32_t max_words_per_line; /**< words of a cue */
    int32_t highlight_words;    /**< 1: srt and vtt underline the word that is spoken */
} steno_output_params;

STENO_API void steno_output_params_init(steno_output_params *p);

/** @return name of the format with that number, counted from 0: "txt", "srt", "vtt", ...; static. NULL behind the last */
STENO_API const char *steno_output_format(int number);

/** Write the result of a session in one format.
 *
 * @param s       holds the result: steno_transcribe_source, steno_result_select or another call that leaves segments has returned STENO_OK
 * @param format  one that steno_output_format names
 * @param p       NULL: as steno_output_params_init fills it
 * @param put     receives the bytes in order, in pieces of any size; anything but 0 ends the call
 * @param user    for put
 * @param e       receives the reason of a failure, may be NULL
 * @return STENO_OK; STENO_EARG (an unknown format or style, a negative limit, params that were not initialised), STENO_ENOMEM, STENO_EIO
 *         (put returned something else than 0: only a part is written) */
STENO_API int steno_output_write(const steno_session *s, const char *format, const steno_output_params *p,
                                 int (*put)(void *user, const char *bytes, size_t n), void *user, steno_error *e);

/** steno_output_write into memory.
 *
 * @param text  receives the bytes and a NUL behind them, to be freed with free(); NULL on failure
 * @param n     receives the number of bytes without that NUL, may be NULL */
STENO_API int steno_output_text(char **text, size_t *n, const steno_session *s, const char *format, const steno_output_params *p,
                                steno_error *e);

#ifdef __cplusplus
}
#endif
#endif
