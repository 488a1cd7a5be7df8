/* steno: the input file of a verb. SPDX-License-Identifier: MIT */
#include "input/sound.h"
#include "address.h"
#include "cli/message.h"
#include "cli/progress.h"
#include "cli/signals.h"
#include "file_source.h"
#include "findings.h"
#include "http.h"
#include "hub_env.h"
#include <errno.h>
#include <steno/steno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- URLs -------------------------------------------------------------------------------------------------------------------- */

enum { URL_LIMIT_MB = 4096 };

struct show { int bar; int64_t drawn_us; };

static void url_progress(void *user, const char *what, int64_t n, int64_t total)
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

/* The function for steno_media_params.open: a URL is downloaded, everything else is a path.
 * @param user  an int64_t, the maximum size of an input in bytes; NULL selects URL_LIMIT_MB */
static int url_input_open(void *user, const char *path, steno_error *e)
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
            .progress = url_progress, .user = &show,
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

/* ---- any input --------------------------------------------------------------------------------------------------------------- */

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

const char *sound_shown(const char *file)
{
    static _Thread_local char shown[2048];
    if (!address_is(file)) return file;
    address_shown(shown, sizeof shown, file);
    return shown;
}

const char *sound_name(const char *file)
{
    return strcmp(file, "-") == 0 ? "standard input" : sound_shown(file);
}

const char *sound_reason(const char *file, const char *reason)
{
    const size_t n = strlen(file);
    return address_is(file) && strncmp(reason, file, n) == 0 ? reason + n + strspn(reason + n, ": ") : reason;
}

int sound_failed(const char *file, int status, const char *reason)
{
    if (signals_pending()) return EXIT_SIGNAL + signals_pending();
    message_file(sound_name(file), reason[0] ? sound_reason(file, reason) : steno_status_text(status));
    return status == STENO_ENOMEM ? EXIT_MEMORY : status == STENO_EARG ? EXIT_USAGE : EXIT_INPUT;
}

int sound_call_failed(const char *file, const steno_media *m, const steno_session *s, int status)
{
    const char *reason;
    const int why = file_source_status(&reason, m, s, status), code = sound_failed(file, why, reason);
    return status == STENO_EFORMAT && code == EXIT_INPUT ? EXIT_MODEL : code; /* the session found that its model cannot be used */
}

int sound_report_missing(int code, char *const *file, int n)
{
    enum { MOST = 3 };
    struct stat st;
    int n_missing = 0;
    for (int i = 0; code == EXIT_MODEL && i < n; i++) {
        if (!file[i][0] || strcmp(file[i], "-") == 0 || strstr(file[i], "://") || stat(file[i], &st) == 0 || errno != ENOENT) continue;
        if (n_missing++ < MOST) message("%s: no such file", file[i]);
    }
    if (n_missing > MOST) message("and %d more inputs do not exist", n_missing - MOST);
    return code;
}

void sound_lost(const steno_media *m, const char *file)
{
    steno_media_state s = { .size = sizeof s };
    const char *name = sound_name(file);
    if (steno_media_state_get(m, &s) != STENO_OK) return;
    const double promised = (double)s.promised_ms / 1000, held = (double)s.read_ms / 1000;
    if (s.truncated && promised >= held + 0.01) message("%s: is cut short: it promises %.2f s and holds %.2f s", name, promised, held);
    else if (s.truncated) message("%s: is cut short: it holds %.2f s, and its end is missing", name, held);
    if (s.damaged_packets > 0) message("%s: %lld damaged packets were skipped", name, (long long)s.damaged_packets);
}

void sound_notes(const char *file, const struct notes *n)
{
    for (int i = 0; n && i < n->n; i++)
        if (n->note[i].kind != NOTE_CUT_SHORT && n->note[i].kind != NOTE_DAMAGED) message("%s: %s", sound_name(file), n->note[i].text);
}

void sound_notes_print(const struct notes *n)
{
    for (int i = 0; i < n->n; i++) message("%s", n->note[i].text);
}

void sound_notes_json(FILE *f, const struct notes *n)
{
    struct sink s = sink_to_stream(f);
    write_json_notes(&s, n, 0);
}

/* ---- one call ---------------------------------------------------------------------------------------------------------------- */

int sound_begin(struct sound *s, const char *file, const steno_media_params *how, steno_session *session)
{
    steno_error e = { 0 };
    int channel;
    *s = (struct sound){ .file = file, .session = session };
    int rc = how ? file_source_open(&s->media, file, how, &e) : sound_open(&s->media, file, &e);
    if (rc != STENO_OK) return sound_failed(file, rc, e.text);
    steno_media_source(s->media, &s->source);
    s->source = level_source(&s->measured, &s->source);
    signals_defer(1);
    signals_watch(session, s->media);
    rc = findings_channel(&s->notes, s->media, &channel);
    if (rc == STENO_OK) return EXIT_OK;
    signals_watch(NULL, NULL);
    return sound_call_failed(file, s->media, NULL, rc);
}

int sound_end(struct sound *s, int status)
{
    signals_watch(NULL, NULL);
    if (status < 0) return sound_call_failed(s->file, s->media, s->session, status);
    sound_lost(s->media, s->file);
    findings_media(&s->notes, s->media);
    return EXIT_OK;
}

void sound_close(struct sound *s)
{
    signals_watch(NULL, NULL);
    steno_media_close(s->media);
    s->media = NULL;
}
