/* steno: reads the inputs of a manifest one by one. SPDX-License-Identifier: MIT */
#include "batch/manifest_reader.h"
#include "cli/message.h"
#include <stdio.h>
#include <string.h>

static const char *name_of(const struct manifest_reader *r)
{
    return strcmp(r->path, "-") == 0 ? "standard input" : r->path;
}

int manifest_reader_open(struct manifest_reader *r, const char *path)
{
    char why[TEXT_FILE_WHY];
    *r = (struct manifest_reader){ .path = path };
    if (text_lines_open(&r->lines, path, 1, MANIFEST_LINE_MAX, why, sizeof why) == TEXT_FILE_READ) return EXIT_OK;
    message_file(name_of(r), why);
    return r->code = EXIT_INPUT;
}

int manifest_reader_again(struct manifest_reader *r)
{
    const long long end = text_lines_at(&r->lines);
    manifest_reader_close(r);
    const int code = manifest_reader_open(r, r->path);
    r->lines.end = end;
    return code;
}

int manifest_reader_is_pipe(const struct manifest_reader *r)
{
    return strcmp(r->path, "-") == 0 || r->lines.is_fifo;
}

/* Report a line that cannot be read, or has no input. @return 0 */
static int bad_text(struct manifest_reader *r, enum text_file how, const char *why)
{
    message_file(name_of(r), why);
    r->code = how == TEXT_FILE_NO_MEMORY ? EXIT_MEMORY : how == TEXT_FILE_UNREADABLE ? EXIT_INPUT : EXIT_USAGE;
    return 0;
}

static int bad_item(struct manifest_reader *r, enum manifest_read how, const char *why)
{
    if (how == MANIFEST_NO_MEMORY) message("%s: line %lld: out of memory", name_of(r), r->lines.number);
    else message("%s: line %lld %s", name_of(r), r->lines.number, why);
    r->code = how == MANIFEST_NO_MEMORY ? EXIT_MEMORY : EXIT_USAGE;
    return 0;
}

int manifest_reader_next(struct manifest_reader *r, struct manifest_item *it, const char **line)
{
    char text_why[TEXT_FILE_WHY], why[MANIFEST_WHY], *text;
    for (;;) {
        const enum text_file how = text_lines_next(&r->lines, &text, text_why, sizeof text_why);
        if (how != TEXT_FILE_READ) return bad_text(r, how, text_why);
        *line = text;
        if (!text) return 0;
        const enum manifest_read read = manifest_item_read(it, text, why);
        if (read == MANIFEST_ITEM) return 1;
        manifest_item_free(it);
        if (read != MANIFEST_EMPTY) return bad_item(r, read, why);
    }
}

int manifest_reader_twice(const struct manifest_reader *r, const char *id)
{
    return message_usage("%s: line %lld has the id %.200s of an earlier line; ids must be unique", name_of(r), r->lines.number, id);
}

void manifest_reader_close(struct manifest_reader *r)
{
    text_lines_close(&r->lines);
}

int64_t manifest_hash(char hex[SHA_HEX_SZ], const char *path, int64_t n)
{
    struct digest d;
    digest_begin(&d, SHA_HEX_SZ - 1, 0);
    const int64_t had = digest_push_file(&d, path, n);
    digest_hex(hex, &d);
    return had;
}
