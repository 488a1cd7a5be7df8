/* steno: fuzzing of realtime transcription. SPDX-License-Identifier: MIT
 *
 * A line is a step: a line that begins with a lower-case letter is a step of the live session, one with '~' is audio in binary, and all
 * others are client events. The first byte selects the beta. All promises to clients are checked. */
#include <stdint.h>
#include "realtime_promises.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* Text of a model is UTF-8. */
static void utf8_only(char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text > '~') *text = 'x';
}

static void live_step(struct played *p, char *line)
{
    const int64_t at = 50 * (int64_t)strlen(line);
    if (!p->is_live || p->is_over) return;
    utf8_only(line);
    switch (line[0]) {
    case 'f': if (line[1]) played_words(p, LIVE_FINAL, line + 1, at, at + 100); break;
    case 'p': played_words(p, LIVE_PARTIAL, line + 1, at, at + 100); break;
    case 'e': played_words(p, LIVE_ENDPOINT, line + 1, at, at + 100); break;
    case 'b': realtime_live_speech(p->rt, 1, at); break;
    case 's': realtime_live_speech(p->rt, 0, at); break;
    case 'u': played_flushed(p); break;
    case 'c':
        if (!p->clears) break;
        p->clears--;
        realtime_live_cleared(p->rt);
        break;
    case 'r':
        p->ring_ms = 0;
        realtime_live_room(p->rt);
        break;
    case 'x': if (p->ends || p->is_cancelled) played_ended(p, NULL); break;
    case 'z': played_ended(p, "it failed"); break;
    case 'l': p->is_lost = 1; break;
    case 'd': realtime_end(p->rt, line[1] == 'e'); break;
    default: break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct played p;
    char *text = malloc(n + 1);
    if (!text || played_begin(&p, n && data[0] == '1')) abort();
    p.ring_full_ms = 3000;
    p.refuses_model = n && data[0] == '2';
    memcpy(text, data, n);
    text[n] = '\0';
    realtime_begin(p.rt);
    for (char *line = text, *end; line < text + n; line = end + 1) {
        end = memchr(line, '\n', (size_t)(text + n - line));
        if (!end) end = text + n;
        *end = '\0';
        if (*line >= 'a' && *line <= 'z') live_step(&p, line);
        else if (*line == '~') realtime_binary(p.rt, line + 1, (size_t)(end - line - 1));
        else if (line > text) realtime_text(p.rt, line, (size_t)(end - line));
    }
    const int is_cut = p.closed != 0; /* then nothing more is sent */
    realtime_end(p.rt, 0);
    if (p.is_live && !is_cut) played_ended(&p, NULL);
    const char *why = promises_broken(&p, !is_cut);
    if (!why && p.closed == 0) why = "an ended session is open";
    if (why) {
        fprintf(stderr, "%s\n", why);
        abort();
    }
    played_finish(&p);
    if (p.wrong) abort();
    free(text);
    return 0;
}
