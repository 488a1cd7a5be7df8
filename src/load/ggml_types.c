/* steno: type numbers in ggml's files. SPDX-License-Identifier: MIT
 *
 * ggml numbers the types of tensors and of files differently, and both differ from enum dtype. Only this table maps them. */
#include "load/ggml.h"

enum { IQ4_NL = 20 };

static const struct { int32_t file, tensor; } ggml_code[DT_COUNT] = {
    [DT_F32] = { 0, 0 },    [DT_F16] = { 1, 1 },    [DT_BF16] = { -1, 30 },
    [DT_Q4_0] = { 2, 2 },   [DT_Q4_1] = { 3, 3 },   [DT_Q5_0] = { 8, 6 },   [DT_Q5_1] = { 9, 7 },   [DT_Q8_0] = { 7, 8 },
    [DT_Q2_K] = { 10, 10 }, [DT_Q3_K] = { 11, 11 }, [DT_Q4_K] = { 12, 12 }, [DT_Q5_K] = { 13, 13 }, [DT_Q6_K] = { 14, 14 },
    [DT_IQ4_XS] = { 22, 23 }, [DT_Q4_1F] = { -1, -1 }, [DT_Q8_1F] = { -1, -1 },
};

static const char removed[] = "read by no program any more", unread[] = "not read by this version", inner[] = "no type of weights";
static const struct ggml_other others[] = {
    { 4, "Q4_2", 0, removed },        { 5, "Q4_3", 0, removed },        { 31, "Q4_0_4_4", 0, removed }, { 32, "Q4_0_4_8", 0, removed },
    { 33, "Q4_0_8_8", 0, removed },   { 36, "IQ4_NL_4_4", 0, removed }, { 37, "IQ4_NL_4_8", 0, removed }, { 38, "IQ4_NL_8_8", 0, removed },
    { 9, "Q8_1", 0, inner },          { 15, "Q8_K", 0, inner },         { 16, "IQ2_XXS", 0, unread },   { 17, "IQ2_XS", 0, unread },
    { 18, "IQ3_XXS", 0, unread },     { 19, "IQ1_S", 0, unread },       { 21, "IQ3_S", 0, unread },     { 22, "IQ2_S", 0, unread },
    { 24, "I8", 1, unread },          { 25, "I16", 2, unread },         { 26, "I32", 4, unread },       { 27, "I64", 8, unread },
    { 28, "F64", 0, unread },         { 29, "IQ1_M", 0, unread },       { 34, "TQ1_0", 0, unread },     { 35, "TQ2_0", 0, unread },
};

const struct ggml_other *ggml_other_find(int32_t number)
{
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (others[i].code == number) return &others[i];
    return NULL;
}

enum tensor_form ggml_form_find(int32_t number)
{
    return number == IQ4_NL ? FORM_IQ4_NL : number == 39 ? FORM_MXFP4 : FORM_STORED;
}

int32_t ggml_type_code(enum dtype t)
{
    if (t == DT_IQ4_NL) return IQ4_NL;
    return ggml_code[t].tensor;
}

int32_t ggml_ftype_code(enum dtype t)
{
    return ggml_code[t].file;
}

enum dtype ggml_type_find(int32_t number)
{
    int t = 0;
    while (t < DT_COUNT && (number < 0 || ggml_code[t].tensor != number)) t++;
    return (enum dtype)t;
}

enum dtype ggml_ftype_find(int32_t number)
{
    int t = 0;
    while (t < DT_COUNT && (number < 0 || ggml_code[t].file != number)) t++;
    return (enum dtype)t;
}
