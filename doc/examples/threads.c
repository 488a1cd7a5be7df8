/* steno example: one model, one team, several sessions at once. SPDX-License-Identifier: MIT
 *
 * Each thread transcribes its own PCM and prints how many segments it found.
 *
 *   cc threads.c $(pkg-config --cflags --libs steno) -lm -lpthread -o threads
 *   ./threads MODEL.bin */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <steno/steno.h>

enum { SESSIONS = 3, SAMPLES = 2 * 16000 };

struct job {
    const steno_model *model;
    steno_team *team;
    double hz;
    int rc, segments;
};

static void *run(void *arg)
{
    static const double pi = 3.14159265358979323846;
    struct job *j = arg;
    float pcm[SAMPLES]; /* a tone: nothing to transcribe, but it goes all the way */
    steno_session *s = NULL;
    steno_transcribe_params p;
    int i;
    for (i = 0; i < SAMPLES; i++) pcm[i] = (float)(0.1 * sin(2 * pi * j->hz * i / 16000));
    j->rc = steno_session_open(&s, j->model, j->team, NULL, NULL);
    if (j->rc) return NULL;
    steno_transcribe_params_init(&p);
    j->rc = steno_transcribe(s, pcm, SAMPLES, &p);
    j->segments = steno_segment_count(s);
    steno_session_close(s);
    return NULL;
}

int main(int argc, char **argv)
{
    steno_error e;
    steno_team *team = NULL;
    steno_model *model = NULL;
    struct job job[SESSIONS];
    pthread_t thread[SESSIONS];
    int i, failed = 0;

    if (argc != 2) {
        fprintf(stderr, "usage: %s MODEL.bin\n", argv[0]);
        return 2;
    }
    if (steno_team_open(&team, 0, &e) || steno_model_open(&model, argv[1], NULL, &e)) {
        fprintf(stderr, "%s\n", e.text);
        steno_team_close(team);
        return 1;
    }
    for (i = 0; i < SESSIONS; i++) {
        job[i].model = model;
        job[i].team = team;
        job[i].hz = 200.0 * (i + 1);
        job[i].rc = job[i].segments = 0;
        if (pthread_create(&thread[i], NULL, run, &job[i])) return 1;
    }
    for (i = 0; i < SESSIONS; i++) {
        pthread_join(thread[i], NULL);
        printf("session %d: %s, %d segments\n", i, steno_status_text(job[i].rc), job[i].segments);
        failed |= job[i].rc;
    }
    steno_model_close(model);
    steno_team_close(team);
    return failed ? 1 : 0;
}
