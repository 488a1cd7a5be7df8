/* steno-hub: links to contents. SPDX-License-Identifier: MIT */
#ifndef STENO_HUB_BLOB_LINK_H
#define STENO_HUB_BLOB_LINK_H
#include "hub_name.h"

/* Hash of the blob that a link points to, from its name: .../blobs/HASH. @return 1, or 0: not such a link */
int hub_blob_of_link(char hash[HUB_HASH_SZ], const char *path);
#endif
