/* steno: transcribes inputs one at a time. SPDX-License-Identifier: MIT */
#include "input.h"

static int run_file(struct job_input *in, const char *file, int index)
{
    const struct job_events *tell = &in->job->tell;
    if (!input_open(in, file, index)) return 0;
    int ok;
    if (tell->busy) tell->busy(tell->user, 1);
    do {
        int rc = input_begin(in);
        const steno_source src = input_source(in);
        const steno_transcribe_params p = input_params(in);
        if (rc == STENO_OK) rc = steno_transcribe_source(in->session, &src, &p);
        ok = input_end(in, rc);
    } while (ok && input_another(in, &ok));
    if (tell->busy) tell->busy(tell->user, 0);
    return ok;
}

void job_run(struct job *j, steno_session *s, char **files, int n)
{
    struct job_input in;
    input_init(&in, j, s, 0);
    for (int i = 0; i < n && !job_stops(j); i++) input_done(&in, run_file(&in, files[i], i));
    input_free(&in);
    j->timings.size = sizeof j->timings;
    steno_timings_get(s, &j->timings);
    speech_time_add(&j->timings, &j->speech);
}

int job_try(const struct job *j, steno_session *s)
{
    const steno_transcribe_params p = input_params_of_nothing(j);
    const steno_source none = input_no_audio();
    return steno_transcribe_source(s, &none, &p);
}
