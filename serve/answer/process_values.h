/* steno-serve: what the process uses now. SPDX-License-Identifier: MIT */
#ifndef STENO_SERVE_PROCESS_VALUES_H
#define STENO_SERVE_PROCESS_VALUES_H

/* Negative: not known. */
struct process_values { double resident_bytes, cpu_s, start_s, open_fds, max_fds; };
void process_values(struct process_values *v);
#endif
