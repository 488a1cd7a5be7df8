/* steno example: text of raw samples (16 kHz, mono, 16 bits) from standard input or a file, as they come.
 * SPDX-License-Identifier: MIT
 *
 *   cc live.c $(pkg-config --cflags --libs steno steno-live) -o live
 *   arecord -q -t raw -f S16_LE -r 16000 | ./live MODEL.bin */
#include <stdint.h>
#include <stdio.h>
#include <steno/steno.h>
#include <steno/live.h>

static void print(void *user, const steno_live_event *e)
{
    static const char *const names[] = { "partial", "final", "endpoint" };
    (void)user;
    printf("%d %s: %s\n", e->turn, names[e->kind], e->text);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    steno_error e = { 0 };
    steno_team *team = NULL;
    steno_model *model = NULL;
    steno_session *session = NULL;
    steno_live *live = NULL;
    steno_live_params params;
    FILE *in = stdin;
    int16_t bytes[1600];
    float pcm[1600];
    size_t n, i;
    int rc;

    if (argc < 2 || argc > 3 || (argc == 3 && !(in = fopen(argv[2], "rb")))) {
        fprintf(stderr, "usage: %s MODEL.bin [SAMPLES]\n", argv[0]);
        return 2;
    }
    rc = steno_team_open(&team, 0, &e);
    if (!rc) rc = steno_model_open(&model, argv[1], NULL, &e);
    if (!rc) rc = steno_session_open(&session, model, team, NULL, &e);
    steno_live_params_init(&params);
    params.on_event = print;
    if (!rc) rc = steno_live_open(&live, model, session, team, &params, &e);
    while (!rc && (n = fread(bytes, sizeof *bytes, sizeof bytes / sizeof *bytes, in)) > 0) {
        for (i = 0; i < n; i++) pcm[i] = (float)bytes[i] / 32768.0f;
        rc = steno_live_push(live, pcm, (int64_t)n, 0, &e);
    }
    if (!rc) rc = steno_live_end(live, &e);
    if (rc) fprintf(stderr, "%s\n", e.text);
    steno_live_close(live);
    steno_session_close(session);
    steno_model_close(model);
    steno_team_close(team);
    if (in != stdin) fclose(in);
    return rc ? 1 : 0;
}
