/* steno: options of other programs on steno's own command line. SPDX-License-Identifier: MIT
 *
 * Users of whisper.cpp, openai-whisper, faster-whisper's command lines or FunASR may type the options they know. Some would mean
 * something else here: "-osrt" a folder called "srt", "True" a file. So the words are checked before they are parsed. If one belongs to
 * another program, steno prints the equivalent steno command and does nothing else. */
#ifndef STENO_TOOLS_FOREIGN_H
#define STENO_TOOLS_FOREIGN_H
#include "cli/args.h"

enum other_cli_program { OTHER_WHISPER_CPP, OTHER_OPENAI, OTHER_FASTER, OTHER_FUNASR, N_OTHER_PROGRAMS };

/* An option of another program. Long names also match with _ for -, unless a row has exactly the typed word. */
struct other_word {
    const char *there; /* as typed there: "-osrt", "--fp16"; "++model=" and similar include the value in the same word */
    /* NULL: no value; "%": any value; FOREIGN_...: a value of that form; else exactly this value. Rows are tried in order */
    const char *value;
    /* steno's equivalent; % is the value, %ms the value in seconds; "": none needed; ":srt": an output format; ">": the value names the
     * results; "=detect": another verb; "!REASON": steno has no equivalent */
    const char *here;
    char program;      /* enum other_cli_program */
};

#define OTHER_PATH "\1"   /* contains a dot or a slash, or is - */
#define OTHER_ALONE "\2"  /* no value: the next word is an option or a sound, or there is none */
#define OTHER_NUMBER "\3"
#define OTHER_VAD "\4"    /* the path of a voice-activity model */

extern const struct other_word other_words[]; /* ends with a NULL name */

/* Check the words typed after `verb`. @return ARGS_RUN if no word belongs to another program, or EXIT_USAGE after a message */
int other_cli_check(const struct args *a, int argc, char **argv);
#endif
