/* steno: texts, paths, errors and descriptors between POSIX and Windows. SPDX-License-Identifier: MIT */
#include "win.h"

enum { LONG_PATH = 240 }; /* longer ones need a prefix; a folder has less room than a file */

wchar_t *win_wide(const char *text)
{
    const int n = MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, text, -1, NULL, 0);
    wchar_t *wide = n > 0 ? malloc((size_t)n * sizeof *wide) : NULL;
    if (wide) MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, text, -1, wide, n);
    else errno = n > 0 ? ENOMEM : EILSEQ;
    return wide;
}

char *win_utf8(const wchar_t *wide)
{
    const int n = WideCharToMultiByte(CP_UTF8, 0, wide, -1, NULL, 0, NULL, NULL);
    char *text = n > 0 ? malloc((size_t)n) : NULL;
    if (text) WideCharToMultiByte(CP_UTF8, 0, wide, -1, text, n, NULL, NULL);
    else errno = n > 0 ? ENOMEM : EILSEQ;
    return text;
}

static wchar_t *program_path(void)
{
    wchar_t *path = malloc(PATH_MAX * sizeof *path);
    const DWORD n = path ? GetModuleFileNameW(NULL, path, PATH_MAX) : 0;
    if (n > 0 && n < PATH_MAX) return path;
    errno = path ? ENOENT : ENOMEM;
    free(path);
    return NULL;
}

/* The whole path with the prefix after which only the file system limits its length. */
static wchar_t *with_prefix(const wchar_t *full)
{
    const int is_net = full[0] == '\\' && full[1] == '\\';
    const size_t n = wcslen(full) + 9;
    wchar_t *path = malloc(n * sizeof *path);
    if (path) swprintf(path, n, L"%ls%ls", is_net ? L"\\\\?\\UNC\\" : L"\\\\?\\", full + 2 * is_net);
    else errno = ENOMEM;
    return path;
}

static int is_device(const wchar_t *path)
{
    return path[0] == '\\' && path[1] == '\\' && (path[2] == '?' || path[2] == '.') && path[3] == '\\';
}

/* A path from the current folder on is long if the whole path is. */
wchar_t *win_path(const char *path)
{
    if (strcmp(path, "/dev/null") == 0) return win_wide("NUL");
    if (strcmp(path, "/proc/self/exe") == 0) return program_path();
    wchar_t *wide = win_wide(path);
    if (!wide || !*wide || is_device(wide) || (win_is_absolute(path) && wcslen(wide) < LONG_PATH)) return wide;
    const DWORD n = GetFullPathNameW(wide, 0, NULL, NULL);
    if (n > 0 && n < LONG_PATH) return wide;
    wchar_t *full = n ? malloc(n * sizeof *full) : NULL, *whole = NULL;
    if (!n) win_fail();
    else if (!full) errno = ENOMEM;
    else if (!GetFullPathNameW(wide, n, full, NULL)) win_fail();
    else whole = is_device(full) ? wcsdup(full) : with_prefix(full);
    free(full);
    free(wide);
    return whole;
}

int win_is_absolute(const char *path)
{
    const int is_letter = (path[0] >= 'a' && path[0] <= 'z') || (path[0] >= 'A' && path[0] <= 'Z');
    return path[0] == '/' || path[0] == '\\' || (is_letter && path[1] == ':');
}

char *win_slashes(char *path)
{
    for (char *p = path; *p; p++)
        if (*p == '\\') *p = '/';
    const int is_net = strncmp(path, "//?/UNC/", 8) == 0;
    if (strncmp(path, "//?/", 4) == 0) memmove(path + is_net, path + 4 + 3 * is_net, strlen(path + 4 + 3 * is_net) + 1);
    return path;
}

char *win_final_path(HANDLE h)
{
    wchar_t *wide = malloc(PATH_MAX * sizeof *wide);
    const DWORD n = wide ? GetFinalPathNameByHandleW(h, wide, PATH_MAX, 0) : 0;
    char *path = NULL;
    if (n > 0 && n < PATH_MAX) path = win_utf8(wide);
    else if (!wide) errno = ENOMEM;
    else if (n) errno = ENAMETOOLONG;
    else win_fail();
    free(wide);
    return path ? win_slashes(path) : NULL;
}

