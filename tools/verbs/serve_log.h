/* steno: the server's log on standard error. SPDX-License-Identifier: MIT */
#ifndef STENO_TOOLS_SERVE_LOG_H
#define STENO_TOOLS_SERVE_LOG_H

/* As serve_params.log. Does not wait for a reader of standard error, except up to 20 ms for the rest of a line of more than 4 kB. Lines for
 * which there is no room are left out, and a line with their number is before the next one that fits. */
void serve_log_line(void *user, const char *line);
#endif
