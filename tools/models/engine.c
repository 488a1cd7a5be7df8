/* steno: opening of team, model and session. SPDX-License-Identifier: MIT */
#include "models/engine.h"
#include "cli/message.h"
#include "cli/option_names.h"
#include "cli/words.h"
#include "models/auto_compute.h"
#include "models/numa.h"
#include "out_name.h"
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { DEVICE_GPU = 2 }; /* value of --device */

static int check_cpu(const char *level)
{
    const char *nearest = NULL, *name;
    int best = -1;
    for (int i = 0; (name = steno_cpu_level_name(i)) != NULL; i++) {
        if (strcmp(name, level) == 0)
            return steno_cpu_level_usable(i) ? EXIT_OK
                                             : message_usage("--cpu: this machine cannot run level %s; see \"steno doctor\"", level);
        const int d = word_near(level, name);
        if (d >= 0 && (best < 0 || d < best)) {
            best = d;
            nearest = name;
        }
    }
    if (nearest) return message_usage("--cpu: unknown level \"%s\"; did you mean %s?", level, nearest);
    return message_usage("--cpu: unknown level \"%s\"; \"steno doctor\" lists them", level);
}

/* What --compute auto is on this machine, for models that transcribe. */
static int32_t auto_compute(const char *cpu_level)
{
    struct auto_figures f;
    char *folder = models_folder(0);
    const int is_bf16 = auto_figures_find(&f, folder, cpu_level) && auto_takes_bf16(&f);
    free(folder);
    return is_bf16 ? STENO_COMPUTE_BF16 : STENO_COMPUTE_AUTO;
}

int engine_model_params(steno_model_params *p, const struct engine_opts *o)
{
    static const int32_t compute[] = { STENO_COMPUTE_AUTO, STENO_COMPUTE_F32, STENO_COMPUTE_BF16, STENO_COMPUTE_INT16, STENO_COMPUTE_INT8 };
    steno_model_params_init(p);
    p->compute = compute[o->compute];
    p->verify = o->verify;
    p->cpu_level = o->cpu;
    p->index_only = o->index_only;
    p->no_cmvn = option_was_given(o->given, "cmvn") && !o->cmvn;
    p->alignment_heads = o->heads;
    p->llm = o->llm;
    p->jieba_dict = o->jieba_dict;
    p->text_ctx = (int32_t)o->ctx_size;
    p->kv_type = o->kv_type;
    p->decoder_type = o->decoder_type;
    p->gelu = o->gelu ? STENO_GELU_TANH : STENO_GELU_ERF;
    return o->cpu ? check_cpu(o->cpu) : EXIT_OK;
}

int engine_team(steno_team **team, const struct engine_opts *o)
{
    steno_error e = { 0 };
    const int code = o->numa ? numa_bind(o->numa, o->quiet) : EXIT_OK;
    if (code != EXIT_OK) return code;
    const int rc = steno_team_open(team, (int)o->threads, &e);
    if (rc == STENO_OK) return EXIT_OK;
    message("threads: %s", e.text[0] ? e.text : steno_status_text(rc));
    return rc == STENO_EARG ? EXIT_USAGE : EXIT_MEMORY;
}

int engine_open_session(struct engine *e, int lanes)
{
    steno_session_params p;
    steno_error err = { 0 };
    steno_session_params_init(&p);
    p.max_lanes = lanes;
    p.batch = e->batch;
    p.draft_model = e->batch ? NULL : e->draft;
    const int rc = steno_session_open(&e->session, e->model, e->team, &p, &err);
    if (rc == STENO_EARG && p.draft_model) return message_usage("--draft: %s", err.text);
    return rc == STENO_OK ? EXIT_OK : message_model_error(NULL, rc, err.text);
}

int engine_batch(struct engine *e, const steno_batch_params *p)
{
    steno_error err = { 0 };
    const int rc = steno_batch_open(&e->batch, e->model, e->team, p, &err);
    if (rc == STENO_EARG && p->draft_model) return message_usage("--draft: %s", err.text);
    return rc == STENO_OK ? EXIT_OK : message_model_error(NULL, rc, err.text);
}

int engine_was_read(const steno_model *m, const char *path)
{
    const size_t n = strlen(path);
    const char *file;
    for (int i = 0; (file = steno_model_file(m, i)) != NULL; i++)
        if (!strncmp(file, path, n)) return 1;
    return 0;
}

/* Check for options that need something the model does not have. @return EXIT_OK, or EXIT_USAGE after a message */
static int check_given(const struct engine *e, const struct engine_opts *o, const steno_model_params *p)
{
    steno_model_info i = { .size = sizeof i };
    if (!o->given || steno_model_info_get(e->model, &i)) return EXIT_OK;
    const int carries = strncmp(i.format, "whisper.cpp", 11) == 0; /* it has its own vocabulary, and --vocab is not read */
    if (o->vocab && i.n_vocab && (carries || !engine_was_read(e->model, o->vocab)))
        return message_usage("--vocab is for models without a vocabulary; this %s model has its own: leave it out", i.family);
    struct args_given given = *o->given;
    if (o->cmvn_apart) option_forget(&given, "cmvn");
    return option_check(&given, e->model, STENO_CALL_OPEN, p);
}

