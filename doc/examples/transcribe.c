/* steno example: transcribe a sound file and print each segment with its times. SPDX-License-Identifier: MIT
 *
 *   cc transcribe.c $(pkg-config --cflags --libs steno steno-media) -o transcribe
 *   ./transcribe MODEL.bin SOUND */
#include <stdio.h>
#include <steno/steno.h>
#include <steno/media.h>

static void print_segment(void *user, const steno_segment *s)
{
    (void)user;
    printf("%8.2f %8.2f %s\n", (double)s->t0_ms / 1000, (double)s->t1_ms / 1000, s->text);
}

int main(int argc, char **argv)
{
    steno_error e;
    steno_team *team = NULL;
    steno_model *model = NULL;
    steno_session *session = NULL;
    steno_media *media = NULL;
    steno_source source;
    steno_model_params model_params;
    steno_transcribe_params params;
    int rc;

    if (argc != 3) {
        fprintf(stderr, "usage: %s MODEL.bin SOUND\n", argv[0]);
        return 2;
    }
    steno_model_params_init(&model_params);
    rc = steno_team_open(&team, 0, &e);
    model_params.team = team; /* packs the weights in parallel */
    if (!rc) rc = steno_model_open(&model, argv[1], &model_params, &e);
    if (!rc) rc = steno_session_open(&session, model, team, NULL, &e);
    if (!rc) rc = steno_media_open(&media, argv[2], NULL, NULL, &e);
    if (!rc) {
        steno_media_source(media, &source);
        steno_transcribe_params_init(&params);
        params.on_segment = print_segment;
        rc = steno_transcribe_source(session, &source, &params);
        if (rc) fprintf(stderr, "%s %s\n", steno_last_error(session), steno_media_error(media));
    } else {
        fprintf(stderr, "%s\n", e.text);
    }
    steno_media_close(media);
    steno_session_close(session);
    steno_model_close(model);
    steno_team_close(team);
    return rc ? 1 : 0;
}
