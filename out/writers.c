/* steno: the formats. SPDX-License-Identifier: MIT */
#include "writers.h"
#include "write.h"

const struct writer writers[] = {
    { "txt", "txt", write_txt, 1 },
    { "srt", "srt", write_srt, 1 },
    { "vtt", "vtt", write_vtt, 1 },
    { "tsv", "tsv", write_tsv, 1 },
    { "json", "json", write_json, 0 },
    { "verbose_json", "verbose_json", write_verbose_json, 0 },
    { "jsonl", "jsonl", write_jsonl, 1 },
    { "csv", "csv", write_csv, 1 },
    { "lrc", "lrc", write_lrc, 1 },
    { "wts", "wts", write_wts, 1 },
    { "ass", "ass", write_ass, 1 },
    { "score", "score.txt", write_score, 1 },
    { "json_full", "json_full", write_json_full, 0 },
    { "funasr", "funasr.json", write_funasr, 0 },
    { NULL, NULL, NULL, 0 },
};
