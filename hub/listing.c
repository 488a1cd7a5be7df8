/* steno-hub: the files of a repository, and which of them to download. SPDX-License-Identifier: MIT */
#include "listing.h"
#include "json_scan.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- from a response --------------------------------------------------------------------------------------------------------- */

int hub_listing_add(struct hub_listing *l, const char *path, int64_t size, const char *hash, struct hub_error *e)
{
    if (l->n >= HUB_MOST_FILES) return hub_fail(e, HUB_EABSENT, "the repository lists more than %d files", HUB_MOST_FILES);
    if (l->n == l->cap) {
        const size_t cap = l->cap ? 2 * l->cap : 32;
        struct hub_file *f = realloc(l->f, cap * sizeof *f);
        if (!f) return hub_no_memory(e, "the list of files");
        l->f = f;
        l->cap = cap;
    }
    struct hub_file *f = &l->f[l->n];
    *f = (struct hub_file){ .path = strdup(path), .size = size };
    if (!f->path) return hub_no_memory(e, "the list of files");
    snprintf(f->hash, sizeof f->hash, "%s", hash);
    f->is_lfs = strlen(f->hash) == 64;
    l->n++;
    return HUB_OK;
}

const struct hub_file *hub_listing_find(const struct hub_listing *l, const char *path)
{
    for (size_t i = 0; i < l->n; i++)
        if (strcmp(l->f[i].path, path) == 0) return &l->f[i];
    return NULL;
}

void hub_listing_free(struct hub_listing *l)
{
    for (size_t i = 0; i < l->n; i++) free(l->f[i].path);
    free(l->f);
    *l = (struct hub_listing){ 0 };
}

/* One entry while it is read; its texts are in the response. */
struct entry {
    const char *type, *path, *oid, *lfs, *xet;
    int64_t size, lfs_size;
};

static const char *hash_or_null(const char *text, size_t n)
{
    return text && hub_is_hex(text, n) ? text : NULL;
}

static int check_path(const struct hub_listing *l, const struct entry *it, const char *from, struct hub_error *e)
{
    const char *fault = hub_path_fault(it->path);
    if (fault) return hub_fail(e, HUB_EABSENT, "%s: the repository lists a file \"%.200s%s\", which is refused: %s", from, it->path,
                               strlen(it->path) > 200 ? "..." : "", fault);
    return hub_listing_find(l, it->path) ? hub_fail(e, HUB_EABSENT, "%s: %s is listed twice", from, it->path) : HUB_OK;
}

static int take_entry(struct hub_listing *l, const struct entry *it, const char *file, const char *from, struct hub_error *e)
{
    if (!it->path || !it->type || strcmp(it->type, file) != 0) return HUB_OK;
    if (check_path(l, it, from, e)) return e->status;
    const char *sha256 = hash_or_null(it->lfs, 64), *sha1 = hash_or_null(it->oid, 40), *hash = sha256 ? sha256 : sha1;
    const int64_t size = sha256 && it->lfs_size >= 0 ? it->lfs_size : it->size;
    if (!hash || size < 0) return hub_fail(e, HUB_EABSENT, "%s: no hash or size is given of %s", from, it->path);
    const int rc = hub_listing_add(l, it->path, size, hash, e);
    if (rc == HUB_OK && sha1) memcpy(l->f[l->n - 1].blob, sha1, 41);
    if (rc == HUB_OK && hash_or_null(it->xet, 64)) memcpy(l->f[l->n - 1].xet, it->xet, 65);
    return rc;
}

static int not_json(const char *from, struct hub_error *e)
{
    return hub_fail(e, HUB_ENET, "%s: the answer is not from a hub (the page of a mirror or a proxy?)", from);
}

int hub_listing_hf(struct hub_listing *l, char *text, const char *from, struct hub_error *e)
{
    struct json_path j;
    struct entry it = { .size = -1, .lfs_size = -1 };
    const char *s;
    int is_list = 0;
    json_path_begin(&j, text);
    while (json_path_next(&j)) {
        if (j.piece == JSON_PIECE_OPEN && !j.at[0] && j.json.is_list[0]) is_list = 1;
        if ((s = json_path_text(&j, "[].type"))) it.type = s;
        else if ((s = json_path_text(&j, "[].path"))) it.path = s;
        else if ((s = json_path_text(&j, "[].oid"))) it.oid = s;
        else if ((s = json_path_text(&j, "[].lfs.oid"))) it.lfs = s;
        else if ((s = json_path_text(&j, "[].xetHash"))) it.xet = s;
        else if (json_path_is(&j, "[].size")) it.size = json_path_whole(&j);
        else if (json_path_is(&j, "[].lfs.size")) it.lfs_size = json_path_whole(&j);
        else if (j.piece == JSON_PIECE_CLOSE && json_path_is(&j, "[]")) {
            if (take_entry(l, &it, "file", from, e)) return e->status;
            it = (struct entry){ .size = -1, .lfs_size = -1 };
        }
    }
    return j.piece == JSON_PIECE_BAD || !is_list ? not_json(from, e) : HUB_OK;
}

