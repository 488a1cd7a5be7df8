/* steno: reading, writing, locking and waiting by descriptor on Windows. SPDX-License-Identifier: MIT */
#include "win.h"

/* ---- the console: typed text is UTF-16 there */

static struct { char text[4096]; size_t at, n; } typed; /* bytes not yet read; one thread reads the console */

static ssize_t read_console(HANDLE h, void *to, size_t n)
{
    enum { MOST = sizeof typed.text / 4 };
    wchar_t wide[MOST];
    DWORD got = 0;
    if (typed.at == typed.n) {
        typed.at = typed.n = 0;
        if (!ReadConsoleW(h, wide, MOST - 1, &got, NULL)) return win_fail();
        if (got && wide[got - 1] >= 0xd800 && wide[got - 1] < 0xdc00) { /* the other half of the pair */
            DWORD more = 0;
            if (ReadConsoleW(h, wide + got, 1, &more, NULL)) got += more;
        }
        if (!got || wide[0] == 26) return 0; /* Ctrl-Z */
        typed.n = (size_t)WideCharToMultiByte(CP_UTF8, 0, wide, (int)got, typed.text, sizeof typed.text, NULL, NULL);
    }
    if (n > typed.n - typed.at) n = typed.n - typed.at;
    memcpy(to, typed.text + typed.at, n);
    typed.at += n;
    return (ssize_t)n;
}

/* The error of a folder differs between systems. @return -1 */
static int read_fail(int fd)
{
    struct stat st;
    win_fail();
    const int why = errno;
    errno = fstat(fd, &st) == 0 && S_ISDIR(st.st_mode) ? EISDIR : why;
    return -1;
}

ssize_t read(int fd, void *to, size_t n)
{
    const HANDLE h = win_handle(fd);
    DWORD got = 0, mode;
    if (h == INVALID_HANDLE_VALUE) return -1;
    if (GetConsoleMode(h, &mode)) return read_console(h, to, n);
    if (ReadFile(h, to, n < 1 << 30 ? (DWORD)n : 1u << 30, &got, NULL)) return (ssize_t)got;
    if (GetLastError() == ERROR_BROKEN_PIPE || GetLastError() == ERROR_HANDLE_EOF) return 0; /* the writer has gone */
    return read_fail(fd);
}

/* Windows has no handle that appends and can be cut, so each write says that it is for the end. */
ssize_t write(int fd, const void *from, size_t n)
{
    const HANDLE h = win_handle(fd);
    OVERLAPPED end = { .Offset = UINT32_MAX, .OffsetHigh = UINT32_MAX };
    DWORD put = 0;
    if (h == INVALID_HANDLE_VALUE) return -1;
    return WriteFile(h, from, n < 1 << 30 ? (DWORD)n : 1u << 30, &put, win_appends(fd) ? &end : NULL) ? (ssize_t)put : win_fail();
}

/* ReadFile moves the place, even with an offset of its own, so the place is set back. */
ssize_t pread(int fd, void *to, size_t n, int64_t at)
{
    const HANDLE h = win_handle(fd);
    const LARGE_INTEGER none = { .QuadPart = 0 };
    LARGE_INTEGER place;
    OVERLAPPED from = { .Offset = (DWORD)at, .OffsetHigh = (DWORD)(at >> 32) };
    DWORD got = 0;
    if (h == INVALID_HANDLE_VALUE) return -1;
    if (!SetFilePointerEx(h, none, &place, FILE_CURRENT)) return errno = ESPIPE, -1;
    const BOOL ok = ReadFile(h, to, n < 1 << 30 ? (DWORD)n : 1u << 30, &got, &from);
    const int at_end = !ok && GetLastError() == ERROR_HANDLE_EOF;
    if (!ok && !at_end) read_fail(fd);
    SetFilePointerEx(h, place, NULL, FILE_BEGIN);
    return ok || at_end ? (ssize_t)got : -1;
}

int fsync(int fd)
{
    struct stat st;
    if (fstat(fd, &st)) return -1;
    return S_ISREG(st.st_mode) && !FlushFileBuffers(win_handle(fd)) ? win_fail() : 0;
}

