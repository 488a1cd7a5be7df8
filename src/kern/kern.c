/* steno: filling the kernel table. SPDX-License-Identifier: MIT
 *
 * The plain C twins are set first. Then the levels that the requested level includes, and the level itself, override the kernels that they
 * do better. */
#include "base/os.h"
#include "kern/ref.h"

enum {
    CACHE_USUAL = 512 << 10, /* used if the system does not report it */
    LOWP_ROWS = 96         /* of a slice of rounded rows; more are not faster, and fewer slices are shared less evenly */
};

void kern_init(struct kern *k, int level)
{
    kern_init_c(k);
#define LEVEL(NAME, name, gains) if (cpu_level_includes(level, CPU_##NAME)) kern_init_##name(k);
    EACH_CPU_LEVEL(LEVEL)
#undef LEVEL
    k->level = level;
    k->cache = os_cache(2);
    if (!k->cache) k->cache = CACHE_USUAL;
}

static int has_tiles(int level)
{
#if defined(__x86_64__)
    return level >= CPU_AMX;
#else
    return (void)level, 0;
#endif
}

struct slices kern_slices(const struct kern *k, enum packed_type t, size_t n_k)
{
    const int lowp = packed_is_lowp(t);
    const int tiles = lowp && has_tiles(k->level);
    const size_t tile = tiles ? 32 : 12, step = lowp && !tiles ? 2 : tile, max = lowp ? LOWP_ROWS : GEMM_ROWS, min = 2 * tile;
    /* bytes of a rounded row: by blocks the whole row, otherwise only its numbers */
    const size_t by_blocks = (x_ld(x_words(t, n_k, 1)) - 16) * sizeof(uint32_t);
    const size_t row = !lowp ? K_BLOCK * sizeof(float) : packed_by_blocks(t) ? by_blocks : t == PK_I8_QUAD ? n_k : 2 * n_k;
    const size_t rows = size_min(k->cache / 2, LOWP_WORDS * sizeof(uint32_t)) / (row + 64);
    return (struct slices){ tile, step, min, rows >= max ? max : rows <= min ? min : rows - rows % tile };
}

enum { GAIN_BF16 = 1, GAIN_I16 = 2, GAIN_I8 = 4, GAIN_BLOCKS = 8, GAIN_ATTN_I8 = 16, GAIN_ATTN_INT = 32 };

static const uint8_t gains_of[CPU_LEVELS] = {
    [CPU_C] = 0,
#define LEVEL(NAME, name, gains) [CPU_##NAME] = gains,
    EACH_CPU_LEVEL(LEVEL)
#undef LEVEL
};

int kern_gains_attn(int level, enum kv_type t)
{
    if (t == KV_INT) return (gains_of[level] & (GAIN_I8 | GAIN_ATTN_INT)) != 0;
    return kv_is_run(t) && gains_of[level] & (t == KV_I8 ? GAIN_ATTN_I8 : GAIN_I16);
}

int kern_gains(int level, enum packed_type t)
{
    if (t == PK_BF16_PAIR) return (gains_of[level] & GAIN_BF16) != 0;
    if (t == PK_I16_PAIR) return (gains_of[level] & GAIN_I16) != 0;
    if (t == PK_I8_QUAD || t == PK_Q8_QUAD_A8) return (gains_of[level] & GAIN_I8) != 0;
    return packed_by_blocks(t) && gains_of[level] & GAIN_BLOCKS;
}

/* Whether t is computed by the plain C twin. Of low-precision types it processes one row at a time. */
static int is_twin(const struct kern *k, enum packed_type t)
{
    struct kern c;
    kern_init_lowp_c(&c);
    kern_init_linear_c(&c);
    return k->linear[t] == c.linear[t];
}

/* The most rows of x that a call has in scratch at a time. Tiles read whole tiles, and pairs of rows are interleaved. */
static size_t x_rows(const struct kern *k, enum packed_type t, size_t rows)
{
    const size_t step = has_tiles(k->level) ? TILE_ROWS_MAX : 2;
    return is_twin(k, t) ? 1 : size_min(GEMM_ROWS + 4, (rows + step - 1) / step * step);
}

