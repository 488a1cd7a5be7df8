/* steno-serve: JSON values as Python's json.dumps spells them. SPDX-License-Identifier: MIT
 *
 * Chat models were trained on such texts: a space after "," and ":", characters as they are, numbers as in Python's repr. */
#ifndef STENO_SERVE_JSON_TEXT_H
#define STENO_SERVE_JSON_TEXT_H
#include "sink.h"
#include <jansson.h>

void put_json_text(struct sink *f, const json_t *v);
#endif
