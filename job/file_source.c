/* steno: an audio file as the source of a session. SPDX-License-Identifier: MIT */
#include "file_source.h"

int file_source_open(steno_media **m, const char *file, const steno_media_params *p, steno_error *e)
{
    const int rc = steno_media_open_params(m, file, p, e);
    return rc == STENO_EARG ? STENO_EIO : rc;
}

int file_source_status(const char **reason, const steno_media *m, const steno_session *s, int status)
{
    const int of_source = !s || status == STENO_ESOURCE;
    *reason = of_source ? steno_media_error(m) : steno_last_error(s);
    const int why = of_source ? steno_media_status(m) : status;
    return why == STENO_OK ? status : why;
}

unsigned file_source_lost(const steno_media_state *s)
{
    return (s->truncated ? FILE_SOURCE_TRUNCATED : 0u) | (s->damaged_packets > 0 ? FILE_SOURCE_DAMAGED : 0u);
}

int64_t file_source_start_ms(const steno_media *m)
{
    steno_media_state s = { .size = sizeof s };
    return steno_media_state_get(m, &s) == STENO_OK ? s.start_ms : 0;
}
