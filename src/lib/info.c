/* steno: information about the library. SPDX-License-Identifier: MIT */
#include "base/cpu.h"
#include "base/team.h"

const char *steno_version(void)
{
    return STENO_VERSION;
}

const char *steno_status_text(int status)
{
    return err_status_text(status);
}

const char *steno_cpu_level_name(int i)
{
    return i < 0 ? 0 : cpu_level_name(i);
}

int steno_cpu_level_usable(int i)
{
    return i >= 0 && i < CPU_LEVELS && cpu_level_usable(i);
}

int steno_team_open(steno_team **out, int n_threads, steno_error *e)
{
    err_clear(e);
    if (!out) return err_set(e, STENO_EARG, "steno_team_open needs a place for the team");
    *out = NULL;
    if (n_threads < 0 || n_threads > TEAM_MAX) return err_set(e, STENO_EARG, "%d threads, want 0 (default) to %d", n_threads, TEAM_MAX);
    return team_open(out, n_threads, e);
}

int steno_team_threads(const steno_team *team)
{
    return team_threads(team);
}

void steno_team_close(steno_team *team)
{
    team_close(team);
}
