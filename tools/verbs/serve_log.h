/* steno: the server's log on standard error. SPDX-License-Identifier: MIT */
#ifndef STENO_TOOLS_SERVE_LOG_H
#define STENO_TOOLS_SERVE_LOG_H

/* As serve_params.log. Never waits for who reads standard error: lines for which there is no room are left out, and the next line that fits
 * is behind one with their number. */
void serve_log_line(void *user, const char *line);
#endif
