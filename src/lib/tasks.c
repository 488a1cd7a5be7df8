/* steno: the list of tasks. SPDX-License-Identifier: MIT */
#include "lib/tasks.h"
#include <string.h>
#include "task/ar/ar_task.h"
#include "task/audio_lm/audio_lm_task.h"
#include "task/cif/cif_stream.h"
#include "task/cif/cif_task.h"
#include "task/ctc/ctc_task.h"
#include "task/embed/embed_task.h"
#include "task/lm/lm_task.h"
#include "task/marks/marks_task.h"
#include "task/vad/vad_task.h"

static const struct task *const tasks[] = {
    &ar_task, &ctc_task, &cif_task, &cif_stream_task, &audio_lm_task, &vad_task, &lm_task, &marks_task, &embed_task,
};

const struct task *task_find(const char *name)
{
    for (size_t i = 0; i < sizeof tasks / sizeof *tasks; i++)
        if (!strcmp(tasks[i]->name, name)) return tasks[i];
    return NULL;
}
