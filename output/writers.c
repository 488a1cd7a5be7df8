/* steno: the list of formats. SPDX-License-Identifier: MIT */
#include "writers.h"
#include "write.h"

const struct writer writers[] = {
    { "txt", "txt", write_txt, 1, NULL, NULL },
    { "srt", "srt", write_srt, 1, NULL, NULL },
    { "vtt", "vtt", write_vtt, 1, NULL, NULL },
    { "tsv", "tsv", write_tsv, 1, NULL, NULL },
    { "json", "json", write_json, 0, NULL, NULL },
    { "verbose_json", "verbose_json", write_verbose_json, 0, NULL, NULL },
    { "jsonl", "jsonl", write_jsonl, 1, write_jsonl_job, write_jsonl_sums },
    { "csv", "csv", write_csv, 1, NULL, NULL },
    { "lrc", "lrc", write_lrc, 1, NULL, NULL },
    { "wts", "wts", write_wts, 1, NULL, NULL },
    { "ass", "ass", write_ass, 1, NULL, NULL },
    { "score", "score.txt", write_score, 1, NULL, NULL },
    { "json_full", "json_full", write_json_full, 0, NULL, NULL },
    { "funasr", "funasr.json", write_funasr, 0, NULL, NULL },
    { NULL, NULL, NULL, 0, NULL, NULL },
};
