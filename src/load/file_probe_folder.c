/* steno: what a folder is, by the names in it. SPDX-License-Identifier: MIT
 *
 * First come folders whose weights this library reads. Then come folders of other programs, identified by a name that only they contain.
 * Last comes a folder with a file that is a model by itself; that file is then named. */
#include "load/file_probe.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "base/os.h"

enum { NAMES_MAX = 4096 /* names of a folder that are examined */ };

static const char *const weights_name[] = {
    "model.safetensors.index.json", "model.safetensors", "model.pt", "model.bin", "pytorch_model.bin",
    "weights.safetensors", "weights.npz", /* MLX */
};
enum { N_WEIGHTS = sizeof weights_name / sizeof *weights_name, CT2_NAME = 3 /* weights only by their content, too */ };

/* The first row that matches a name identifies the folder, unless it is an export (probe_take) beside a file that is read. A row name that
 * begins with '*' is a suffix. */
static const struct { const char *name, *what, *advice; } known[] = {
    { "adapter_config.json", "a LoRA adapter, which is not a model by itself",
      "merge it into its base model (merge_and_unload of PEFT) and take the folder that comes of that" },
    { "model_index.json", "a diffusion model", "take a model of speech or a language model" },
    { "diffusion_pytorch_model*", "a part of a diffusion model, such as a ControlNet", "take a model of speech or a language model" },
    { "pytorch_lora_weights.*", "a LoRA adapter, which is not a model by itself",
      "merge it into its base model (fuse_lora of diffusers, merge_and_unload of PEFT) and take the folder that comes of that" },
    { "coremldata.bin", "a compiled Core ML model", probe_take },
    { "Manifest.json", "a Core ML package", probe_take },
    { "saved_model.pb", "a TensorFlow model (SavedModel)", probe_take },
    { "*.onnx", "an ONNX model", probe_take },
    { "*.mlmodelc", "a Core ML model", probe_take },
    { "*.mlpackage", "a Core ML model", probe_take },
    { "*.tflite", "a TensorFlow Lite model", probe_take },
    { "openvino_*", "an OpenVINO model", probe_take },
    { "*.mdl", "a Kaldi model", probe_take },
    { "HCLG.fst", "a Kaldi model", probe_take },
    { "am", "a Kaldi or Vosk model", probe_take },
    { "tf_model.h5", "TensorFlow weights (tf_model.h5)", probe_take },
    { "flax_model.msgpack", "Flax weights (flax_model.msgpack)", probe_take },
    { "snapshots", "a model's place in Hugging Face's cache, not the model", "name the folder below its snapshots/" },
};
enum { N_KNOWN = sizeof known / sizeof *known };

/* Of files that stand alone, from worst to best. LOST: a link without a file. DAMAGED: empty, or of no form. */
enum rank { RANK_NONE, RANK_LOST, RANK_DAMAGED, RANK_KNOWN, RANK_READABLE };

struct folder_look {
    const struct model_source *p;
    struct file_probe *k;
    steno_error *e;
    int rc, n, row;        /* row: the best row of known, N_KNOWN: none */
    int weights;           /* the best row of weights_name, past the end: none */
    int has_config, has_tokenizer, has_state, has_ct2; /* has_state: of an optimizer; has_ct2: a file or folder named as CTranslate2's */
    struct file_probe file;      /* of the best file that stands alone */
    enum rank rank;
    char file_name[208];
};

static int fits(const char *name, const char *row)
{
    const size_t n = strlen(name), m = strlen(row);
    if (row[0] == '*') return n >= m && !strcmp(name + n - (m - 1), row + 1);
    if (row[m - 1] == '*') return n >= m && !memcmp(name, row, m - 1);
    return !strcmp(name, row);
}

/* Files of no form are no models, except under the two names that only models have. */
static enum rank rank_of(const struct file_probe *k, const char *name)
{
    if (k->readable) return RANK_READABLE;
    if (k->form == PROBE_UNKNOWN && !fits(name, "*.nemo") && !fits(name, "*.gguf")) return RANK_NONE;
    return k->form == PROBE_UNKNOWN || k->form == PROBE_EMPTY ? RANK_DAMAGED : RANK_KNOWN;
}

static int is_lost(const struct folder_look *l, const char *name)
{
    char path[4096];
    const int n = snprintf(path, sizeof path, "%s%s", l->p->dir, name);
    return n > 0 && (size_t)n < sizeof path && os_path_is_link(path) && !file_exists(path);
}

