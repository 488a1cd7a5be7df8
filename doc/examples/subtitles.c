/* steno example: subtitles of a sound file on standard output, by the rules of a style.
 * SPDX-License-Identifier: MIT
 *
 *   cc subtitles.c $(pkg-config --cflags --libs steno steno-media steno-output) -o subtitles
 *   ./subtitles MODEL.bin SOUND */
#include <stdio.h>
#include <steno/steno.h>
#include <steno/media.h>
#include <steno/output.h>

static int print(void *user, const char *bytes, size_t n)
{
    return fwrite(bytes, 1, n, user) < n;
}

int main(int argc, char **argv)
{
    steno_error e = { 0 };
    steno_team *team = NULL;
    steno_model *model = NULL;
    steno_session *session = NULL;
    steno_media *media = NULL;
    steno_source source;
    steno_transcribe_params params;
    steno_output_params output;
    int rc;

    if (argc != 3) {
        fprintf(stderr, "usage: %s MODEL.bin SOUND\n", argv[0]);
        return 2;
    }
    rc = steno_team_open(&team, 0, &e);
    if (!rc) rc = steno_model_open(&model, argv[1], NULL, &e);
    if (!rc) rc = steno_session_open(&session, model, team, NULL, &e);
    if (!rc) rc = steno_media_open(&media, argv[2], NULL, NULL, &e);
    if (!rc) {
        steno_media_source(media, &source);
        steno_transcribe_params_init(&params);
        params.word_timestamps = 1; /* cues begin and end with words */
        rc = steno_transcribe_source(session, &source, &params);
        if (rc) snprintf(e.text, sizeof e.text, "%.500s %.500s", steno_last_error(session), steno_media_error(media));
    }
    if (!rc) {
        steno_output_params_init(&output);
        output.word_times = 1;
        output.style = "netflix";
        rc = steno_output_write(session, "srt", &output, print, stdout, &e);
    }
    if (rc) fprintf(stderr, "%s\n", e.text);
    steno_media_close(media);
    steno_session_close(session);
    steno_model_close(model);
    steno_team_close(team);
    return rc ? 1 : 0;
}