int engine_enter(struct path_guard *l, const char *what, const steno_model *m)
{
    const char *file;
    int code = EXIT_OK;
    for (int i = 0; code == EXIT_OK && (file = steno_model_file(m, i)) != NULL; i++) code = path_guard_code_read(l, what, file);
    return code;
}

/* Uses the main model's arithmetic, so that both models can share an encoder. */
static int open_draft(struct engine *e, const struct engine_opts *o, const steno_model_params *like)
{
    steno_model_params p = *like;
    struct model_found at = { 0 };
    const struct model_choice choice = { .name = o->draft, .vocab = o->vocab, .quiet = 1 };
    p.verify = 0;
    p.alignment_heads = NULL;
    p.share_with = e->model;
    int code = models_open(&e->draft, &at, &choice, &p);
    if (code == EXIT_OK) code = engine_enter(o->path_guard, "a file of the draft model", e->draft);
    free(at.path);
    free(at.vocab);
    return code;
}

static int is_bf16(const steno_model *m)
{
    steno_model_info i = { .size = sizeof i };
    return steno_model_info_get(m, &i) == STENO_OK && strcmp(i.compute, "bf16") == 0;
}

int engine_open(struct engine *e, const struct engine_opts *o, int lanes)
{
    steno_model_params p;
    struct model_found at = { 0 };
    struct model_choice choice = { o->model, o->vocab, o->demo, o->quiet, o->given, STENO_COMPUTE_AUTO };
    memset(e, 0, sizeof *e);
    int code = engine_model_params(&p, o);
    if (code == EXIT_OK && o->device == DEVICE_GPU && !o->quiet)
        message("note: --device gpu: no kernels for GPUs in this version; computing on the processor");
    if (code == EXIT_OK) code = engine_team(&e->team, o);
    p.team = e->team;
    if (o->cmvn_apart) p.no_cmvn = 0;
    if (code == EXIT_OK && o->measured) choice.auto_compute = auto_compute(o->cpu);
    if (code == EXIT_OK) code = models_open(&e->model, &at, &choice, &p);
    e->path = at.path;
    e->vocab = at.vocab;
    if (code == EXIT_OK && at.compute != p.compute && !o->quiet && is_bf16(e->model))
        message("note: --compute auto is bf16 here, by the figures that \"steno doctor\" prints");
    if (code == EXIT_OK) p.compute = at.compute;
    if (code == EXIT_OK) code = engine_enter(o->path_guard, "a file of the model", e->model);
    if (code == EXIT_OK) code = check_given(e, o, &p);
    if (code == EXIT_OK && o->draft) code = open_draft(e, o, &p);
    if (code == EXIT_OK && lanes) code = engine_open_session(e, lanes);
    if (code != EXIT_OK) engine_close(e);
    return code;
}

/* The typed name, or the name of the file or folder. */
static char *model_name(const char *typed, const char *path)
{
    struct stat st;
    if (typed && stat(typed, &st)) return out_part(typed);
    char *folder = stat(path, &st) == 0 && S_ISDIR(st.st_mode) ? strdup(path) : NULL;
    for (size_t n = folder ? strlen(folder) : 0; n > 1 && folder[n - 1] == '/'; n--) folder[n - 1] = '\0';
    const char *slash = folder ? strrchr(folder, '/') : NULL;
    char *stem = folder ? NULL : out_stem(path), *name = folder ? out_part(slash ? slash + 1 : folder) : stem ? out_part(stem) : NULL;
    free(folder);
    free(stem);
    return name;
}

int engine_name(char **name, const struct engine *e, const struct engine_opts *o)
{
    *name = e->path ? model_name(o->model, e->path) : NULL;
    if (*name || !e->path) return EXIT_OK;
    message("out of memory for the name of the model");
    return EXIT_MEMORY;
}

int engine_beside(steno_model **out, const char *path, const char *what, const struct engine *e, const struct engine_opts *o)
{
    steno_model_params p;
    struct model_found at = { 0 };
    const struct model_choice choice = { .name = path, .quiet = 1 };
    int code = engine_model_params(&p, o);
    p.team = e->team;
    p.compute = STENO_COMPUTE_AUTO;
    p.verify = p.no_cmvn = p.text_ctx = p.kv_type = p.gelu = p.decoder_type = 0;
    p.alignment_heads = NULL;
    if (code == EXIT_OK) code = models_open(out, &at, &choice, &p);
    free(at.path);
    free(at.vocab);
    return code == EXIT_OK ? engine_enter(o->path_guard, what, *out) : code;
}

void engine_close(struct engine *e)
{
    steno_session_close(e->session);
    steno_batch_close(e->batch);
    steno_model_close(e->model);
    steno_model_close(e->draft);
    steno_team_close(e->team);
    free(e->path);
    free(e->vocab);
    memset(e, 0, sizeof *e);
}
