/* steno tests: the names of AVX-512. SPDX-License-Identifier: MIT
 *
 * Each intrinsic that kern/x86 uses is the function of avx512_emulated.h. Some compilers have macros for a few of them. */
#ifndef STENO_TESTS_KERNELS_NAMES_EMULATED_H
#define STENO_TESTS_KERNELS_NAMES_EMULATED_H
#undef _mm512_abs_ps
#undef _mm512_add_epi16
#undef _mm512_add_epi32
#undef _mm512_add_ps
#undef _mm512_and_si512
#undef _mm512_broadcast_i32x4
#undef _mm512_castpd_ps
#undef _mm512_castps_pd
#undef _mm512_castps_si512
#undef _mm512_castsi256_si512
#undef _mm512_castsi512_ps
#undef _mm512_castsi512_si256
#undef _mm512_cmp_ps_mask
#undef _mm512_cvtepi16_epi8
#undef _mm512_cvtepi32_epi16
#undef _mm512_cvtepi32_epi8
#undef _mm512_cvtepi32_ps
#undef _mm512_cvtepi8_epi32
#undef _mm512_cvtepu16_epi32
#undef _mm512_cvtepu8_epi32
#undef _mm512_cvtph_ps
#undef _mm512_cvtps_epi32
#undef _mm512_cvtps_ph
#undef _mm512_cvtusepi32_epi8
#undef _mm512_div_ps
#undef _mm512_dpbusd_epi32
#undef _mm512_dpwssd_epi32
#undef _mm512_fmadd_ps
#undef _mm512_fnmadd_ps
#undef _mm512_inserti64x4
#undef _mm512_loadu_ps
#undef _mm512_loadu_si512
#undef _mm512_madd_epi16
#undef _mm512_maddubs_epi16
#undef _mm512_mask_add_ps
#undef _mm512_mask_mov_ps
#undef _mm512_mask_storeu_ps
#undef _mm512_maskz_compress_epi64
#undef _mm512_maskz_loadu_ps
#undef _mm512_maskz_mov_ps
#undef _mm512_max_epu32
#undef _mm512_max_ps
#undef _mm512_min_ps
#undef _mm512_mul_ps
#undef _mm512_or_si512
#undef _mm512_permutexvar_ps
#undef _mm512_reduce_add_epi32
#undef _mm512_reduce_add_ps
#undef _mm512_reduce_max_epu32
#undef _mm512_reduce_max_ps
#undef _mm512_reduce_ps
#undef _mm512_scalef_ps
#undef _mm512_set1_epi16
#undef _mm512_set1_epi32
#undef _mm512_set1_epi8
#undef _mm512_set1_ps
#undef _mm512_setr_ps
#undef _mm512_setzero_ps
#undef _mm512_setzero_si512
#undef _mm512_shuffle_epi32
#undef _mm512_shuffle_epi8
#undef _mm512_shuffle_f32x4
#undef _mm512_slli_epi16
#undef _mm512_slli_epi32
#undef _mm512_srai_epi16
#undef _mm512_srai_epi32
#undef _mm512_srli_epi16
#undef _mm512_srli_epi32
#undef _mm512_storeu_ps
#undef _mm512_storeu_si512
#undef _mm512_sub_epi16
#undef _mm512_sub_epi32
#undef _mm512_sub_ps
#undef _mm512_ternarylogic_epi32
#undef _mm512_unpackhi_pd
#undef _mm512_unpackhi_ps
#undef _mm512_unpacklo_pd
#undef _mm512_unpacklo_ps
#undef _mm512_xor_si512
#define _mm512_abs_ps emu_abs_ps
#define _mm512_add_epi16 emu_add_epi16
#define _mm512_add_epi32 emu_add_epi32
#define _mm512_add_ps emu_add_ps
#define _mm512_and_si512 emu_and_si512
#define _mm512_broadcast_i32x4 emu_broadcast_i32x4
#define _mm512_castpd_ps emu_castpd_ps
#define _mm512_castps_pd emu_castps_pd
#define _mm512_castps_si512 emu_castps_si512
#define _mm512_castsi256_si512 emu_castsi256_si512
#define _mm512_castsi512_ps emu_castsi512_ps
#define _mm512_castsi512_si256 emu_castsi512_si256
#define _mm512_cmp_ps_mask emu_cmp_ps_mask
#define _mm512_cvtepi16_epi8 emu_cvtepi16_epi8
#define _mm512_cvtepi32_epi16 emu_cvtepi32_epi16
#define _mm512_cvtepi32_epi8 emu_cvtepi32_epi8
#define _mm512_cvtepi32_ps emu_cvtepi32_ps
#define _mm512_cvtepi8_epi32 emu_cvtepi8_epi32
#define _mm512_cvtepu16_epi32 emu_cvtepu16_epi32
#define _mm512_cvtepu8_epi32 emu_cvtepu8_epi32
#define _mm512_cvtph_ps emu_cvtph_ps
#define _mm512_cvtps_epi32 emu_cvtps_epi32
#define _mm512_cvtps_ph emu_cvtps_ph
#define _mm512_cvtusepi32_epi8 emu_cvtusepi32_epi8
#define _mm512_div_ps emu_div_ps
#define _mm512_dpbusd_epi32 emu_dpbusd_epi32
#define _mm512_dpwssd_epi32 emu_dpwssd_epi32
#define _mm512_fmadd_ps emu_fmadd_ps
#define _mm512_fnmadd_ps emu_fnmadd_ps
#define _mm512_inserti64x4 emu_inserti64x4
#define _mm512_loadu_ps emu_loadu_ps
#define _mm512_loadu_si512 emu_loadu_si512
#define _mm512_madd_epi16 emu_madd_epi16
#define _mm512_maddubs_epi16 emu_maddubs_epi16
#define _mm512_mask_add_ps emu_mask_add_ps
#define _mm512_mask_mov_ps emu_mask_mov_ps
#define _mm512_mask_storeu_ps emu_mask_storeu_ps
#define _mm512_maskz_compress_epi64 emu_maskz_compress_epi64
#define _mm512_maskz_loadu_ps emu_maskz_loadu_ps
#define _mm512_maskz_mov_ps emu_maskz_mov_ps
#define _mm512_max_epu32 emu_max_epu32
#define _mm512_max_ps emu_max_ps
#define _mm512_min_ps emu_min_ps
#define _mm512_mul_ps emu_mul_ps
#define _mm512_or_si512 emu_or_si512
#define _mm512_permutexvar_ps emu_permutexvar_ps
#define _mm512_reduce_add_epi32 emu_reduce_add_epi32
#define _mm512_reduce_add_ps emu_reduce_add_ps
#define _mm512_reduce_max_epu32 emu_reduce_max_epu32
#define _mm512_reduce_max_ps emu_reduce_max_ps
#define _mm512_reduce_ps emu_reduce_ps
#define _mm512_scalef_ps emu_scalef_ps
#define _mm512_set1_epi16 emu_set1_epi16
#define _mm512_set1_epi32 emu_set1_epi32
#define _mm512_set1_epi8 emu_set1_epi8
#define _mm512_set1_ps emu_set1_ps
#define _mm512_setr_ps emu_setr_ps
#define _mm512_setzero_ps emu_setzero_ps
#define _mm512_setzero_si512 emu_setzero_si512
#define _mm512_shuffle_epi32 emu_shuffle_epi32
#define _mm512_shuffle_epi8 emu_shuffle_epi8
#define _mm512_shuffle_f32x4 emu_shuffle_f32x4
#define _mm512_slli_epi16 emu_slli_epi16
#define _mm512_slli_epi32 emu_slli_epi32
#define _mm512_srai_epi16 emu_srai_epi16
#define _mm512_srai_epi32 emu_srai_epi32
#define _mm512_srli_epi16 emu_srli_epi16
#define _mm512_srli_epi32 emu_srli_epi32
#define _mm512_storeu_ps emu_storeu_ps
#define _mm512_storeu_si512 emu_storeu_si512
#define _mm512_sub_epi16 emu_sub_epi16
#define _mm512_sub_epi32 emu_sub_epi32
#define _mm512_sub_ps emu_sub_ps
#define _mm512_ternarylogic_epi32 emu_ternarylogic_epi32
#define _mm512_unpackhi_pd emu_unpackhi_pd
#define _mm512_unpackhi_ps emu_unpackhi_ps
#define _mm512_unpacklo_pd emu_unpacklo_pd
#define _mm512_unpacklo_ps emu_unpacklo_ps
#define _mm512_xor_si512 emu_xor_si512
#endif
