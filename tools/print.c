/* steno: what the writers write, to a stream of the C library. SPDX-License-Identifier: MIT */
#include "print.h"
#include "utf8.h"
#include "write.h"

static int stream_write(void *user, const char *bytes, size_t n)
{
    return fwrite(bytes, 1, n, user) < n;
}

struct sink print_sink(FILE *f)
{
    return (struct sink){ .write = stream_write, .user = f };
}

void print_json(FILE *f, const char *s)
{
    struct sink to = print_sink(f);
    utf8_json(&to, s);
}

void print_json_stripped(FILE *f, const char *s)
{
    struct sink to = print_sink(f);
    write_json_stripped(&to, s);
}

void print_json_number(FILE *f, double value)
{
    struct sink to = print_sink(f);
    write_json_number(&to, value);
}

void print_stripped(FILE *f, const char *s)
{
    struct sink to = print_sink(f);
    write_stripped(&to, s);
}

void print_time(FILE *f, int64_t ms)
{
    struct sink to = print_sink(f);
    write_time(&to, ms, 0, '.');
}