_Static_assert((GEMM_ROWS + 4) % TILE_ROWS_MAX == 0, "whole tiles");
_Static_assert(sizeof(struct lowp_scratch) > (PANEL_GROUP * GEMM_ROWS + K_BLOCK) * PANEL * sizeof(float), "what is enough for each type");

size_t kern_linear_scratch(const struct kern *k, enum packed_type t, size_t n_k, size_t rows)
{
    if (packed_is_lowp(t)) {
        const size_t words = size_min(LOWP_WORDS, x_rows(k, t, rows) * x_ld(x_words(t, n_k, k->quad_steps)));
        if (t == PK_I16_PAIR && k->ints_panel_sz)
            return offsetof(struct lowp_scratch, x) + ints_panel_at(words) * sizeof(uint32_t) + k->ints_panel_sz;
        return offsetof(struct lowp_scratch, x) + (words + X_SLACK) * sizeof(uint32_t);
    }
    if (is_twin(k, t)) return sizeof(struct linear_c_scratch);
    return (linear_acc_floats(rows) + linear_wide_floats(t, n_k)) * sizeof(float);
}

size_t kern_linear_scratch_max(void) { return sizeof(struct lowp_scratch) + 64 + sizeof(struct ints_panel); }

size_t kv_block_sz(enum kv_type t, size_t d_head)
{
    if (kv_is_run(t)) return pack_panel_sz(kv_run_packed(t), d_head) + pack_panels(d_head) * pack_panel_sz(kv_run_packed(t), KV_BLOCK);
    return kv_is_ints(t) ? d_head / KV_INT_D * (key_group_sz(t) + VALUE_GROUP_SZ) : 2 * KV_BLOCK * d_head * kv_elem_sz(t);
}

void kv_get_f32(float *k, float *v, const struct kv_view *kv, uint32_t pos, size_t d_head)
{
    const float *block = (const float *)(const void *)kv_block_at(kv, pos / KV_BLOCK);
    for (size_t d = 0; d < d_head; d++) k[d] = block[kv_key_at(KV_F32, pos % KV_BLOCK, d)];
    memcpy(v, block + kv_value_at(KV_F32, pos % KV_BLOCK, 0, d_head), d_head * sizeof *v);
}

size_t kern_attn_scratch(const struct kern *k, enum kv_type t, size_t d_head)
{
    struct kern c;
    kern_init_attn_c(&c);
    if (k->attn[t] == c.attn[t]) return offsetof(struct attn_scratch, score); /* the plain C twin uses only partials */
    if (t == KV_F32) return offsetof(struct attn_scratch, k_wide);
    if (t == KV_F16) return offsetof(struct attn_scratch, v_wide) + ATTN_KEYS * d_head * sizeof(float);
    return kv_is_ints(t) ? offsetof(struct attn_scratch, q_int) + sizeof(uint32_t[ATTN_ROWS * Q_INT_LD])
                         : offsetof(struct attn_scratch, q) + sizeof(uint32_t[ATTN_ROWS * Q_LD]);
}

size_t kern_attn_run_scratch(const struct kern *k, enum kv_type t, size_t n_keys)
{
    if (has_tiles(k->level)) return sizeof(struct attn_run_tiles_scratch) + run_tile_words(kv_run_packed(t), n_keys) * sizeof(uint32_t);
    enum { ROWS = 12, HEAD = 2 * 16 + RUN_KEYS_MAX / RUN_GROUP + 2 * ROWS * PANEL + ROWS * RUN_Q_LD };
    return (HEAD + ROWS * run_score_ld(kv_run_packed(t), n_keys)) * sizeof(float);
}

size_t kern_attn_rel_run_scratch(size_t n_keys)
{
    return sizeof(struct attn_rel_run_scratch) + REL_ROWS * rel_run_ld(PK_I16_PAIR, n_keys) * sizeof(uint32_t);
}

size_t kern_attn_scratch_max(void) { return sizeof(struct attn_scratch); }

size_t kern_spectra_scratch(uint32_t n)
{
    return (n + SPECTRA_ROWS * spectra_row(n / SPECTRA_RADIX)) * SPECTRA_LANES * sizeof(float);
}
