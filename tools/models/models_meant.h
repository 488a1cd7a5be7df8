/* steno: suggestions for mistyped commands of the verb models. SPDX-License-Identifier: MIT */
#ifndef STENO_TOOLS_MODELS_MEANT_H
#define STENO_TOOLS_MODELS_MEANT_H

enum { MODELS_MEANT_SZ = 512 };

/* The command that the user meant by argv[argc] after "steno models": "pul base" and "download base" mean "steno models pull base".
 * @param text  receives the command between quotes, cut if it is too long
 * @return 1, or 0 if argv[0] is not similar to an action */
int models_meant(char text[MODELS_MEANT_SZ], int argc, char **argv);

/* As models_meant, for argv[argc] after "steno" without the verb: "pull base". Fewer words are accepted as actions.
 * @param exact  1: only words without typing errors */
int models_meant_alone(char text[MODELS_MEANT_SZ], int argc, char **argv, int exact);
#endif
