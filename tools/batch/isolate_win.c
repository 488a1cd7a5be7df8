/* steno: a batch in processes of its own, which Windows does not have. SPDX-License-Identifier: MIT */
#include "batch/isolate.h"
#include "cli/message.h"

int batch_isolate(const struct batch_isolate *b)
{
    (void)b;
    return message_usage("--isolate is not available on Windows, where a process has no copy of itself");
}
