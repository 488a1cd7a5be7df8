/* steno: the sound file that a verb hears. SPDX-License-Identifier: MIT */
#include "sound.h"
#include "file_source.h"
#include "message.h"
#include "signals.h"
#include "url_input.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

void sound_params(steno_media_params *p)
{
    const char *dir = getenv("TMPDIR");
    steno_media_params_init(p);
    p->spool_dir = dir && dir[0] ? dir : NULL;
    p->stop = signals_stop;
    p->open = url_input_open;
}

int sound_open(steno_media **m, const char *file, steno_error *e)
{
    steno_media_params p;
    sound_params(&p);
    return file_source_open(m, file, &p, e);
}

const char *sound_name(const char *file)
{
    return strcmp(file, "-") == 0 ? "standard input" : file;
}

int sound_failed(const char *file, int status, const char *reason)
{
    if (signals_pending()) return EXIT_SIGNAL + signals_pending();
    message_file(sound_name(file), reason[0] ? reason : steno_status_text(status));
    return status == STENO_ENOMEM ? EXIT_MEMORY : status == STENO_EARG ? EXIT_USAGE : EXIT_INPUT;
}

int sound_call_failed(const char *file, const steno_media *m, const steno_session *s, int status)
{
    const char *reason;
    const int why = file_source_status(&reason, m, s, status), code = sound_failed(file, why, reason);
    return status == STENO_EFORMAT && code == EXIT_INPUT ? EXIT_MODEL : code; /* the session found its model to be of no use */
}

int sound_tell_missing(int code, char *const *file, int n)
{
    enum { MOST = 3 };
    struct stat st;
    int n_missing = 0;
    for (int i = 0; code == EXIT_MODEL && i < n; i++) {
        if (!file[i][0] || strcmp(file[i], "-") == 0 || strstr(file[i], "://") || stat(file[i], &st) == 0 || errno != ENOENT) continue;
        if (n_missing++ < MOST) message("%s: there is no such file", file[i]);
    }
    if (n_missing > MOST) message("and %d more inputs are not there", n_missing - MOST);
    return code;
}

void sound_lost(const steno_media *m, const char *file)
{
    steno_media_state s = { .size = sizeof s };
    const char *name = sound_name(file);
    if (steno_media_state_get(m, &s) != STENO_OK) return;
    const double promised = (double)s.promised_ms / 1000, heard = (double)s.read_ms / 1000;
    if (s.truncated && promised >= heard + 0.01) message("%s: is cut short: it promises %.2f s and holds %.2f s", name, promised, heard);
    else if (s.truncated) message("%s: is cut short: it holds %.2f s, and its end is missing", name, heard);
    if (s.damaged_packets > 0) message("%s: %lld damaged packets were skipped", name, (long long)s.damaged_packets);
}

void sound_clock(const steno_media *m, const char *file)
{
    steno_media_state s = { .size = sizeof s };
    const char *name = sound_name(file);
    if (steno_media_state_get(m, &s) != STENO_OK) return;
    const double start = (double)s.start_ms / 1000;
    if (s.start_ms > 0) message("%s: the sound begins %.3f s after the file's start; times count from the file's start", name, start);
    if (s.start_ms < 0) message("%s: the sound begins %.3f s before the file's start; that part is left out", name, -start);
    if (s.gaps > 0)
        message("%s: the sound has %lld gap%s, %.3f s in all; there is silence in the place of %s", name, (long long)s.gaps,
                s.gaps == 1 ? "" : "s", (double)s.gaps_ms / 1000, s.gaps == 1 ? "it" : "them");
    if (s.dropped_ms > 0) message("%s: %.3f s of sound lie under other sound and are left out", name, (double)s.dropped_ms / 1000);
    if (s.jumps > 0)
        message("%s: the clock of the sound jumps %lld time%s without a gap; times after a jump count on as if there were none", name,
                (long long)s.jumps, s.jumps == 1 ? "" : "s");
}
