/* steno-hub: links to contents. SPDX-License-Identifier: MIT */
#ifndef STENO_HUB_BLOB_LINK_H
#define STENO_HUB_BLOB_LINK_H
#include "hub_name.h"

/* The hash that the name of the blob behind a link is: the link points at .../blobs/HASH. @return 1, or 0: it is no such link */
int hub_blob_of_link(char hash[HUB_HASH_SZ], const char *path);
#endif
