/* steno tests: the version of FFmpeg. SPDX-License-Identifier: MIT */
#ifndef STENO_TESTS_MEDIA_VERSION_H
#define STENO_TESTS_MEDIA_VERSION_H
#ifndef _WIN32
#include <dlfcn.h>
#endif

/* Whether FFmpeg is loaded, and is of version 5, from which some figures are. */
static inline int media_is_ffmpeg_5(void)
{
#ifdef _WIN32
    return 0; /* there is no FFmpeg */
#else
    void *util = dlopen("libavutil.so.57", RTLD_LAZY | RTLD_NOLOAD);
    if (util) dlclose(util);
    return util != NULL;
#endif
}
#endif
