/* steno: runs one window through the plans. SPDX-License-Identifier: MIT
 *
 * For windows of log-mel whose decoder attends to an encoder. A decode slot identifies the cross keys and the lanes of a window. */
#ifndef STENO_TASK_WINDOW_WINDOW_H
#define STENO_TASK_WINDOW_WINDOW_H
#include "task/window/ar_batch.h"
#include "engine/session.h"

float *window_mel(const steno_session *s);                                /* the encoder's log-mel input: [2 audio_ctx, n_mels] */
int window_encode(steno_session *s, uint32_t decode_slot, int32_t n_ctx); /* encodes the content of window_mel, n_ctx positions of the
                                                                           * encoder */
void slots_forget(const steno_session *s);                                  /* no decode slot holds audio of s afterwards */

/* As above, for a batch and any session's window; STENO_OK or STENO_ECANCELED. */
float *batch_mel(const struct steno_batch *b);
int batch_encode(struct steno_batch *b, uint32_t decode_slot, int32_t n_ctx, struct op_time *time, struct run_time *spent);
#endif
