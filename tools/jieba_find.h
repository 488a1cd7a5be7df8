/* steno: where jieba's dictionary is. SPDX-License-Identifier: MIT */
#ifndef STENO_TOOLS_JIEBA_FIND_H
#define STENO_TOOLS_JIEBA_FIND_H

/* The dictionary of the Python package jieba: in the environment that is at work (VIRTUAL_ENV, CONDA_PREFIX), the user's own packages,
 * those of the system; else that of cppjieba. Malloc'd; NULL: there is none, or *no_memory = 1 */
char *jieba_find(int *no_memory);
#endif
