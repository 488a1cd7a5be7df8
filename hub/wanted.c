/* steno-hub: selects the files of a repository to download. SPDX-License-Identifier: MIT */
#include "wanted.h"
#include <stdio.h>
#include <string.h>

/* Files beside the weights. */
static const char *const settings[] = {
    "config.json", "generation_config.json", "vocab.json", "merges.txt", "tokenizer.json", "added_tokens.json", "preprocessor_config.json",
    "normalizer.json", "special_tokens_map.json", "tokenizer_config.json", "vocab.txt", "modules.json", "1_Pooling/config.json",
    "config.yaml", "configuration.json", "am.mvn", "tokens.json", "seg_dict", "chn_jpn_yue_eng_ko_spectok.bpe.model",
    "multilingual.tiktoken", "Qwen3-0.6B/config.json", "Qwen3-0.6B/generation_config.json", "Qwen3-0.6B/tokenizer.json",
    "Qwen3-0.6B/tokenizer_config.json", "Qwen3-0.6B/vocab.json", "Qwen3-0.6B/merges.txt",
};

static int ends_in(const char *text, const char *end)
{
    const size_t n = strlen(text), m = strlen(end);
    return n > m && strcmp(text + n - m, end) == 0;
}

int hub_is_single(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    return ends_in(name, ".gguf") || (ends_in(name, ".bin") && strncmp(name, "ggml-", 5) == 0);
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

static int take_weights(char *take, const struct hub_listing *l)
{
    if (take_named(take, l, "model.safetensors")) return 1;
    if (take_named(take, l, "model.safetensors.index.json")) return take_pieces(take, l);
    if (take_named(take, l, "model.pt")) return 1;
    return take_named(take, l, "weights.safetensors") || take_named(take, l, "weights.npz"); /* MLX's */
}

static int take_one(char *take, const struct hub_listing *l, const char *id, struct hub_error *e)
{
    char names[600] = "";
    size_t at = 0;
    int n = 0;
    for (size_t i = 0; i < l->n; i++) {
        if (!hub_is_single(l->f[i].path)) continue;
        take[i] = 1;
        n++;
        if (at < sizeof names - 1) at += (size_t)snprintf(names + at, sizeof names - at, "%s%s", n > 1 ? ", " : "", l->f[i].path);
    }
    if (n == 1) return HUB_OK;
    if (!n) return hub_fail(e, HUB_EABSENT, "%s: it has no model that steno reads; %s:FILE selects a file by name", id, id);
    if (at >= sizeof names) memcpy(names + sizeof names - 6, ", ...", 6);
    return hub_fail(e, HUB_EABSENT, "%s: it holds %d models; name one as %s:FILE. There are: %s", id, n, id, names);
}

int hub_wanted(char *take, const struct hub_listing *l, const char *const *files, size_t n_files, const char *id, struct hub_error *e)
{
    memset(take, 0, l->n);
    for (size_t i = 0; i < n_files; i++)
        if (!take_named(take, l, files[i])) return hub_fail(e, HUB_EABSENT, "%s: there is no file %s", id, files[i]);
    if (n_files) return HUB_OK;
    if (!take_weights(take, l)) return take_one(take, l, id, e);
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) take_named(take, l, settings[i]);
    return HUB_OK;
}
