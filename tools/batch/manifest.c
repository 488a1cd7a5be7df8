/* steno: the lines of a manifest, which list the inputs of a batch. SPDX-License-Identifier: MIT
 *
 * The memory of an item holds the line twice: its strings are decoded in place in one copy, and the members that are passed on are moved
 * together in the other. */
#include "batch/manifest.h"
#include "address.h"
#include "batch/ids.h"
#include "json_scan.h"
#include "path.h"
#include "sink.h"
#include "utf8.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ID_HASH_SZ = 1 + 16 };

struct reading {
    struct manifest_item *it;
    struct json_scan json;
    char *raw;      /* the line as it was */
    char *decoded;  /* the copy that json decodes in place */
    char *to;       /* end of the members that are passed on, which are moved to the start of raw */
    char *why;
};

static enum manifest_read bad(struct reading *r, const char *key, const char *what)
{
    snprintf(r->why, MANIFEST_WHY, "\"%.40s\" %s", key, what);
    return MANIFEST_BAD;
}

/* ---- members ----------------------------------------------------------------------------------------------------------------- */

/* Is text[n] a number as JSON spells it? The scanner also accepts those of strtod. */
static int is_json_number(const char *text, size_t n)
{
    static const char digits[] = "0123456789";
    const char *p = text + (*text == '-'), *end = text + n;
    size_t k = strspn(p, digits);
    if (!k || (k > 1 && *p == '0')) return 0;
    p += k;
    if (*p == '.' && p < end) {
        if (!(k = strspn(++p, digits))) return 0;
        p += k;
    }
    if (p < end && (*p == 'e' || *p == 'E')) {
        p += 1 + (p[1] == '+' || p[1] == '-');
        if (!(k = strspn(p, digits))) return 0;
        p += k;
    }
    return p == end;
}

/* Is the piece that ends at json.p, and began at or after `from`, one that JSON knows? */
static int is_strict(const struct reading *r, enum json_piece piece, const char *from)
{
    if (piece != JSON_PIECE_NUMBER && piece != JSON_PIECE_OTHER) return 1;
    from += strspn(from, " \t\r\n,");
    if (piece == JSON_PIECE_NUMBER) return is_json_number(r->raw + (from - r->decoded), (size_t)(r->json.p - from));
    return strchr("tfn", r->raw[from - r->decoded]) != NULL;
}

/* Pass over the value of a member that is not known, and keep the member. `key` points to it in the decoded copy. */
static enum manifest_read keep_member(struct reading *r, const char *key)
{
    const size_t at = (size_t)(key - 1 - r->decoded); /* its quote */
    const int depth = r->json.depth;
    do {
        const char *from = r->json.p;
        const enum json_piece piece = json_scan_next(&r->json);
        if (piece == JSON_PIECE_BAD || piece == JSON_PIECE_END) return MANIFEST_BAD;
        if (!is_strict(r, piece, from)) return bad(r, key, "has a value that JSON does not have");
    } while (r->json.depth > depth);
    const size_t n = (size_t)(r->json.p - r->decoded) - at;
    if (r->to > r->raw) *r->to++ = ','; /* never beyond what was read: there was one in the line */
    memmove(r->to, r->raw + at, n);
    r->to += n;
    return MANIFEST_ITEM;
}

/* null counts as not given. */
static int is_null(const struct reading *r, enum json_piece piece)
{
    return piece == JSON_PIECE_OTHER && strncmp(r->json.p - 4, "null", 4) == 0;
}

static enum manifest_read take_text(struct reading *r, const char *key, const char **to)
{
    const enum json_piece piece = json_scan_next(&r->json);
    if (is_null(r, piece)) return MANIFEST_ITEM;
    if (piece != JSON_PIECE_TEXT) return bad(r, key, "is not a text");
    if (*to) return bad(r, key, "is given twice");
    *to = r->json.s;
    return MANIFEST_ITEM;
}

/* Take seconds as milliseconds. */
static enum manifest_read take_seconds(struct reading *r, const char *key, int64_t *ms)
{
    const enum json_piece piece = json_scan_next(&r->json);
    if (is_null(r, piece)) return MANIFEST_ITEM;
    if (piece != JSON_PIECE_NUMBER || !(r->json.x >= 0) || r->json.x > 1e9) return bad(r, key, "is not a number of seconds");
    *ms = (int64_t)llround(r->json.x * 1000);
    return MANIFEST_ITEM;
}

static enum manifest_read take_channel(struct reading *r, const char *key)
{
    const enum json_piece piece = json_scan_next(&r->json);
    if (is_null(r, piece)) return MANIFEST_ITEM;
    if (piece != JSON_PIECE_NUMBER || !(r->json.x >= 0) || r->json.x > 1000 || r->json.x != floor(r->json.x))
        return bad(r, key, "is not the number of a channel, from 0");
    r->it->channel = (int)r->json.x;
    return MANIFEST_ITEM;
}

