/* steno: fuzzing of the lines of a batch's manifest and journal. SPDX-License-Identifier: MIT
 *
 * The first byte chooses the reader: a line of a manifest (0), a record of a journal (1), its header (2), or several records one after the
 * other, whose ids are entered in a set (3). What a reader returns lies in the line, and a result that is written for an item is read back
 * with its id and class. */
#include "batch/ids.h"
#include "batch/journal.h"
#include "batch/manifest.h"
#include "batch/work.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* A result of the item is read back. */
static void check_result(const struct manifest_item *it, enum batch_class class, int n_tracks, int n_channels)
{
    struct batch_work w = { .item = *it, .attempt = 2 };
    struct batch_record r;
    const struct batch_outcome how = { .class = class, .reason = class == CLASS_OK ? NULL : "a reason",
                                       .audio = { n_tracks, n_tracks, n_channels - 1, n_channels } };
    const struct transcript_source source = { .model = "model" };
    size_t len;
    struct transcript t = { .text = "a text", .language = "en" };
    char *line = batch_work_line(&len, &w, &how, how.reason ? NULL : &t, &source);
    if (!line) abort();
    if (strlen(line) != len || !len || strchr(line, '\n') != line + len - 1) abort(); /* one line */
    char *copy = strdup(line);
    if (!copy) abort();
    batch_record_read(&r, copy);
    if (r.kind != RECORD_RESULT || r.class != class || strcmp(r.id, it->id)) abort();
    if (r.audio.n_tracks != (how.reason ? 0 : n_tracks) || r.audio.track != r.audio.n_tracks) abort();
    if (r.audio.n_channels != (how.reason ? 0 : n_channels) || r.audio.channel != r.audio.n_channels - 1) abort();
    if (r.run_at >= r.run_end || r.run_end > len || strncmp(line + r.run_at, ", \"run\": {", 10)) abort();
    free(copy);
    free(line);
}

static void read_item(char *line, int class)
{
    char why[MANIFEST_WHY] = "";
    struct manifest_item it;
    const enum manifest_read how = manifest_item_read(&it, line, why);
    if (how == MANIFEST_ITEM) {
        if (!it.id[0] || !it.path[0] || strlen(it.id) > MANIFEST_ID_MAX || it.channel < -1 || it.begin_ms < -1) abort();
        if (it.duration_ms && it.begin_ms < 0) abort();
        check_result(&it, (enum batch_class)(class % N_CLASSES), class / N_CLASSES % 6, class / N_CLASSES / 6);
    }
    if (how == MANIFEST_BAD && !why[0]) abort();
    manifest_item_free(&it);
}

struct records { struct id_set ids; struct batch_group group; int64_t at; };

/* A complete result begins at or before its last line. */
static void read_record(struct records *all, char *line)
{
    struct batch_record r;
    struct id_set *ids = &all->ids;
    const int64_t at = all->at;
    const char *end = line + strlen(line);
    batch_record_read(&r, line);
    if (r.kind == RECORD_BAD && (r.id || r.run_at || r.run_end)) abort();
    all->at += 1;
    const int is_complete = batch_group_add(&all->group, &r, at);
    const struct batch_audio *a = &r.audio;
    if (is_complete && (r.kind != RECORD_RESULT || all->group.at > at || a->track < a->n_tracks)) abort();
    if (is_complete && a->n_channels && a->channel + 1 != a->n_channels) abort();
    if (is_complete && all->group.at < at && !a->n_channels && !a->n_tracks) abort();
    if (!r.id) return;
    if (r.id < line || r.id > end || r.run_end > (size_t)(end - line) || r.run_at > r.run_end) abort();
    const struct id_key key = id_key_of(r.id);
    struct id_entry *e = id_enter(ids, &key);
    if (!e || id_find(ids, &key) != e || id_shard(&key, 7) > 6) abort();
    e->flags |= ID_DONE;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct records all = { .at = 0 };
    struct batch_header h;
    if (n < 2 || n > MANIFEST_LINE_MAX) return 0;
    char *text = malloc(n);
    if (!text) return 0;
    memcpy(text, data + 1, n - 1);
    text[n - 1] = '\0';
    const int what = data[0] % 4;
    if (what == 0) text[strcspn(text, "\n")] = '\0'; /* the end of its line */
    if (what == 0) read_item(text, data[0] / 4);
    if (what == 1) read_record(&all, text);
    if (what == 2 && batch_header_read(&h, text) && (!h.engine[0] || h.manifest_bytes < 0)) abort();
    for (char *line = text, *next; what == 3 && line; line = next) {
        next = strchr(line, '\n');
        if (next) *next++ = '\0';
        read_record(&all, line);
    }
    if (all.ids.size && all.ids.n > all.ids.size) abort();
    id_set_free(&all.ids);
    free(text);
    return 0;
}
