/* steno: weights in hot-word files of other programs. SPDX-License-Identifier: MIT */
#ifndef STENO_TOOLS_HOTWORD_LINES_H
#define STENO_TOOLS_HOTWORD_LINES_H

enum hotword_weights {
    HOTWORDS_PLAIN,    /* no weights */
    HOTWORDS_WEIGHTED, /* weights were removed from the text */
    HOTWORDS_REFUSED   /* a weight is 0 or less, or has no word */
};
/* Read a text with one word per line, without surrounding blanks and empty lines, and remove weights in place. Two forms are known.
 * "WORD :2.0" (sherpa-onnx) may occur on any line. "WORD 20" (FunASR) counts only if every line ends with a whole number; otherwise the
 * number is part of the word ("iPhone 15"). A number before a colon is part of the word, too ("iPhone 15 :2").
 * @param line  receives the number of the refused line, from 1 */
enum hotword_weights hotword_weights_cut(char *text, int *line);
#endif
