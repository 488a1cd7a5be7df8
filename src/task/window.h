/* steno: one window through the plans. SPDX-License-Identifier: MIT
 *
 * Of windows of log-mel whose decoder attends to an encoder. A decode slot says whose cross keys and whose lanes. */
#ifndef STENO_TASK_WINDOW_H
#define STENO_TASK_WINDOW_H
#include "task/ar_batch.h"
#include "task/session.h"

float *window_mel(const steno_session *s);                                /* where the encoder reads log-mel: [2 audio_ctx, n_mels] */
int window_encode(steno_session *s, uint32_t decode_slot, int32_t n_ctx); /* what window_mel holds, for n_ctx positions of the encoder */
void slots_forget(const steno_session *s);                                  /* no decode slot has audio of s any more */

/* The same for a batch, whoever's window it is; STENO_OK or STENO_ECANCELED. */
float *batch_mel(const struct steno_batch *b);
int batch_encode(struct steno_batch *b, uint32_t decode_slot, int32_t n_ctx, struct op_time *time, struct run_time *spent);
#endif
