/* steno: memory, time, processors, threads and files on Windows. SPDX-License-Identifier: MIT */
#include "base/os.h"

#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <windows.h>

enum { HUGE_PAGE = 2 << 20 };

/* ---- memory: a reservation 2 MiB longer than needed, committed from the first aligned address on. Large pages would need a privilege. */
static size_t round_to_page(size_t n)
{
    SYSTEM_INFO info;
    GetSystemInfo(&info);
    const size_t mask = info.dwPageSize - 1;
    return n ? (n + mask) & ~mask : mask + 1;
}

void *os_pages_alloc(size_t n)
{
    if (n > SIZE_MAX / 2) return NULL;
    const size_t sz = round_to_page(n);
    char *base = VirtualAlloc(NULL, sz + HUGE_PAGE, MEM_RESERVE, PAGE_NOACCESS);
    if (!base) return NULL;
    char *p = base + (-(uintptr_t)base & (HUGE_PAGE - 1));
    if (VirtualAlloc(p, sz, MEM_COMMIT, PAGE_READWRITE)) return p;
    VirtualFree(base, 0, MEM_RELEASE);
    return NULL;
}

void os_pages_trim(void *p, size_t n, size_t keep)
{
    const size_t all = round_to_page(n), rest = round_to_page(keep);
    if (p && rest < all) VirtualFree((char *)p + rest, all - rest, MEM_DECOMMIT);
}

void os_pages_free(void *p, size_t n)
{
    (void)n;
    MEMORY_BASIC_INFORMATION info;
    if (p && VirtualQuery(p, &info, sizeof info)) VirtualFree(info.AllocationBase, 0, MEM_RELEASE);
}

void *os_aligned_alloc(size_t align, size_t n)
{
    return _aligned_malloc(n, align);
}

void os_aligned_free(void *p)
{
    _aligned_free(p);
}

/* ---- time and processors */
int64_t os_now_ns(void)
{
    LARGE_INTEGER now, hz;
    QueryPerformanceCounter(&now);
    QueryPerformanceFrequency(&hz);
    return now.QuadPart / hz.QuadPart * 1000000000 + now.QuadPart % hz.QuadPart * 1000000000 / hz.QuadPart;
}

static int bits_set(KAFFINITY mask)
{
    int n = 0;
    for (; mask; mask &= mask - 1) n++;
    return n;
}

/* Processors that the process may use; all bits if it spans several groups, because a mask describes only one of them. */
static KAFFINITY affinity_get(void)
{
    DWORD_PTR mine = 0, all = 0;
    if (GetActiveProcessorGroupCount() > 1 || !GetProcessAffinityMask(GetCurrentProcess(), &mine, &all) || !mine) return ~(KAFFINITY)0;
    return mine;
}

int os_cpus(void)
{
    const KAFFINITY mask = affinity_get();
    const int n = ~mask ? bits_set(mask) : (int)GetActiveProcessorCount(ALL_PROCESSOR_GROUPS);
    return n > 0 ? n : 1;
}

int os_cores(void)
{
    DWORD sz = 0;
    GetLogicalProcessorInformationEx(RelationProcessorCore, NULL, &sz);
    char *all = sz ? malloc(sz) : NULL;
    int n = 0;
    if (all && GetLogicalProcessorInformationEx(RelationProcessorCore, (void *)all, &sz)) {
        const KAFFINITY mask = affinity_get();
        for (DWORD at = 0; at < sz;) {
            const SYSTEM_LOGICAL_PROCESSOR_INFORMATION_EX *core = (const void *)(all + at);
            n += (core->Processor.GroupMask[0].Mask & mask) != 0;
            at += core->Size;
        }
    }
    free(all);
    return n > 0 ? n : os_cpus();
}

/* The minimum over the kinds of cores. */
size_t os_cache(int level)
{
    DWORD sz = 0;
    GetLogicalProcessorInformationEx(RelationCache, NULL, &sz);
    char *all = sz ? malloc(sz) : NULL;
    size_t smallest = 0;
    if (all && GetLogicalProcessorInformationEx(RelationCache, (void *)all, &sz))
        for (DWORD at = 0; at < sz;) {
            const SYSTEM_LOGICAL_PROCESSOR_INFORMATION_EX *e = (const void *)(all + at);
            const int cores = bits_set(e->Cache.GroupMask.Mask) / 2; /* assumes that each core has two halves */
            const size_t share = e->Cache.CacheSize / (size_t)(cores > 1 ? cores : 1);
            if (e->Cache.Level == level && e->Cache.Type != CacheInstruction && (!smallest || share < smallest)) smallest = share;
            at += e->Size;
        }
    free(all);
    return smallest;
}

/* ---- threads: there are no signals that a thread could be given */
int os_thread_start(pthread_t *id, void *(*fn)(void *arg), void *arg)
{
    return pthread_create(id, NULL, fn, arg);
}

/* ---- files: the wide interface, because the other one takes the code page of the machine */
static wchar_t *wide_text(const char *path)
{
    const int n = MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, NULL, 0);
    wchar_t *wide = n > 0 ? malloc((size_t)n * sizeof *wide) : NULL;
    if (wide) MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, wide, n);
    else errno = n > 0 ? ENOMEM : EILSEQ;
    return wide;
}

