/* steno: level avxvnni in instructions of AVX-512. SPDX-License-Identifier: MIT
 *
 * The same file, compiled for VPDPBUSD as AVX512-VNNI writes it, so that its body is checked on processors that have only that. */
#include "doubles.h"
#define kern_init_avxvnni kern_init_avxvnni_evex
#include "kern/x86/kern_avxvnni.c"
