/* steno: search for jieba's dictionary. SPDX-License-Identifier: MIT */
#ifndef STENO_TOOLS_JIEBA_FIND_H
#define STENO_TOOLS_JIEBA_FIND_H

/* Find the dictionary of the Python package jieba: in the active environment (VIRTUAL_ENV, CONDA_PREFIX), the user's packages, the
 * system's packages; else the dictionary of cppjieba. @return malloc'd path, or NULL if there is none, or if *no_memory = 1 */
char *jieba_find(int *no_memory);
#endif
