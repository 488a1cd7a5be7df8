/* steno: which part of a manifest a process transcribes. SPDX-License-Identifier: MIT
 *
 * An array of Slurm may have holes, and then its number of tasks is not the number of parts. So N is typed, unless the array is 0 to N - 1
 * without holes. */
#include "batch/shard.h"
#include "cli/message.h"
#include <stdlib.h>
#include <string.h>

/* A whole number from 0 to SHARDS_MAX. @return it, or -1; *end receives the place after it */
static int number(const char *text, const char **end)
{
    char *stop = NULL;
    const long n = text[0] >= '0' && text[0] <= '9' ? strtol(text, &stop, 10) : -1;
    *end = stop ? stop : text;
    return n <= SHARDS_MAX ? (int)n : -1;
}

/* The value of a variable that is a number. @return -1: it is not set, or is not a number */
static int variable(const char *name)
{
    const char *end, *value = getenv(name);
    const int n = value ? number(value, &end) : -1;
    return n >= 0 && !*end ? n : -1;
}

static int index_of_array(void)
{
    static const char *const names[] = { "SLURM_ARRAY_TASK_ID", "JOB_COMPLETION_INDEX", "AWS_BATCH_JOB_ARRAY_INDEX" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (variable(names[i]) >= 0) return variable(names[i]);
    return -1;
}

/* The size of a Slurm array without holes that begins at 0. @return -1: it is another one */
static int array_size(void)
{
    const int max = variable("SLURM_ARRAY_TASK_MAX"), step = variable("SLURM_ARRAY_TASK_STEP");
    if (variable("SLURM_ARRAY_TASK_MIN") != 0 || max < 0 || (step >= 0 && step != 1)) return -1;
    return variable("SLURM_ARRAY_TASK_COUNT") == max + 1 ? max + 1 : -1;
}

int shard_read(int *shard, int *n_shards, const char *text)
{
    const int is_auto = strncmp(text, "auto", 4) == 0 && (!text[4] || text[4] == '/');
    const char *end = text + 4;
    *shard = is_auto ? index_of_array() : number(text, &end);
    if (is_auto && *shard < 0)
        return message_usage("--shard %s: none of SLURM_ARRAY_TASK_ID, JOB_COMPLETION_INDEX and AWS_BATCH_JOB_ARRAY_INDEX is set", text);
    *n_shards = *end == '/' ? number(end + 1, &end) : is_auto && !*end ? array_size() : -1;
    if (is_auto && !text[4] && *n_shards < 0)
        return message_usage("--shard auto: the number of parts is not known (only of a Slurm array from 0 without holes); give auto/N");
    if (*shard < 0 || *n_shards < 1 || *end)
        return message_usage("--shard: \"%s\" is not I/N, auto/N or auto, with N from 1 to %d", text, SHARDS_MAX);
    if (*shard < *n_shards) return EXIT_OK;
    return message_usage("--shard %s: the part is %d, and there are parts 0 to %d", text, *shard, *n_shards - 1);
}
