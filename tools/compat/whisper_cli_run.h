/* steno: how whisper.cpp's whisper-cli processes its inputs. SPDX-License-Identifier: MIT */
#ifndef STENO_TOOLS_WHISPER_CLI_RUN_H
#define STENO_TOOLS_WHISPER_CLI_RUN_H
#include "compat/compat.h"

int whisper_cli_run(struct compat_call *c); /* @return the exit code */
#endif
