/* steno: the verbs. SPDX-License-Identifier: MIT
 *
 * A verb gets its own arguments (the verb's name is not among them) and returns the program's exit code. */
#ifndef STENO_TOOLS_CMD_H
#define STENO_TOOLS_CMD_H

int cmd_transcribe(int argc, char **argv);
int cmd_translate(int argc, char **argv);
int cmd_align(int argc, char **argv);
int cmd_detect(int argc, char **argv);
int cmd_vad(int argc, char **argv);
int cmd_tokenize(int argc, char **argv);
int cmd_punctuate(int argc, char **argv);
int cmd_generate(int argc, char **argv);
int cmd_chat(int argc, char **argv);
int cmd_embed(int argc, char **argv);
int cmd_search(int argc, char **argv);
int cmd_convert(int argc, char **argv);
int cmd_quantize(int argc, char **argv);
int cmd_info(int argc, char **argv);
int cmd_doctor(int argc, char **argv);
int cmd_compare(int argc, char **argv);
int cmd_bench(int argc, char **argv);
#endif
