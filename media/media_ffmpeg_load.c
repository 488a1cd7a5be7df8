/* steno-media: FFmpeg's libraries, loaded on first use. SPDX-License-Identifier: MIT
 *
 * They are opened at run time, because linking them would cost every start of a program 20 ms. Their headers give the types. */
#include "media_ffmpeg.h"

#if STENO_MEDIA_FFMPEG
#include <dlfcn.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

static void *symbol(void *lib, const char *name, const char **missing)
{
    void *p = dlsym(lib, name);
    if (!p) *missing = name;
    return p;
}

/* The loader does not distinguish a missing library from missing memory. Its message does, if errno does not. */
static int load_failed(int why, steno_error *e)
{
    static const char *const words[] = { "out of memory", "cannot allocate", "allocate memory", "cannot create shared object",
                                         "failed to map segment", "cannot map zero-fill", "cannot change memory protections" };
    const char *text = dlerror();
    if (!text) text = "no reason is given";
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strstr(text, words[i])) why = ENOMEM;
    if (why == ENOMEM)
        return media_fail(e, STENO_ENOMEM, "out of memory while FFmpeg is loaded: %s", text);
    return media_fail(e, STENO_EUNSUPPORTED, "FFmpeg cannot be loaded: %s; install FFmpeg's libraries", text);
}

/* Whether there is address space for the libraries and all their dependencies. One of them (GLib) recurses without end when memory is
 * refused while it is loaded. If address space is limited, the room is therefore tested first: FFmpeg 5.1 of Debian 12 takes 184 MB. */
enum { LIBRARIES_ROOM = 192 << 20 };

static int has_room(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) || limit.rlim_cur == RLIM_INFINITY) return 1;
    void *room = mmap(NULL, LIBRARIES_ROOM, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (room == MAP_FAILED) return 0;
    munmap(room, LIBRARIES_ROOM);
    return 1;
}

int ffmpeg_load(struct av *av, steno_error *e)
{
    static const char *const names[] = {
        "libavutil.so." AV_STRINGIFY(LIBAVUTIL_VERSION_MAJOR),
        "libavcodec.so." AV_STRINGIFY(LIBAVCODEC_VERSION_MAJOR),
        "libavformat.so." AV_STRINGIFY(LIBAVFORMAT_VERSION_MAJOR),
        "libswresample.so." AV_STRINGIFY(LIBSWRESAMPLE_VERSION_MAJOR),
    };
    void *lib[4] = { dlopen(names[0], RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD) };
    if (!lib[0] && !has_room())
        return media_fail(e, STENO_ENOMEM,
                          "out of memory while FFmpeg is loaded: its libraries need %d MiB of address space, and the process is limited to "
                          "less (ulimit -v)",
                          LIBRARIES_ROOM >> 20);
    for (int i = 0; i < 4; i++) {
        errno = 0;
        lib[i] = dlopen(names[i], RTLD_LAZY | RTLD_LOCAL);
        if (!lib[i]) return load_failed(errno, e);
    }
    const char *missing = NULL;
    void *p;
#define BIND(f) p = symbol(lib[LIB], #f, &missing), memcpy(&av->f, &p, sizeof p);
#define LIB 0
    CALLS_UTIL(BIND)
#undef LIB
#define LIB 1
    CALLS_CODEC(BIND)
#undef LIB
#define LIB 2
    CALLS_FORMAT(BIND)
#undef LIB
#define LIB 3
    CALLS_RESAMPLE(BIND)
#undef LIB
#undef BIND
    if (missing) return media_fail(e, STENO_EUNSUPPORTED, "FFmpeg's libraries lack %s; install FFmpeg 5.1 or newer", missing);
    av->av_log_set_level(AV_LOG_QUIET);
    return STENO_OK;
}
#else
typedef int media_ffmpeg_load_is_left_out; /* a translation unit needs a declaration */
#endif