/* ModelScope reports errors inside a response with a success code. */
static int error_by_ms(int64_t code, const char *why, const char *from, struct hub_error *e)
{
    if (code < 0) return not_json(from, e);
    if (code == 200) return HUB_OK;
    return hub_fail(e, HUB_EABSENT, "%s: %s (code %lld)", from, why ? why : "the hub refuses", (long long)code);
}

int hub_listing_ms(struct hub_listing *l, char *text, const char *from, struct hub_error *e)
{
    struct json_path j;
    struct entry it = { .size = -1, .lfs_size = -1 };
    const char *s, *why = NULL;
    int64_t code = -1;
    json_path_begin(&j, text);
    while (json_path_next(&j)) {
        if ((s = json_path_text(&j, "Data.Files[].Type"))) it.type = s;
        else if ((s = json_path_text(&j, "Data.Files[].Path"))) it.path = s;
        else if ((s = json_path_text(&j, "Data.Files[].Sha256"))) it.lfs = s;
        else if ((s = json_path_text(&j, "Message"))) why = s;
        else if (json_path_is(&j, "Code")) code = json_path_whole(&j);
        else if (json_path_is(&j, "Data.Files[].Size")) it.size = json_path_whole(&j);
        else if (j.piece == JSON_PIECE_CLOSE && json_path_is(&j, "Data.Files[]")) {
            if (take_entry(l, &it, "blob", from, e)) return e->status;
            it = (struct entry){ .size = -1, .lfs_size = -1 };
        }
    }
    return j.piece == JSON_PIECE_BAD ? not_json(from, e) : error_by_ms(code, why, from, e);
}

int hub_names_hf(struct hub_listing *l, char commit[41], char *text, const char *from, struct hub_error *e)
{
    struct json_path j;
    const char *s, *sha = NULL;
    json_path_begin(&j, text);
    while (json_path_next(&j)) {
        if ((s = json_path_text(&j, "sha"))) sha = s;
        if (!l || !(s = json_path_text(&j, "siblings[].rfilename"))) continue;
        const struct entry it = { .type = "file", .path = s };
        if (check_path(l, &it, from, e) || hub_listing_add(l, s, -1, "", e)) return e->status;
    }
    if (j.piece == JSON_PIECE_BAD || !hash_or_null(sha, 40)) return not_json(from, e);
    memcpy(commit, sha, 41);
    return HUB_OK;
}

int hub_commit_hf(char commit[41], char *text, const char *from, struct hub_error *e)
{
    return hub_names_hf(NULL, commit, text, from, e);
}

/* Adds a hit in the order of the response. Invalid names are left out, because nothing is created from them here. */
static int add_hit(struct hub_hit *h, int n, int most, const char *id, const struct hub_hit *it)
{
    if (n >= most || !id || hub_id_fault(id)) return n;
    h[n] = *it;
    snprintf(h[n].id, sizeof h[n].id, "%s", id);
    return n + 1;
}

/* Paths of hits in a response. older: alternative path of the id, if the first is missing; may be NULL. */
struct hits_at { const char *list, *hit, *id, *older, *downloads, *likes; };

static int hits_read(const struct hits_at *at, struct hub_hit *h, int most, char *text, const char *from, struct hub_error *e)
{
    struct json_path j;
    struct hub_hit it = { .downloads = -1, .likes = -1 };
    const char *s, *id = NULL;
    int n = 0, is_list = 0;
    json_path_begin(&j, text);
    while (json_path_next(&j)) {
        if (j.piece == JSON_PIECE_OPEN && (*at->list ? json_path_is(&j, at->list) : !j.at[0] && j.json.is_list[0])) is_list = 1;
        if ((s = json_path_text(&j, at->id)) || (at->older && !id && (s = json_path_text(&j, at->older)))) id = s;
        else if (json_path_is(&j, at->downloads)) it.downloads = json_path_whole(&j);
        else if (json_path_is(&j, at->likes)) it.likes = json_path_whole(&j);
        else if (j.piece == JSON_PIECE_CLOSE && json_path_is(&j, at->hit)) {
            n = add_hit(h, n, most, id, &it);
            it = (struct hub_hit){ .downloads = -1, .likes = -1 };
            id = NULL;
        }
    }
    if (j.piece != JSON_PIECE_BAD && is_list) return n;
    not_json(from, e);
    return -1;
}

int hub_hits_hf(struct hub_hit *h, int most, char *text, const char *from, struct hub_error *e)
{
    static const struct hits_at at = { "", "[]", "[].id", "[].modelId", "[].downloads", "[].likes" };
    return hits_read(&at, h, most, text, from, e);
}

int hub_hits_ms(struct hub_hit *h, int most, char *text, const char *from, struct hub_error *e)
{
    static const struct hits_at at = { "data.models", "data.models[]", "data.models[].id", NULL, "data.models[].downloads",
                                       "data.models[].likes" };
    return hits_read(&at, h, most, text, from, e);
}