/* A whole path of 240 characters and more gets the prefix that lifts the limit of 260. */
static wchar_t *wide_path(const char *path)
{
    enum { MOST = 240 };
    wchar_t *wide = wide_text(path);
    const DWORD n = wide ? GetFullPathNameW(wide, 0, NULL, NULL) : 0;
    wchar_t *whole = n >= MOST ? malloc((n + 8) * sizeof *whole) : NULL;
    if (!wide || n < MOST) return wide;
    if (whole) {
        wchar_t *at = whole + 6; /* behind the prefix of a share, \\?\UNC, whose path begins with two backslashes and keeps one of them */
        GetFullPathNameW(wide, n, at, NULL);
        const int is_prefixed = wcsncmp(at, L"\\\\?\\", 4) == 0, is_net = at[0] == '\\' && at[1] == '\\';
        if (is_prefixed) memmove(whole, at, n * sizeof *at);
        else if (is_net) memcpy(whole, L"\\\\?\\UNC", 7 * sizeof *whole);
        else {
            memmove(whole + 4, at, n * sizeof *at);
            memcpy(whole, L"\\\\?\\", 4 * sizeof *whole);
        }
    } else errno = ENOMEM;
    free(wide);
    return whole;
}

static enum os_kind kind_of(unsigned mode)
{
    switch (mode & _S_IFMT) {
    case _S_IFREG: return OS_FILE;
    case _S_IFDIR: return OS_FOLDER;
    case _S_IFIFO: return OS_PIPE;
    default: return OS_DEVICE;
    }
}

/* By a handle: functions of C take a long path's prefix for a pattern. */
enum os_kind os_path_kind(const char *path)
{
    enum { SHARE = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE };
    BY_HANDLE_FILE_INFORMATION i;
    wchar_t *wide = wide_path(path);
    const HANDLE h =
        wide ? CreateFileW(wide, FILE_READ_ATTRIBUTES, SHARE, NULL, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, NULL) : INVALID_HANDLE_VALUE;
    free(wide);
    if (h == INVALID_HANDLE_VALUE) return OS_NOTHING;
    const DWORD type = GetFileType(h);
    const int is_folder = GetFileInformationByHandle(h, &i) && i.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY;
    CloseHandle(h);
    return type == FILE_TYPE_PIPE ? OS_PIPE : type != FILE_TYPE_DISK ? OS_DEVICE : is_folder ? OS_FOLDER : OS_FILE;
}

int os_path_is_link(const char *path)
{
    wchar_t *wide = wide_path(path);
    const DWORD is = wide ? GetFileAttributesW(wide) : INVALID_FILE_ATTRIBUTES; /* of the link itself */
    free(wide);
    return is != INVALID_FILE_ATTRIBUTES && is & FILE_ATTRIBUTE_REPARSE_POINT;
}

int os_file_open(const char *path)
{
    if (os_path_kind(path) == OS_FOLDER) { /* opening a folder would fail with "permission denied" */
        errno = EISDIR;
        return -1;
    }
    wchar_t *wide = wide_path(path);
    if (!wide) return -1;
    int fd = _wopen(wide, _O_RDONLY | _O_BINARY | _O_NOINHERIT);
    if (fd == 0) {
        fd = _dup(0);
        _close(0);
    }
    free(wide);
    return fd;
}

enum os_kind os_file_kind(int fd, uint64_t *size)
{
    struct _stat64 st;
    if (_fstat64(fd, &st) != 0) return OS_NOTHING;
    *size = (uint64_t)st.st_size;
    return kind_of(st.st_mode);
}

int64_t os_file_read(int fd, uint64_t off, void *dst, size_t n)
{
    const HANDLE file = (HANDLE)_get_osfhandle(fd);
    size_t done = 0;
    while (done < n) {
        const DWORD want = n - done < (size_t)1 << 30 ? (DWORD)(n - done) : (DWORD)1 << 30;
        const uint64_t at = off + done;
        OVERLAPPED place = { .Offset = (DWORD)at, .OffsetHigh = (DWORD)(at >> 32) }; /* reads at that offset, independent of other reads */
        DWORD got = 0;
        if (!ReadFile(file, (char *)dst + done, want, &got, &place) && GetLastError() != ERROR_HANDLE_EOF) {
            errno = EIO;
            return -1;
        }
        if (got == 0) break;
        done += got;
    }
    return (int64_t)done;
}

void os_file_close(int fd)
{
    _close(fd);
}

int os_folder_each(const char *path, int (*each)(void *user, const char *name), void *user)
{
    const size_t n = strlen(path);
    char *all = malloc(n + 3);
    if (!all) return -1;
    memcpy(all, path, n);
    memcpy(all + n, n && path[n - 1] != '/' && path[n - 1] != '\\' ? "/*" : "*", n && path[n - 1] != '/' && path[n - 1] != '\\' ? 3 : 2);
    wchar_t *wide = wide_path(all);
    WIN32_FIND_DATAW it;
    const HANDLE h = wide ? FindFirstFileW(wide, &it) : INVALID_HANDLE_VALUE;
    if (wide && h == INVALID_HANDLE_VALUE) errno = EACCES;
    free(wide);
    free(all);
    if (h == INVALID_HANDLE_VALUE) return -1;
    do {
        char name[4 * MAX_PATH];
        if (WideCharToMultiByte(CP_UTF8, 0, it.cFileName, -1, name, sizeof name, NULL, NULL) > 0 && each(user, name)) break;
    } while (FindNextFileW(h, &it));
    FindClose(h);
    return 0;
}

/* ---- arithmetic: mingw's fmaf rounds twice, but the definition of kernels rounds once (as C requires). The product is exact in double;
 * the sum is rounded to odd, after which rounding to float gives what one rounding would (Boldo and Melquiond, 2008). */
float fmaf(float a, float b, float c)
{
    const double product = (double)a * b, sum = product + c, part = sum - product, lost = (product - (sum - part)) + (c - part);
    uint64_t bits;
    double odd;
    memcpy(&bits, &sum, sizeof bits);
    if (isfinite(sum) && lost != 0 && !(bits & 1)) bits += (lost > 0) == (sum > 0) ? 1 : (uint64_t)-1;
    memcpy(&odd, &bits, sizeof odd);
    return (float)odd;
}
