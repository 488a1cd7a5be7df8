/* steno: words of other programs on steno's own command line. SPDX-License-Identifier: MIT
 *
 * Who comes from whisper.cpp, openai-whisper, the command lines of faster-whisper or FunASR types their options. Some of them would be read
 * as something else here: "-osrt" as a folder called "srt", "True" as a file. So the words are looked at before they are parsed; where one
 * of them is another program's, nothing is done, and the answer is the whole command as it is typed here. */
#ifndef STENO_TOOLS_FOREIGN_H
#define STENO_TOOLS_FOREIGN_H
#include "args.h"

enum foreign_program { FOREIGN_WHISPER_CPP, FOREIGN_OPENAI, FOREIGN_FASTER, FOREIGN_FUNASR, N_FOREIGN_PROGRAMS };

/* A word that is an option elsewhere. Long ones match with _ for -, too, where no row has them as they are typed. */
struct foreign_word {
    const char *there; /* as it is typed there: "-osrt", "--fp16"; "++model=" and the like are one word with their value */
    const char *value; /* NULL: it takes none; "%": any; FOREIGN_...: one that looks so; else this one. Rows are tried in their order */
    const char *here;  /* words for it here, % is its value, %ms its value in seconds; "": none is needed; ":srt": an output format;
                          ">": the value is the name of the results; "=detect": another verb; "!REASON": there is nothing here for it */
    char program;      /* enum foreign_program */
};

#define FOREIGN_PATH "\1"   /* with a dot or a slash in it, or - */
#define FOREIGN_ALONE "\2"  /* no value: an option, or nothing, or a sound follows */
#define FOREIGN_NUMBER "\3"
#define FOREIGN_VAD "\4"    /* the path of a voice-activity model */

extern const struct foreign_word foreign_words[]; /* ends with a NULL name */

/* Look at what was typed after `verb`. @return ARGS_RUN: all of it is ours or nobody's, or EXIT_USAGE after a message */
int foreign_check(const struct args *a, int argc, char **argv);
#endif
