/* steno: URLs as inputs. SPDX-License-Identifier: MIT */
#include "input/url_input.h"
#include "address.h"
#include "hub_env.h"
#include "cli/message.h"
#include "cli/progress.h"
#include "cli/signals.h"
#include "url_file.h"
#include <stdio.h>
#include <stdlib.h>

struct show { int bar; int64_t drawn_us; };

static void on_progress(void *user, const char *what, int64_t n, int64_t total)
{
    struct show *s = user;
    const int64_t now = progress_now_us();
    char line[128], of[32] = "";
    if (!s->bar || now - s->drawn_us < 100000) return;
    s->drawn_us = now;
    if (total > 0) snprintf(of, sizeof of, " of %.1f", (double)total / 1e6);
    snprintf(line, sizeof line, "%.40s: %.1f%s MB", what, (double)n / 1e6, of);
    message_bar(line);
}

int url_input_open(void *user, const char *path, steno_error *e)
{
    static const int status[] = {
        [HUB_EARG] = STENO_EIO,   [HUB_EABSENT] = STENO_EIO, [HUB_EDAMAGED] = STENO_EIO,   [HUB_EWRITE] = STENO_EIO,
        [HUB_ENET] = STENO_EIO, [HUB_ENOMEM] = STENO_ENOMEM, [HUB_ESTOPPED] = STENO_ECANCELED,
    };
    struct hub_env env;
    struct hub_error why = { 0 };
    const char *dir = getenv("TMPDIR");
    struct show show = { .bar = progress_can_redraw() };
    if (!url_is(path)) return STENO_MEDIA_PATH;
    int fd = -1;
    if (hub_env_read(&env, &why) == HUB_OK) {
        char shown[512];
        address_shown(shown, sizeof shown, path);
        const struct url_wish w = {
            .what = shown,
            .folder = dir && dir[0] ? dir : NULL,
            .most = user ? *(const int64_t *)user : (int64_t)URL_LIMIT_MB * 1000000,
            .http = { .agent = "steno/" STENO_VERSION, .proof = env.proof, .answer_s = env.answer_s, .stall_s = env.stall_s, .tries = 5,
                      .stop = signals_stop },
            .progress = on_progress, .user = &show,
        };
        fd = url_file(path, &w, &why);
        if (show.bar) message_bar(NULL);
    }
    hub_env_free(&env);
    if (fd >= 0) return fd;
    e->status = status[why.status];
    snprintf(e->text, sizeof e->text, "%.1000s", why.text);
    return STENO_MEDIA_FAILED;
}
