/* steno: the verbs. SPDX-License-Identifier: MIT
 *
 * A verb receives its own arguments, without its name, and returns the program's exit code. */
#ifndef STENO_TOOLS_CMD_H
#define STENO_TOOLS_CMD_H

int cmd_transcribe(int argc, char **argv);
int cmd_translate(int argc, char **argv);
int cmd_batch(int argc, char **argv);
int cmd_align(int argc, char **argv);
int cmd_detect(int argc, char **argv);
int cmd_vad(int argc, char **argv);
int cmd_stream(int argc, char **argv);
int cmd_serve(int argc, char **argv);
int cmd_tokenize(int argc, char **argv);
int cmd_punctuate(int argc, char **argv);
int cmd_generate(int argc, char **argv);
int cmd_chat(int argc, char **argv);
int cmd_embed(int argc, char **argv);
int cmd_search(int argc, char **argv);
int cmd_convert(int argc, char **argv);
int cmd_quantize(int argc, char **argv);
int cmd_models(int argc, char **argv);
int cmd_info(int argc, char **argv);
int cmd_doctor(int argc, char **argv);
int cmd_compare(int argc, char **argv);
int cmd_bench(int argc, char **argv);
int cmd_lint_subs(int argc, char **argv);
int cmd_completions(int argc, char **argv);
int cmd_install_dialects(int argc, char **argv);

/* The options of each verb. */
struct args;
extern const struct args transcribe_args, translate_args, batch_args, align_args, detect_args, vad_args, tokenize_args, punctuate_args,
    chat_args, generate_args, embed_args, search_args, convert_args, quantize_args, models_args, info_args, bench_args, compare_args,
    doctor_args, lint_subs_args, stream_args, serve_args, completions_args, install_dialects_args;
#endif