/* Examine the content of a file that may be a model by itself. Keep the best, and of equal ones the first by name. */
static void try_file(struct folder_look *l, const char *name)
{
    struct arena scratch;
    struct file f;
    struct file_probe k = { .form = PROBE_UNKNOWN };
    enum rank rank = RANK_NONE;
    static const char *const state[] = { "optimizer.*", "optimizer_*", "scheduler.*", "rng_state*", "random_states*", "training_args.*",
                                         "scaler.*" };
    for (size_t at = 0; at < sizeof state / sizeof *state; at++)
        if (fits(name, state[at])) {
            l->has_state = 1;
            return;
        }
    static const char *const end[] = { "*.bin", "*.pt", "*.pth", "*.ckpt", "*.safetensors", "*.gguf", "*.ggml", "*.nemo",
                                       "*.index.json" };
    size_t i = 0;
    while (i < sizeof end / sizeof *end && !fits(name, end[i])) i++;
    if (i == sizeof end / sizeof *end || strlen(name) >= sizeof l->file_name) return;
    arena_init(&scratch);
    const int rc = model_source_find(l->p, name, &scratch, &f, NULL);
    if (rc > 0 && !probe_file(&k, &f, NULL)) rank = rank_of(&k, name);
    else if (rc < 0 && is_lost(l, name)) rank = RANK_LOST;
    if (k.form == PROBE_CT2 && !strcmp(name, weights_name[CT2_NAME]) && l->weights > CT2_NAME) l->weights = CT2_NAME;
    if (rank != RANK_NONE && (rank > l->rank || (rank == l->rank && strcmp(name, l->file_name) < 0))) {
        l->file = k;
        l->rank = rank;
        snprintf(l->file_name, sizeof l->file_name, "%s", name);
    }
    if (rc > 0) file_close(&f);
    if (rc == STENO_ENOMEM) l->rc = err_nomem(l->e, sizeof l->file_name, "a path");
    arena_free(&scratch);
}

static int look_at(void *user, const char *name)
{
    struct folder_look *l = user;
    for (int i = 0; i < N_KNOWN && i < l->row; i++)
        if (fits(name, known[i].name)) l->row = i;
    for (int i = 0; i < N_WEIGHTS && i < l->weights; i++)
        if (i != CT2_NAME && !strcmp(name, weights_name[i])) l->weights = i;
    l->has_tokenizer |= !strcmp(name, "tokenizer.json") || !strcmp(name, "tokenizer.model") || !strcmp(name, "tokenizer_config.json");
    l->has_config |= !strcmp(name, "config.json") || !strcmp(name, "config.yaml");
    l->has_ct2 |= !strcmp(name, weights_name[CT2_NAME]);
    try_file(l, name);
    return l->rc || ++l->n == NAMES_MAX;
}

static void conclude(struct folder_look *l)
{
    struct file_probe *k = l->k;
    const char *what = "the folder holds no model", *advice = "";
    k->form = PROBE_UNKNOWN;
    if (l->row < N_KNOWN && !(l->rank == RANK_READABLE && known[l->row].advice == probe_take)) {
        k->form = PROBE_OTHER;
        what = known[l->row].what;
        advice = known[l->row].advice;
    } else if (l->rank == RANK_KNOWN || l->rank == RANK_DAMAGED) {
        *k = l->file;
        snprintf(k->file, sizeof k->file, "%s", l->file_name);
        return;
    } else if (l->rank == RANK_READABLE) {
        snprintf(k->what, sizeof k->what, "the folder holds no model of its own, but %.100s", l->file_name);
        snprintf(k->advice, sizeof k->advice, "name that file");
        return;
    } else if (l->has_config) {
        what = "the folder holds a configuration, but no weights";
        advice = "copy them into it: model.safetensors, model.safetensors.index.json and its files, model.pt, CTranslate2's "
                 "model.bin, or MLX's weights.safetensors";
    } else if (l->has_state) {
        what = "the folder holds the state of a training run, but no weights";
        advice = "take the folder that the trained model was saved to";
    } else if (l->has_tokenizer) {
        what = "the folder holds a tokenizer, but no weights";
        advice = "take the whole folder of its model";
    } else advice = "want model.safetensors, model.safetensors.index.json, model.pt or weights.safetensors in it";
    snprintf(k->what, sizeof k->what, "%s", what);
    snprintf(k->advice, sizeof k->advice, "%s", advice);
}

int probe_is_weights(const char *name)
{
    for (size_t i = 0; i < N_WEIGHTS; i++)
        if (!strcmp(name, weights_name[i])) return 1;
    return 0;
}

int probe_source(struct file_probe *k, const struct model_source *p, steno_error *e)
{
    if (!p->is_folder) return probe_file(k, &p->file, e);
    struct model_source quiet = *p; /* identifying a folder is not reading: the files are not reported to `opened` */
    quiet.opened = NULL;
    struct folder_look l = { .p = &quiet, .k = k, .e = e, .row = N_KNOWN, .weights = N_WEIGHTS };
    *k = (struct file_probe){ .form = PROBE_UNKNOWN };
    if (os_folder_each(p->dir, look_at, &l))
        return err_set(e, errno == ENOMEM ? STENO_ENOMEM : STENO_EIO, "cannot open '%s': the folder cannot be read: %s", p->name,
                       strerror(errno));
    if (l.rc) return l.rc;
    /* Beside a configuration, a model.bin that is empty, cut or not to be opened is what is wrong. */
    if (l.weights == N_WEIGHTS && l.row == N_KNOWN && l.rank < RANK_KNOWN && l.has_config && l.has_ct2) l.weights = CT2_NAME;
    if (l.weights == N_WEIGHTS && (l.row < N_KNOWN || l.rank != RANK_LOST)) {
        conclude(&l);
        return STENO_OK;
    }
    struct arena scratch;
    struct file f;
    arena_init(&scratch);
    const char *name = l.weights < N_WEIGHTS ? weights_name[l.weights] : l.file_name; /* a lost one, which gives the error */
    int rc = model_source_find(&quiet, name, &scratch, &f, e);
    if (rc > 0) {
        rc = probe_file(k, &f, e);
        snprintf(k->file, sizeof k->file, "%s", name);
        file_close(&f);
    }
    arena_free(&scratch);
    return rc;
}
