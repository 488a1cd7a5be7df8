/* steno: commands of the verb models that were typed in another way. SPDX-License-Identifier: MIT */
#ifndef STENO_TOOLS_MODELS_MEANT_H
#define STENO_TOOLS_MODELS_MEANT_H

enum { MODELS_MEANT_SZ = 512 };

/* The command that argv[argc] behind "steno models" was meant to be: "pul base" and "download base" are "steno models pull base".
 * @param text  receives the command between quotes, cut where it is too long
 * @return 1, or 0: argv[0] is like no action */
int models_meant(char text[MODELS_MEANT_SZ], int argc, char **argv);

/* The same of argv[argc] behind "steno", where the verb was left out: "pull base". Fewer words are taken for an action there.
 * @param exact  only words that need no correction */
int models_meant_alone(char text[MODELS_MEANT_SZ], int argc, char **argv, int exact);
#endif
