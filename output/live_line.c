/* steno: an event of a live transcript as a line of JSON. SPDX-License-Identifier: MIT */
#include "live_line.h"
#include "text_rules.h"
#include <string.h>

static void time_put(struct sink *s, const char *name, int64_t ms)
{
    if (ms < 0) sink_format(s, ",\"%s\":null", name);
    else sink_format(s, ",\"%s\":%lld.%03d", name, (long long)(ms / 1000), (int)(ms % 1000));
}

static void text_field(struct sink *s, const char *name, const char *text)
{
    sink_format(s, ",\"%s\":\"", name);
    text_put(s, TEXT_JSON, text, strlen(text));
    sink_char(s, '"');
}

void live_line_put(struct sink *s, const struct live_line *l)
{
    sink_format(s, "{\"type\":\"%s\",\"turn\":%d", l->type, l->turn);
    time_put(s, "start", l->t0_ms);
    time_put(s, "end", l->t1_ms);
    text_field(s, "text", l->text);
    sink_format(s, ",\"spaces\":%d", l->spaces);
    time_put(s, "heard", l->decoded_ms);
    if (l->language && l->language[0]) text_field(s, "language", l->language);
    if (l->t1_ms < 0) sink_text(s, ",\"latency_ms\":null}\n");
    else sink_format(s, ",\"latency_ms\":%lld}\n", (long long)l->latency_ms);
}

void live_line_error(struct sink *s, const char *message)
{
    sink_text(s, "{\"type\":\"error\"");
    text_field(s, "message", message);
    sink_text(s, "}\n");
}
