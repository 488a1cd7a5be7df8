# steno: functions shared by the scripts; use ". script/common.sh" in the project's folder. SPDX-License-Identifier: MIT

jobs_n() { nproc 2>/dev/null || echo 2; }

say() { printf '\n== %s (at %d:%02d)\n' "$*" $((SECONDS / 60)) $((SECONDS % 60)); }

# build_configure PRESET FOLDER [OPTION...]: an existing folder keeps its generator and its options.
build_configure()
{
    local preset=$1 folder=$2
    shift 2
    if [ -f "$folder/CMakeCache.txt" ]; then
        cmake "$@" "$folder" >"$folder/configure.log" || { cat "$folder/configure.log"; return 1; }
    else
        cmake --preset "$preset" "$@"
    fi
}
