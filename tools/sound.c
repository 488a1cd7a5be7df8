/* steno: the sound file that a verb hears. SPDX-License-Identifier: MIT */
#include "sound.h"
#include "message.h"
#include "signals.h"
#include <stdlib.h>
#include <string.h>

int sound_open(steno_media **m, const char *file, steno_error *e)
{
    const char *dir = getenv("TMPDIR");
    steno_media_params p;
    steno_media_params_init(&p);
    p.spool_dir = dir && dir[0] ? dir : NULL;
    p.stop = signals_stop;
    const int rc = steno_media_open_params(m, file, &p, e);
    return rc == STENO_EARG ? STENO_EIO : rc;
}

const char *sound_name(const char *file)
{
    return strcmp(file, "-") == 0 ? "standard input" : file;
}

int sound_status(const char **reason, const steno_media *m, const steno_session *s, int status)
{
    const int of_source = !s || status == STENO_ESOURCE;
    *reason = of_source ? steno_media_error(m) : steno_last_error(s);
    const int why = of_source ? steno_media_status(m) : status;
    return why == STENO_OK ? status : why;
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
    const int why = sound_status(&reason, m, s, status), code = sound_failed(file, why, reason);
    return status == STENO_EFORMAT && code == EXIT_INPUT ? EXIT_MODEL : code; /* the session found its model to be of no use */
}

unsigned sound_lost(const steno_media *m, const char *file)
{
    steno_media_state s = { .size = sizeof s };
    const char *name = sound_name(file);
    if (steno_media_state_get(m, &s) != STENO_OK) return 0;
    const double promised = (double)s.promised_ms / 1000, heard = (double)s.read_ms / 1000;
    if (s.truncated && promised >= heard + 0.01) message("%s: is cut short: it promises %.2f s and holds %.2f s", name, promised, heard);
    else if (s.truncated) message("%s: is cut short: it holds %.2f s, and its end is missing", name, heard);
    if (s.damaged_packets > 0) message("%s: %lld damaged packets were skipped", name, (long long)s.damaged_packets);
    return (s.truncated ? SOUND_TRUNCATED : 0u) | (s.damaged_packets > 0 ? SOUND_DAMAGED : 0u);
}
