/* steno: patterns that cut text into pieces before tokenization. SPDX-License-Identifier: MIT
 *
 * A pattern belongs to a vocabulary. The vocabulary's file names it (GGUF's tokenizer.ggml.pre, with names of its own), or it is known from
 * the vocabulary's training. */
#ifndef STENO_TEXT_PRETOKENIZER_H
#define STENO_TEXT_PRETOKENIZER_H

/* Perl-compatible patterns. "gpt2"; "gpt2-digits-1", the same for the text between digits, with each digit a piece (SmolLM); "digits-1" and
 * "digits-3", newer ones (of Qwen, of Llama 3) that split numbers into pieces of at most 1 or 3 digits. NULL: unknown name. */
const char *pretokenizer_pattern(const char *name);
#endif
