/* steno: the list of tasks. SPDX-License-Identifier: MIT */
#include "lib/tasks.h"
#include <string.h>

static const struct task *const tasks[] = {
    &ar_task, &ctc_task, &cif_task, &cif_stream_task, &audio_lm_task, &vad_task, &lm_task, &punctuation_task, &embed_task,
};

const struct task *task_find(const char *name)
{
    for (size_t i = 0; i < sizeof tasks / sizeof *tasks; i++)
        if (!strcmp(tasks[i]->name, name)) return tasks[i];
    return NULL;
}
