/* steno: functions of the writers for C streams. SPDX-License-Identifier: MIT */
#include "cli/print.h"
#include "sink.h"
#include "utf8.h"
#include "write.h"

void print_json(FILE *f, const char *s)
{
    struct sink to = sink_to_stream(f);
    utf8_json(&to, s);
}

void print_json_stripped(FILE *f, const char *s)
{
    struct sink to = sink_to_stream(f);
    write_json_stripped(&to, s);
}

void print_json_number(FILE *f, double value)
{
    struct sink to = sink_to_stream(f);
    write_json_number(&to, value);
}

void print_stripped(FILE *f, const char *s)
{
    struct sink to = sink_to_stream(f);
    write_stripped(&to, TEXT_TSV, s);
}

void print_time(FILE *f, int64_t ms)
{
    struct sink to = sink_to_stream(f);
    write_time(&to, ms, 0, '.');
}

void print_name(FILE *f, const char *s, int width)
{
    char clean[1 << 14];
    utf8_printable(clean, sizeof clean, s);
    fprintf(f, "%-*s", width, clean);
}
