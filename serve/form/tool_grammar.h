/* steno-serve: the grammar of answers that call tools. SPDX-License-Identifier: MIT
 *
 * A call is <tool_call>, a line with its JSON, </tool_call>; calls are on lines of their own. */
#ifndef STENO_SERVE_TOOL_GRAMMAR_H
#define STENO_SERVE_TOOL_GRAMMAR_H
#include "ask_tools.h"

/* What the prompt leaves to the answer: no thoughts, thoughts that may come first, or thoughts that have begun. */
enum tool_thoughts { THOUGHTS_NONE, THOUGHTS_MAY, THOUGHTS_OPEN };

/* Sets the schema and the grammar of tools that are held: of one call of a tool that is allowed, with its name and arguments of its schema,
 * and of the whole answer. With TOOLS_AUTO calls may follow a text. Parameters that may be no object are refused. @return API_OK or a
 * code */
int tool_grammar_make(struct ask_tools *t, enum tool_thoughts thoughts, struct api_error *e);
#endif
