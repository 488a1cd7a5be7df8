/* steno-serve: defaults. SPDX-License-Identifier: MIT */
#include "serve.h"

void serve_params_init(struct serve_params *p)
{
    *p = (struct serve_params){
        .host = "127.0.0.1", .port = 8090, .prefix = "", .page = 1, .metrics = 1,
        .parallel = 8, .queue = 64, .n_ingest = 2, .queue_timeout_s = 300,
        .upload_max = 200 * 1000000LL, .spool_max = 8 * 1000000000LL, .seconds_max = 14400,
        .head_timeout_s = 10, .body_timeout_s = 60, .idle_timeout_s = 75, .grace_s = 30, .connections = 1024, .per_ip = 64,
        .live_max = 16, .live_step_ms = 1000, .live_turn_ms = 30000, .wyoming_port = -1, .version = "",
    };
}
