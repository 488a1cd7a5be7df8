/* steno: the patterns that cut text into pieces before tokens are made. SPDX-License-Identifier: MIT
 *
 * A pattern belongs to a vocabulary: its file names it (GGUF's tokenizer.ggml.pre, in words of its own), or it is known to have been
 * made with it. */
#ifndef STENO_TEXT_PRETOKENIZER_H
#define STENO_TEXT_PRETOKENIZER_H

/* As Perl-compatible patterns: "gpt2"; "gpt2-digits-1", the same of what lies between digits, each of which is a piece (SmolLM); "digits-1"
 * and "digits-3", newer ones (of Qwen, of Llama 3) that take numbers apart into pieces of so many digits. NULL: unknown. */
const char *pretokenizer_pattern(const char *name);
#endif
