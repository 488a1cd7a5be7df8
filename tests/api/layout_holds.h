/* steno tests: layout.h holds for the processor that this is compiled for. SPDX-License-Identifier: MIT
 *
 * Needs the public headers only, so compilers for other processors check it where no program is run. */
#ifndef STENO_TESTS_API_LAYOUT_HOLDS_H
#define STENO_TESTS_API_LAYOUT_HOLDS_H
#include <stddef.h>
#include <stdint.h>
#include <steno/steno.h>
#include "layout.h"
#include <steno/live.h>
#include <steno/media.h>
#include <steno/output.h>

#if UINTPTR_MAX == UINT64_MAX
#define HOLDS_SIZE(type, sz) _Static_assert(sizeof(type) == (sz), #type " has another size");
#define HOLDS_PLACE(type, field, offset) _Static_assert(offsetof(type, field) == (offset), #type "." #field " is elsewhere");
EACH_PLACE(HOLDS_SIZE, HOLDS_PLACE)
#endif
#endif