/* ---- which files to download ------------------------------------------------------------------------------------------------- */

/* Files beside the weights. */
static const char *const settings[] = {
    "config.json", "generation_config.json", "vocab.json", "merges.txt", "tokenizer.json", "added_tokens.json", "preprocessor_config.json",
    "processor_config.json", "chat_template.jinja", "chat_template.json", "sentence_bert_config.json",
    "normalizer.json", "special_tokens_map.json", "tokenizer_config.json", "vocab.txt", "modules.json", "1_Pooling/config.json",
    "config.yaml", "configuration.json", "am.mvn", "tokens.json", "seg_dict", "chn_jpn_yue_eng_ko_spectok.bpe.model",
    "multilingual.tiktoken", "vocabulary.json", "vocabulary.txt",
    "Qwen3-0.6B/config.json", "Qwen3-0.6B/generation_config.json", "Qwen3-0.6B/tokenizer.json",
    "Qwen3-0.6B/tokenizer_config.json", "Qwen3-0.6B/vocab.json", "Qwen3-0.6B/merges.txt",
};

static int ends_in(const char *text, const char *end)
{
    const size_t n = strlen(text), m = strlen(end);
    return n > m && strcmp(text + n - m, end) == 0;
}

int hub_is_nemo(const char *path)
{
    return ends_in(path, ".nemo");
}

int hub_is_single(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    return ends_in(name, ".gguf") || hub_is_nemo(name) || (ends_in(name, ".bin") && strncmp(name, "ggml-", 5) == 0);
}

static int take_named(char *take, const struct hub_listing *l, const char *name)
{
    const struct hub_file *f = hub_listing_find(l, name);
    if (f) take[f - l->f] = 1;
    return f != NULL;
}

/* model-00001-of-00003.safetensors: the index lists all parts, and is itself one of the files. */
static int take_pieces(char *take, const struct hub_listing *l)
{
    int n = 0;
    for (size_t i = 0; i < l->n; i++) {
        const char *p = l->f[i].path;
        static const char digits[] = "0123456789";
        if (strlen(p) != strlen("model-00001-of-00003.safetensors") || strncmp(p, "model-", 6) != 0) continue;
        if (strspn(p + 6, digits) != 5 || strncmp(p + 11, "-of-", 4) != 0 || strspn(p + 15, digits) != 5) continue;
        if (strcmp(p + 20, ".safetensors") == 0) take[i] = 1, n++;
    }
    return n;
}

/* model.bin is a common name. CTranslate2 has one of two vocabularies beside it. */
static int take_ct2(char *take, const struct hub_listing *l)
{
    if (!hub_listing_find(l, "vocabulary.json") && !hub_listing_find(l, "vocabulary.txt")) return 0;
    return take_named(take, l, "model.bin");
}

static int take_weights(char *take, const struct hub_listing *l)
{
    if (take_named(take, l, "model.safetensors")) return 1;
    if (take_named(take, l, "model.safetensors.index.json")) return take_pieces(take, l);
    if (take_named(take, l, "model.pt") || take_ct2(take, l)) return 1;
    return take_named(take, l, "weights.safetensors") || take_named(take, l, "weights.npz"); /* MLX's */
}

static int take_one(char *take, const struct hub_listing *l, const char *id, struct hub_error *e)
{
    char names[600] = "";
    size_t at = 0;
    int n = 0, others = 0;
    for (size_t i = 0; i < l->n; i++) others += hub_is_single(l->f[i].path) && !hub_is_nemo(l->f[i].path);
    for (size_t i = 0; i < l->n; i++) {
        if (!hub_is_single(l->f[i].path) || (others == 1 && hub_is_nemo(l->f[i].path))) continue;
        take[i] = 1;
        n++;
        if (at < sizeof names - 1) at += (size_t)snprintf(names + at, sizeof names - at, "%s%s", n > 1 ? ", " : "", l->f[i].path);
    }
    if (n == 1) return HUB_OK;
    if (!n) return hub_fail(e, HUB_EABSENT, "%s: it has no model that steno reads; %s:FILE selects a file by name", id, id);
    if (at >= sizeof names) memcpy(names + sizeof names - 6, ", ...", 6);
    return hub_fail(e, HUB_EABSENT, "%s: it holds %d models; name one as %s:FILE. There are: %s", id, n, id, names);
}

int hub_select(char *take, const struct hub_listing *l, const char *const *files, size_t n_files, const char *id, struct hub_error *e)
{
    memset(take, 0, l->n);
    for (size_t i = 0; i < n_files; i++)
        if (!take_named(take, l, files[i])) return hub_fail(e, HUB_EABSENT, "%s: there is no file %s", id, files[i]);
    if (n_files) return HUB_OK;
    if (!take_weights(take, l)) return take_one(take, l, id, e);
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) take_named(take, l, settings[i]);
    return HUB_OK;
}