/* Locks are a byte far behind the end, because a locked byte can be neither read nor written. Folders have none: EISDIR. */
int flock(int fd, int how)
{
    const HANDLE h = win_handle(fd);
    struct stat st;
    OVERLAPPED at = { .Offset = 0xfffffffe, .OffsetHigh = 0x7fffffff };
    if (h == INVALID_HANDLE_VALUE) return -1;
    if (how & LOCK_UN) return UnlockFileEx(h, 0, 1, 0, &at) ? 0 : win_fail();
    if (LockFileEx(h, LOCKFILE_EXCLUSIVE_LOCK | (how & LOCK_NB ? LOCKFILE_FAIL_IMMEDIATELY : 0), 0, 1, 0, &at)) return 0;
    const DWORD error = GetLastError();
    win_fail();
    if (error == ERROR_LOCK_VIOLATION || error == ERROR_IO_PENDING) errno = EWOULDBLOCK;
    else if (fstat(fd, &st) == 0 && S_ISDIR(st.st_mode)) errno = EISDIR;
    return -1;
}

int fcntl(int fd, int what, ...)
{
    if (win_handle(fd) == INVALID_HANDLE_VALUE) return -1;
    if (what != F_DUPFD_CLOEXEC) return 0;
    int low[3], n = 0, copy = _dup(fd);
    while (copy >= 0 && copy < 3 && n < 3) { /* the numbers of standard streams are not for files */
        low[n++] = copy;
        copy = _dup(fd);
    }
    while (n > 0) _close(low[--n]);
    if (copy < 0) return -1;
    _setmode(copy, _O_BINARY);
    win_append(copy, win_appends(fd));
    return copy;
}

/* ---- waiting */

/* @return POLLIN, POLLHUP, or 0: nothing yet */
static short ready(int fd)
{
    const HANDLE h = win_handle(fd);
    DWORD n = 0;
    if (h == INVALID_HANDLE_VALUE) return POLLNVAL;
    if (GetFileType(h) == FILE_TYPE_PIPE) return !PeekNamedPipe(h, NULL, 0, NULL, &n, NULL) ? POLLHUP : n ? POLLIN : 0;
    if (GetConsoleMode(h, &n)) return typed.at < typed.n || WaitForSingleObject(h, 0) == WAIT_OBJECT_0 ? POLLIN : 0;
    return POLLIN;
}

/* Pipes have nothing to wait on, so they are asked a hundred times a second. */
int poll(struct pollfd *p, unsigned n, int timeout_ms)
{
    const ULONGLONG begin = GetTickCount64();
    for (;;) {
        int n_ready = 0;
        for (unsigned i = 0; i < n; i++) {
            const short what = p[i].events & POLLIN ? ready(p[i].fd) : win_handle(p[i].fd) == INVALID_HANDLE_VALUE ? POLLNVAL : POLLOUT;
            p[i].revents = what & (p[i].events | POLLHUP | POLLERR | POLLNVAL);
            n_ready += p[i].revents != 0;
        }
        if (n_ready) return n_ready;
        const ULONGLONG past = GetTickCount64() - begin;
        if (timeout_ms >= 0 && past >= (ULONGLONG)timeout_ms) return 0;
        Sleep(timeout_ms < 0 || (ULONGLONG)timeout_ms - past > 10 ? 10 : (DWORD)((ULONGLONG)timeout_ms - past));
    }
}

/* ---- the terminal */

int isatty(int fd)
{
    DWORD mode;
    const HANDLE h = win_handle(fd);
    return h != INVALID_HANDLE_VALUE && GetConsoleMode(h, &mode);
}

int ioctl(int fd, int what, struct winsize *w)
{
    CONSOLE_SCREEN_BUFFER_INFO i;
    (void)what;
    const HANDLE h = win_handle(fd);
    if (h == INVALID_HANDLE_VALUE || !GetConsoleScreenBufferInfo(h, &i)) return errno = ENOTTY, -1;
    w->ws_col = (unsigned short)(i.srWindow.Right - i.srWindow.Left + 1);
    w->ws_row = (unsigned short)(i.srWindow.Bottom - i.srWindow.Top + 1);
    return 0;
}
