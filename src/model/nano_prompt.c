/* steno: Fun-ASR-Nano: its prompt and its output. SPDX-License-Identifier: MIT
 *
 * The bytes are those of its training (FunASR 1.4, funasr/models/fun_asr_nano/model.py, get_prompt and generate_chatml): ChatML with a task
 * in Chinese. */
#include <stdio.h>
#include <string.h>
#include "base/buf.h"
#include "model/nano.h"
#include "text/tokenizer.h"

/* Names of languages in the prompt. The small model has the first three, the multilingual one has all. */
static const struct { const char *code, *name; } languages[] = {
    { "zh", "中文" }, { "en", "英文" }, { "ja", "日文" }, { "yue", "粤语" }, { "ko", "韩文" }, { "vi", "越南语" }, { "id", "印尼语" },
    { "th", "泰语" }, { "ms", "马来语" }, { "tl", "菲律宾语" }, { "ar", "阿拉伯语" }, { "hi", "印地语" }, { "bg", "保加利亚语" },
    { "hr", "克罗地亚语" }, { "cs", "捷克语" }, { "da", "丹麦语" }, { "nl", "荷兰语" }, { "et", "爱沙尼亚语" }, { "fi", "芬兰语" },
    { "el", "希腊语" }, { "hu", "匈牙利语" }, { "ga", "爱尔兰语" }, { "lv", "拉脱维亚语" }, { "lt", "立陶宛语" }, { "mt", "马耳他语" },
    { "pl", "波兰语" }, { "pt", "葡萄牙语" }, { "ro", "罗马尼亚语" }, { "sk", "斯洛伐克语" }, { "sl", "斯洛文尼亚语" },
    { "sv", "瑞典语" },
};
enum { N_KNOWN = sizeof languages / sizeof *languages };

/* Adds a language given by its code, its English name, or the prompt's name. */
static int add_language(struct buf *p, const char *language, steno_error *e)
{
    const int index = language_find(language);
    const char *code = index < 0 ? language : language_code(index);
    for (int i = 0; i < N_KNOWN; i++)
        if (!strcmp(language, languages[i].name) || !strcmp(code, languages[i].code)) {
            buf_fmt(p, "成%s", languages[i].name);
            return STENO_OK;
        }
    char known[4 * N_KNOWN + 1] = "";
    for (int i = 0; i < N_KNOWN; i++) snprintf(known + strlen(known), sizeof known - strlen(known), " %s", languages[i].code);
    return err_set(e, STENO_EARG, "language '%.40s' is not one that the model is asked for by name; auto%s are", language, known);
}

static void add_words(struct buf *p, const char *words)
{
    static const char before[] = "请结合上下文信息，更加准确地完成语音转写任务。如果没有相关信息，我们会留空。\n\n\n**上下文信息：**\n\n\n热词列表：[";
    if (audio_lm_add_words(p, words, before)) buf_str(p, "]\n");
}

/* Adds the task after the system message. */
static int add_task(struct buf *p, const struct audio_lm_options *q, steno_error *e)
{
    if (q->hotwords) add_words(p, q->hotwords);
    buf_str(p, "语音转写");
    const int rc = q->language && !language_is_auto(q->language) ? add_language(p, q->language, e) : STENO_OK;
    buf_str(p, q->itn ? "：" : "，不进行文本规整：");
    return rc;
}

/* Chat markers are recognised only in the template, never in the user's text. The ids are those of the whole text. */
static int nano_prompt(const steno_model *m, const struct audio_lm_options *q, struct buf *before, struct buf *behind, steno_error *e)
{
    static const char first[] = "<|im_start|>system\nYou are a helpful assistant.<|im_end|>\n<|im_start|>user\n";
    static const char last[] = "<|im_end|>\n<|im_start|>assistant\n";
    struct buf task = { 0 };
    if (!m->lm.tokenizer) return err_set(e, STENO_EARG, "the model has no tokenizer: its file carries none, and none lies beside it");
    buf_str(&task, first);
    int rc = add_task(&task, q, e);
    if (!rc && task.err) rc = err_nomem(e, task.len, "a prompt");
    const struct token_part part[] = { { sizeof first - 1, 1 }, { task.len, 0 } };
    if (!rc) rc = tokenizer_encode_parts(m->lm.tokenizer, task.p, part, 2, 0, before, e);
    if (!rc) rc = tokenizer_encode(m->lm.tokenizer, last, sizeof last - 1, TOKENIZE_SPECIAL, behind, e);
    buf_free(&task);
    return rc;
}

/* Halves n three times, rounding up. */
static int32_t nano_rows(int32_t n)
{
    for (int i = 0; i < 3; i++) n = (n + 1) / 2;
    return n;
}

static int is_white(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Removes "/sil", which means silence, and reduces white space to single spaces. */
static void nano_text(const char *s, size_t n, const char *forced, struct buf *text, struct buf *language)
{
    (void)forced, (void)language;
    int space = 0;
    for (size_t i = 0; i < n;) {
        const int silent = n - i >= 4 && !memcmp(s + i, "/sil", 4);
        if (silent || is_white(s[i])) {
            space = 1;
            i += silent ? 4 : 1;
            continue;
        }
        if (space) buf_str(text, " ");
        space = 0;
        buf_add(text, s + i++, 1);
    }
    if (space) buf_str(text, " ");
}

const struct audio_lm nano_audio_lm = { .prompt = nano_prompt, .rows = nano_rows, .text = nano_text, .has_itn = 1 };