int win_fail(void)
{
    static const struct { DWORD error; int number; } known[] = {
        { ERROR_FILE_NOT_FOUND, ENOENT }, { ERROR_PATH_NOT_FOUND, ENOENT }, { ERROR_INVALID_NAME, ENOENT }, { ERROR_BAD_NETPATH, ENOENT },
        { ERROR_BAD_PATHNAME, ENOENT }, { ERROR_INVALID_DRIVE, ENOENT }, { ERROR_BAD_NET_NAME, ENOENT }, { ERROR_NOT_READY, ENOENT },
        { ERROR_ACCESS_DENIED, EACCES }, { ERROR_SHARING_VIOLATION, EBUSY }, { ERROR_LOCK_VIOLATION, EBUSY }, { ERROR_BUSY, EBUSY },
        { ERROR_WRITE_PROTECT, EROFS }, { ERROR_FILE_EXISTS, EEXIST }, { ERROR_ALREADY_EXISTS, EEXIST }, { ERROR_DIRECTORY, ENOTDIR },
        { ERROR_DIR_NOT_EMPTY, ENOTEMPTY }, { ERROR_DISK_FULL, ENOSPC }, { ERROR_HANDLE_DISK_FULL, ENOSPC },
        { ERROR_NOT_ENOUGH_MEMORY, ENOMEM }, { ERROR_OUTOFMEMORY, ENOMEM }, { ERROR_COMMITMENT_LIMIT, ENOMEM },
        { ERROR_TOO_MANY_OPEN_FILES, EMFILE }, { ERROR_INVALID_HANDLE, EBADF }, { ERROR_NOT_SAME_DEVICE, EXDEV },
        { ERROR_BROKEN_PIPE, EPIPE }, { ERROR_NO_DATA, EPIPE }, { ERROR_FILENAME_EXCED_RANGE, ENAMETOOLONG },
        { ERROR_NOT_SUPPORTED, ENOSYS }, { ERROR_PRIVILEGE_NOT_HELD, EPERM }, { ERROR_INVALID_PARAMETER, EINVAL },
        { ERROR_OPERATION_ABORTED, EINTR },
    };
    const DWORD error = GetLastError();
    errno = EIO;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].error == error) errno = known[i].number;
    return -1;
}

HANDLE win_handle(int fd)
{
    const HANDLE h = fd < 0 ? INVALID_HANDLE_VALUE : (HANDLE)_get_osfhandle(fd);
    if (h != INVALID_HANDLE_VALUE && h != (HANDLE)-2) return h;
    errno = EBADF;
    return INVALID_HANDLE_VALUE;
}

static unsigned char appends[8192]; /* by descriptor: more than the C library has */

void win_append(int fd, int on)
{
    if (fd >= 0 && fd < (int)sizeof appends) appends[fd] = (unsigned char)on;
}

int win_appends(int fd)
{
    return fd >= 0 && fd < (int)sizeof appends && appends[fd];
}

/* ---- what the C library of Windows lacks */

char *strndup(const char *s, size_t n)
{
    const size_t have = strnlen(s, n);
    char *copy = malloc(have + 1);
    if (!copy) return NULL;
    copy[have] = '\0';
    return memcpy(copy, s, have);
}

char *stpcpy(char *to, const char *s)
{
    const size_t n = strlen(s);
    return (char *)memcpy(to, s, n + 1) + n;
}

/* Eight numbers, of which :: stands for those that are 0; no IPv4 at the end. */
static int ipv6(const char *p, uint8_t to[16])
{
    int n = 0, gap = -1;
    memset(to, 0, 16);
    if (p[0] == ':' && p[1] == ':') {
        gap = 0;
        p += 2;
    }
    while (*p) {
        const size_t len = strspn(p, "0123456789abcdefABCDEF");
        if (n == 16 || !len || len > 4) return 0;
        const unsigned long v = strtoul(p, NULL, 16);
        to[n++] = (uint8_t)(v >> 8);
        to[n++] = (uint8_t)v;
        p += len;
        if (!*p) break;
        if (p[0] != ':' || !p[1] || (p[1] == ':' && gap >= 0)) return 0;
        if (p[1] == ':') gap = n;
        p += 1 + (p[1] == ':');
    }
    if (gap < 0 || n == 16) return gap < 0 && n == 16;
    memmove(to + 16 - (n - gap), to + gap, (size_t)(n - gap));
    memset(to + gap, 0, (size_t)(16 - n));
    return 1;
}

int inet_pton(int family, const char *text, void *to)
{
    unsigned part[4];
    char end[2];
    if (family == AF_INET6) return ipv6(text, ((struct in6_addr *)to)->s6_addr);
    if (strspn(text, "0123456789.") != strlen(text) || sscanf(text, "%3u.%3u.%3u.%3u%1s", part, part + 1, part + 2, part + 3, end) != 4)
        return 0;
    for (int i = 0; i < 4; i++) {
        if (part[i] > 255) return 0;
        ((uint8_t *)to)[i] = (uint8_t)part[i];
    }
    return 1;
}

int win_is_loopback(const struct in6_addr *a)
{
    int rest = 0;
    for (int i = 0; i < 15; i++) rest |= a->s6_addr[i];
    return !rest && a->s6_addr[15] == 1;
}
