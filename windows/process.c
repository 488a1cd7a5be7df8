/* steno: the process on Windows: its environment, signals and memory. SPDX-License-Identifier: MIT */
#include "win.h"
#include <bcrypt.h>
#include <psapi.h>

/* ---- environment ------------------------------------------------------------------------------------------------------------- */

static struct { char *text; size_t n_name; } *variables; /* "NAME=value" each */
static size_t n_variables;
static pthread_once_t variables_once = PTHREAD_ONCE_INIT;

static void variable_add(char *text)
{
    char *equals = text ? strchr(text, '=') : NULL;
    void *more = equals ? realloc(variables, (n_variables + 1) * sizeof *variables) : NULL;
    if (!more) {
        free(text);
        return;
    }
    variables = more;
    variables[n_variables].text = text;
    variables[n_variables++].n_name = (size_t)(equals - text);
}

static const char *variable_find(const char *name)
{
    const size_t n = strlen(name);
    for (size_t i = 0; i < n_variables; i++)
        if (variables[i].n_name == n && _strnicmp(variables[i].text, name, n) == 0) return variables[i].text + n + 1;
    return NULL;
}

/* Adds NAME with the value of the first of the other names that is set; an empty value counts as none. */
static void variable_stand_in(const char *name, const char *a, const char *b, const char *otherwise)
{
    const char *value = variable_find(name);
    if (value && value[0]) return;
    value = a ? variable_find(a) : NULL;
    if (b && (!value || !value[0])) value = variable_find(b);
    if (!value || !value[0]) value = otherwise;
    const size_t n = strlen(name) + strlen(value) + 2;
    char *text = malloc(n);
    if (!text) return;
    snprintf(text, n, "%s=%s", name, value);
    variable_add(text);
}

static void variables_read(void)
{
    wchar_t *all = GetEnvironmentStringsW();
    for (const wchar_t *p = all; p && *p; p += wcslen(p) + 1) {
        char *text = win_utf8(p), *equals = text ? strchr(text, '=') : NULL;
        if (equals && win_is_absolute(equals + 1) && strchr("\\:", equals[2])) win_slashes(equals + 1); /* C:... or \\... */
        variable_add(text);
    }
    if (all) FreeEnvironmentStringsW(all);
    variable_stand_in("HOME", "USERPROFILE", "HOMEDRIVE", "C:/");
    variable_stand_in("TMPDIR", "TEMP", "TMP", ".");
    DWORD mode;
    if (GetConsoleMode(GetStdHandle(STD_ERROR_HANDLE), &mode) && mode & ENABLE_VIRTUAL_TERMINAL_PROCESSING)
        variable_stand_in("TERM", NULL, NULL, "xterm-256color");
}

char *win_getenv(const char *name)
{
    pthread_once(&variables_once, variables_read);
    return (char *)(uintptr_t)variable_find(name);
}

/* ---- signals ----------------------------------------------------------------------------------------------------------------- */

enum { N_SIGNALS = 32 };
static void (*handlers[N_SIGNALS])(int sig);

static BOOL WINAPI on_console(DWORD event)
{
    const int sig = event == CTRL_C_EVENT ? SIGINT : event == CTRL_BREAK_EVENT ? SIGTERM : SIGHUP;
    if (!handlers[sig] || handlers[sig] == SIG_IGN) return handlers[sig] != NULL;
    handlers[sig](sig);
    if (event != CTRL_C_EVENT && event != CTRL_BREAK_EVENT) Sleep(4000); /* the process ends when this returns, so its work may end first */
    return TRUE;
}

int sigaction(int sig, const struct sigaction *to, struct sigaction *was)
{
    static int is_installed;
    if (sig < 0 || sig >= N_SIGNALS) return errno = EINVAL, -1;
    if (was) *was = (struct sigaction){ .sa_handler = handlers[sig] };
    if (!to) return 0;
    handlers[sig] = to->sa_handler;
    if (!is_installed) is_installed = SetConsoleCtrlHandler(on_console, TRUE);
    return 0;
}

/* ---- facts ------------------------------------------------------------------------------------------------------------------- */

uid_t geteuid(void)
{
    return 0;
}

int gethostname(char *name, size_t n)
{
    wchar_t wide[256];
    DWORD room = 256;
    char *text = GetComputerNameExW(ComputerNameDnsHostname, wide, &room) ? win_utf8(wide) : NULL;
    if (!text) return win_fail();
    snprintf(name, n, "%s", text);
    free(text);
    return 0;
}

int getentropy(void *to, size_t n)
{
    if (BCryptGenRandom(NULL, to, (ULONG)n, BCRYPT_USE_SYSTEM_PREFERRED_RNG) == 0) return 0;
    errno = EIO;
    return -1;
}

int uname(struct utsname *u)
{
    DWORD n = sizeof u->machine;
    if (RegGetValueA(HKEY_LOCAL_MACHINE, "HARDWARE\\DESCRIPTION\\System\\CentralProcessor\\0", "ProcessorNameString", RRF_RT_REG_SZ, NULL,
                     u->machine, &n) != ERROR_SUCCESS)
        snprintf(u->machine, sizeof u->machine, "x86_64");
    return 0;
}

long long sysconf(int what)
{
    SYSTEM_INFO s;
    MEMORYSTATUSEX m = { .dwLength = sizeof m };
    GetSystemInfo(&s);
    if (what == _SC_PAGESIZE) return s.dwPageSize;
    if (what == _SC_NPROCESSORS_ONLN) return GetActiveProcessorCount(ALL_PROCESSOR_GROUPS);
    if (!GlobalMemoryStatusEx(&m)) return -1;
    return (long long)((what == _SC_PHYS_PAGES ? m.ullTotalPhys : m.ullAvailPhys) / s.dwPageSize);
}

int getrusage(int who, struct rusage *u)
{
    PROCESS_MEMORY_COUNTERS m;
    (void)who;
    if (!GetProcessMemoryInfo(GetCurrentProcess(), &m, sizeof m)) return win_fail();
    u->ru_maxrss = (long)(m.PeakWorkingSetSize / 1024);
    return 0;
}

/* ---- libraries --------------------------------------------------------------------------------------------------------------- */

void *dlopen(const char *name, int how)
{
    (void)name, (void)how;
    return NULL;
}

void *dlsym(void *library, const char *name)
{
    (void)library, (void)name;
    return NULL;
}

char *dlerror(void)
{
    static char text[] = "libraries are not loaded on Windows";
    return text;
}
