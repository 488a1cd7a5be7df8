/* steno: what the files of this folder share. SPDX-License-Identifier: MIT */
#ifndef STENO_WINDOWS_WIN_H
#define STENO_WINDOWS_WIN_H
#ifndef WIN32_LEAN_AND_MEAN
#define WIN32_LEAN_AND_MEAN
#endif
#include <windows.h>

#include "posix.h"

/* UTF-8 and UTF-16, malloc'd. NULL: errno is ENOMEM, or EILSEQ. A byte that is not UTF-8 is refused, half a pair becomes U+FFFD. */
wchar_t *win_wide(const char *text);
char *win_utf8(const wchar_t *wide);

/* A path for the system, malloc'd: /dev/null is NUL, /proc/self/exe the program, and a long path has the prefix that lifts the limit of
 * 260. NULL with errno */
wchar_t *win_path(const char *path);

char *win_final_path(HANDLE h); /* malloc'd path of an open file or folder; NULL with errno */

int win_fail(void); /* sets errno from the system's last error. @return -1 */
HANDLE win_handle(int fd); /* INVALID_HANDLE_VALUE with errno EBADF: not open */
void win_append(int fd, int on); /* from now on, writes to a new descriptor go to the end of the file, or to its own place */
int win_appends(int fd);
#endif
