/* steno: which part of a manifest a process transcribes. SPDX-License-Identifier: MIT */
#ifndef STENO_TOOLS_BATCH_SHARD_H
#define STENO_TOOLS_BATCH_SHARD_H

enum { SHARDS_MAX = 1000000 };

/* Read "I/N", "auto/N" or "auto"; the last two take I, or I and N, from the environment of a job's array. @return EXIT_OK, or EXIT_USAGE
 * after a message */
int shard_read(int *shard, int *n_shards, const char *text);
#endif
