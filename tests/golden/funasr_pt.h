/* steno tests: folders of the FunASR collection whose model.pt is made here. SPDX-License-Identifier: MIT */
#ifndef STENO_TESTS_FUNASR_PT_H
#define STENO_TESTS_FUNASR_PT_H
#include "api/torch_model.h"
#include "funasr.h"

static const char *const funasr_pt_links[] = { "config.yaml", "am.mvn", "tokens.json", "seg_dict" };

/* A folder of links to what lies in pt/, beside a model.pt with the safetensors' weights, which must be removed. */
static inline struct golden_path funasr_pt(const char *which)
{
    struct golden_path dir = { "/tmp/steno-funasr-XXXXXX" };
    char to[PATH_MAX_LEN], tail[128];
    struct file f;
    struct weights w;
    steno_error e;
    assert_non_null(mkdtemp(dir.s));
    for (int i = 0; i < 4; i++) {
        snprintf(tail, sizeof tail, "models/%.40s/pt/%s", which, funasr_pt_links[i]);
        snprintf(to, sizeof to, "%.200s/%s", dir.s, funasr_pt_links[i]);
        assert_int_equal(symlink(funasr_file("%s", tail).s, to), 0);
    }
    snprintf(tail, sizeof tail, "models/%.40s/safetensors/model.safetensors", which);
    if (file_open(&f, funasr_file("%s", tail).s, &e) || weights_open(&w, &f, &e)) fail_msg("%s", e.text);
    struct buf pickle = { 0 };
    put_begin(&pickle);
    buf_str(&pickle, "}(");
    put_state(&pickle, &w, 0);
    buf_str(&pickle, "u.");
    struct buf b = torch_archive(&pickle, &w, &f, 0);
    snprintf(to, sizeof to, "%.200s/model.pt", dir.s);
    FILE *out = fopen(to, "wb");
    assert_non_null(out);
    assert_int_equal(fwrite(b.p, 1, b.len, out), b.len);
    assert_int_equal(fclose(out), 0);
    buf_free(&b);
    weights_close(&w);
    file_close(&f);
    return dir;
}

static inline void funasr_pt_remove(struct golden_path dir)
{
    char path[PATH_MAX_LEN];
    for (int i = 0; i < 5; i++) {
        snprintf(path, sizeof path, "%.200s/%s", dir.s, i < 4 ? funasr_pt_links[i] : "model.pt");
        unlink(path);
    }
    rmdir(dir.s);
}
#endif