static enum manifest_read take_member(struct reading *r, const char *key)
{
    struct manifest_item *it = r->it;
    if (!strcmp(key, "audio_filepath") || !strcmp(key, "input") || !strcmp(key, "path")) return take_text(r, key, &it->path);
    if (!strcmp(key, "id")) return take_text(r, key, &it->id);
    if (!strcmp(key, "language")) return take_text(r, key, &it->language);
    if (!strcmp(key, "initial_prompt")) return take_text(r, key, &it->initial_prompt);
    if (!strcmp(key, "offset")) return take_seconds(r, key, &it->begin_ms);
    if (!strcmp(key, "duration")) return take_seconds(r, key, &it->duration_ms);
    if (!strcmp(key, "channel")) return take_channel(r, key);
    return keep_member(r, key);
}

static enum manifest_read take_object(struct reading *r)
{
    enum json_piece piece = json_scan_next(&r->json); /* its brace */
    enum manifest_read how = MANIFEST_ITEM;
    snprintf(r->why, MANIFEST_WHY, "is not a JSON object");
    while (how == MANIFEST_ITEM && (piece = json_scan_next(&r->json)) == JSON_PIECE_KEY) how = take_member(r, r->json.s);
    if (how != MANIFEST_ITEM) return how;
    if (piece != JSON_PIECE_CLOSE || json_scan_next(&r->json) != JSON_PIECE_END) return MANIFEST_BAD;
    *r->to = '\0';
    r->it->other = r->raw;
    return MANIFEST_ITEM;
}

/* ---- a line ------------------------------------------------------------------------------------------------------------------ */

/* The id of a path: itself, or a URL without what may be secret. @return its length */
static size_t id_of_path(char *id, const char *path)
{
    const size_t n = strlen(path);
    memcpy(id, path, n + 1);
    if (!address_is(path)) return n;
    address_shown(id, n + 1, path);
    const size_t shown = strlen(id);
    return shown == n ? n : shown + (size_t)sprintf(id + shown, "#%016llx", (unsigned long long)id_key_of(path).first);
}

/* Complete the item, whose id goes to id[] if it has none. */
static enum manifest_read complete(struct manifest_item *it, char *id, char *why)
{
    char seconds[NUM_SZ];
    snprintf(why, MANIFEST_WHY, "has no \"audio_filepath\", \"input\" or \"path\"");
    if (!it->path || !it->path[0]) return MANIFEST_BAD;
    if (!it->id) {
        const size_t n = id_of_path(id, it->path);
        it->is_named_by_path = it->begin_ms <= 0;
        if (!it->is_named_by_path) sprintf(id + n, "#t=%s", num_repr(seconds, (double)it->begin_ms / 1000));
        it->id = id;
    }
    snprintf(why, MANIFEST_WHY, "has an id of 0 or of more than %d bytes", MANIFEST_ID_MAX);
    if (!it->id[0] || strlen(it->id) > MANIFEST_ID_MAX) return MANIFEST_BAD;
    snprintf(why, MANIFEST_WHY, "has standard input as its file");
    if (strcmp(it->path, "-") == 0) return MANIFEST_BAD;
    if (it->begin_ms < 0 && it->duration_ms > 0) it->begin_ms = 0;
    return MANIFEST_ITEM;
}

enum manifest_read manifest_item_read(struct manifest_item *it, const char *line, char *why)
{
    const size_t n = strlen(line), start = strspn(line, " \t");
    *it = (struct manifest_item){ .begin_ms = -1, .channel = -1, .other = "" };
    if (!line[start]) return MANIFEST_EMPTY;
    const int64_t not_text = utf8_invalid_at(line);
    if (not_text >= 0) {
        snprintf(why, MANIFEST_WHY, "is not text in UTF-8 at byte %lld", (long long)not_text);
        return MANIFEST_BAD;
    }
    it->memory = malloc(3 * (n + 1) + ID_HASH_SZ + NUM_SZ + 4);
    if (!it->memory) return MANIFEST_NO_MEMORY;
    struct reading r = { .it = it, .raw = it->memory, .decoded = it->memory + n + 1, .to = it->memory, .why = why };
    memcpy(r.raw, line, n + 1);
    memcpy(r.decoded, line, n + 1);
    json_scan_begin(&r.json, r.decoded);
    if (line[start] != '{') it->path = r.decoded;
    const enum manifest_read how = it->path ? MANIFEST_ITEM : take_object(&r);
    if (it->path) path_typed(r.decoded + (it->path - r.decoded));
    return how == MANIFEST_ITEM ? complete(it, r.decoded + n + 1, why) : how;
}

int64_t manifest_item_ms(const struct manifest_item *it, int64_t audio_ms)
{
    if (it->begin_ms < 0) return audio_ms;
    const int64_t left = audio_ms > it->begin_ms ? audio_ms - it->begin_ms : 0;
    return it->duration_ms && it->duration_ms < left ? it->duration_ms : left;
}

void manifest_item_free(struct manifest_item *it)
{
    free(it->memory);
    *it = (struct manifest_item){ 0 };
}
