/* steno tests: the collection's streaming Paraformer. SPDX-License-Identifier: MIT */
#ifndef STENO_TESTS_ONLINE_DIR_H
#define STENO_TESTS_ONLINE_DIR_H
#include "funasr.h"

/* A folder of links; the weights are those of the model for whole clips. */
static inline struct golden_path online_dir(const char *weights, const char *config)
{
    static const char *const from[] = { "models/paraformer-online/pt/am.mvn", "models/paraformer-online/pt/tokens.json" };
    struct golden_path dir = { "/tmp/steno-online-XXXXXX" };
    const char *all[4] = { weights, config, from[0], from[1] };
    assert_non_null(mkdtemp(dir.s));
    for (int i = 0; i < 4; i++) {
        char to[PATH_MAX_LEN];
        snprintf(to, sizeof to, "%.200s/%s", dir.s, strrchr(all[i], '/') + 1);
        assert_int_equal(symlink(funasr_file("%s", all[i]).s, to), 0);
    }
    return dir;
}

static inline void online_dir_remove(struct golden_path dir)
{
    static const char *const name[] = { "model.pt", "model.safetensors", "config.yaml", "config.json", "am.mvn", "tokens.json", "x.gguf" };
    for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
        char path[PATH_MAX_LEN];
        snprintf(path, sizeof path, "%.200s/%s", dir.s, name[i]);
        unlink(path);
    }
    rmdir(dir.s);
}
#endif
