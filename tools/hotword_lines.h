/* steno: weights behind hot words, as other programs' files have them. SPDX-License-Identifier: MIT */
#ifndef STENO_TOOLS_HOTWORD_LINES_H
#define STENO_TOOLS_HOTWORD_LINES_H

enum hotword_weights {
    HOTWORDS_PLAIN,    /* there are none */
    HOTWORDS_WEIGHTED, /* there were some, which are gone from the text */
    HOTWORDS_REFUSED   /* a weight is 0 or less, or is all that its line has */
};
/* Words, one a line, without blanks around them and without empty lines; weights are taken off in place. Two forms of them are known:
 * "WORD :2.0" (sherpa-onnx), whatever other lines have, and "WORD 20" (FunASR), where every line of the text ends with a whole number;
 * where one does not, a number is a part of its word ("iPhone 15"), and it is where a colon follows ("iPhone 15 :2").
 * @param line  receives the number of the line that is refused, from 1 */
enum hotword_weights hotword_weights_cut(char *text, int *line);
#endif
