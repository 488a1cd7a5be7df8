/* steno: the audio of an input that is transcribed. SPDX-License-Identifier: MIT */
#include "input.h"

static int64_t read_nothing(void *user, float *pcm, int64_t n)
{
    (void)user, (void)pcm, (void)n;
    return 0;
}

steno_source input_no_audio(void)
{
    return (steno_source){ read_nothing, NULL, NULL };
}

/* Reads a part of joined speech. Samples count from the start of the part. */
static int64_t part_read(void *user, float *pcm, int64_t n)
{
    struct job_input *in = user;
    const struct job *j = in->job;
    const int64_t at = in->parts.next - parts_start(&in->parts);
    const steno_source part = parts_source(&in->parts);
    const int64_t got = part.read(part.user, pcm, n);
    const int is_new = in->reading != JOB_READS_WORDS;
    if (got > 0 && is_new && j->events.samples) j->events.samples(j->events.user, in, pcm, at, got);
    return got;
}

static int part_rewind(void *user)
{
    struct job_input *in = user;
    const steno_source part = parts_source(&in->parts);
    return part.rewind(part.user);
}

steno_source input_source(struct job_input *in)
{
    if (in->is_silent) return input_no_audio();
    if (in->join.n) return in->parts.n ? (steno_source){ part_read, part_rewind, in } : join_source(&in->join);
    return in->src;
}
