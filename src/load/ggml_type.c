/* steno: the numbers by which ggml's files name types. SPDX-License-Identifier: MIT
 *
 * A tensor and a file use different numbers for the same type, and ours are others again: this table is the only place that knows. */
#include "load/ggml_type.h"

static const struct { int32_t file, tensor; } code[DT_COUNT] = {
    [DT_F32] = { 0, 0 },    [DT_F16] = { 1, 1 },    [DT_BF16] = { -1, 30 },
    [DT_Q4_0] = { 2, 2 },   [DT_Q4_1] = { 3, 3 },   [DT_Q5_0] = { 8, 6 },   [DT_Q5_1] = { 9, 7 },   [DT_Q8_0] = { 7, 8 },
    [DT_Q2_K] = { 10, 10 }, [DT_Q3_K] = { 11, 11 }, [DT_Q4_K] = { 12, 12 }, [DT_Q5_K] = { 13, 13 }, [DT_Q6_K] = { 14, 14 },
};

int32_t ggml_type_code(enum dtype t)
{
    return code[t].tensor;
}

int32_t ggml_ftype_code(enum dtype t)
{
    return code[t].file;
}

enum dtype ggml_type_find(int32_t number)
{
    int t = 0;
    while (t < DT_COUNT && code[t].tensor != number) t++;
    return (enum dtype)t;
}

enum dtype ggml_ftype_find(int32_t number)
{
    int t = 0;
    while (t < DT_COUNT && code[t].file != number) t++;
    return (enum dtype)t;
}
