/* steno: files and their names on Windows. SPDX-License-Identifier: MIT
 *
 * Files are opened so that others may read, write, rename and remove them, as on POSIX systems; so a file can be put in place while its
 * lock is held. */
#include "win.h"
#include <winioctl.h>

enum { SHARE = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, MODE_HIDDEN = S_ISVTX | S_IWUSR };

static int64_t ns_of(FILETIME t)
{
    const int64_t since_1601 = (int64_t)((uint64_t)t.dwHighDateTime << 32 | t.dwLowDateTime);
    return (since_1601 - 116444736000000000) * 100;
}

static struct timespec time_of(FILETIME t)
{
    const int64_t ns = ns_of(t);
    return (struct timespec){ .tv_sec = ns / 1000000000, .tv_nsec = (long)(ns % 1000000000) };
}

/* ---- status ------------------------------------------------------------------------------------------------------------------ */

static unsigned mode_of(DWORD attributes)
{
    if (attributes & FILE_ATTRIBUTE_DIRECTORY) return S_IFDIR | 0777;
    if (attributes & FILE_ATTRIBUTE_HIDDEN) return S_IFREG | MODE_HIDDEN;
    return S_IFREG | (attributes & FILE_ATTRIBUTE_READONLY ? 0444 : 0666);
}

/* A handle that only gives the size of its file, as standard input does under Wine, is a file of its own. */
static int stat_size(HANDLE h, struct stat *st)
{
    LARGE_INTEGER size;
    if (!GetFileSizeEx(h, &size)) return win_fail();
    st->st_dev = UINT64_MAX;
    st->st_ino = (uintptr_t)h;
    st->st_mode = S_IFREG | 0666;
    st->st_size = size.QuadPart;
    return 0;
}

typedef BOOL WINAPI compare_handles(HANDLE a, HANDLE b);

/* Pipes and devices have no number of their own. A process has one console; of a pipe the first standard stream that is the same stands
 * for it, else its handle. */
static void stat_stream(HANDLE h, struct stat *st)
{
    enum { BY_HANDLE = 1, BY_STREAM, CONSOLE };
    DWORD mode;
    compare_handles *same = NULL;
    const FARPROC fn = GetProcAddress(GetModuleHandleW(L"kernelbase.dll"), "CompareObjectHandles");
    memcpy(&same, &fn, sizeof same);
    st->st_dev = BY_HANDLE;
    st->st_ino = (uintptr_t)h;
    if (GetConsoleMode(h, &mode)) st->st_dev = CONSOLE, st->st_ino = 0;
    for (int fd = 0; fd < 3 && same && st->st_dev == BY_HANDLE; fd++)
        if (same(h, win_handle(fd))) st->st_dev = BY_STREAM, st->st_ino = (unsigned)fd;
}

static int stat_handle(HANDLE h, struct stat *st)
{
    BY_HANDLE_FILE_INFORMATION i;
    const DWORD type = GetFileType(h);
    *st = (struct stat){ .st_nlink = 1, .st_mode = (type == FILE_TYPE_PIPE ? S_IFIFO : S_IFCHR) | 0666 };
    if (type == FILE_TYPE_PIPE || type == FILE_TYPE_CHAR) {
        stat_stream(h, st);
        return 0;
    }
    if (!GetFileInformationByHandle(h, &i)) return stat_size(h, st);
    st->st_dev = i.dwVolumeSerialNumber;
    st->st_ino = (uint64_t)i.nFileIndexHigh << 32 | i.nFileIndexLow;
    st->st_mode = mode_of(i.dwFileAttributes);
    st->st_nlink = i.nNumberOfLinks;
    st->st_size = (int64_t)((uint64_t)i.nFileSizeHigh << 32 | i.nFileSizeLow);
    st->st_mtim = st->st_ctim = time_of(i.ftLastWriteTime);
    return 0;
}

/* A handle for the status and the attributes alone: it opens what is locked or without rights, too. */
static HANDLE open_status(const char *path, DWORD access, DWORD flags)
{
    wchar_t *wide = win_path(path);
    if (!wide) return INVALID_HANDLE_VALUE;
    const HANDLE h = CreateFileW(wide, access, SHARE, NULL, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS | flags, NULL);
    if (h == INVALID_HANDLE_VALUE) win_fail();
    free(wide);
    return h;
}

int stat(const char *path, struct stat *st)
{
    const size_t n = strlen(path);
    const HANDLE h = open_status(path, FILE_READ_ATTRIBUTES, 0);
    if (h == INVALID_HANDLE_VALUE) return -1;
    const int bad = stat_handle(h, st);
    CloseHandle(h);
    if (bad || !n || path[n - 1] != '/' || S_ISDIR(st->st_mode)) return bad;
    errno = ENOTDIR;
    return -1;
}

int lstat(const char *path, struct stat *st)
{
    FILE_ATTRIBUTE_TAG_INFO tag;
    const HANDLE h = open_status(path, FILE_READ_ATTRIBUTES, FILE_FLAG_OPEN_REPARSE_POINT);
    if (h == INVALID_HANDLE_VALUE) return -1;
    const int bad = stat_handle(h, st);
    if (!bad && GetFileInformationByHandleEx(h, FileAttributeTagInfo, &tag, sizeof tag) && tag.ReparseTag == IO_REPARSE_TAG_SYMLINK)
        st->st_mode = S_IFLNK | 0777;
    CloseHandle(h);
    return bad;
}

int fstat(int fd, struct stat *st)
{
    const HANDLE h = win_handle(fd);
    return h == INVALID_HANDLE_VALUE ? -1 : stat_handle(h, st);
}

int access(const char *path, int how)
{
    struct stat st;
    if (stat(path, &st)) return -1;
    if (!(how & W_OK) || st.st_mode & S_IWUSR) return 0;
    errno = EACCES;
    return -1;
}

/* ---- opening ----------------------------------------------------------------------------------------------------------------- */

/* An open file is checked, and emptied if that is asked: CREATE_ALWAYS would refuse a hidden file. @return 0, or -1 with errno */
static int open_finish(HANDLE h, int flags)
{
    struct stat st;
    const int writes = (flags & (O_RDONLY | O_WRONLY | O_RDWR)) != O_RDONLY;
    if (stat_handle(h, &st)) return -1;
    if (S_ISDIR(st.st_mode) && writes) return errno = EISDIR, -1;
    if (flags & O_DIRECTORY && !S_ISDIR(st.st_mode)) return errno = ENOTDIR, -1;
    return flags & O_TRUNC && writes && S_ISREG(st.st_mode) && st.st_size && !SetEndOfFile(h) ? win_fail() : 0;
}

static int open_mode(const char *path, int flags, unsigned mode)
{
    struct stat st;
    const int way = flags & (O_RDONLY | O_WRONLY | O_RDWR);
    const DWORD access = way == O_RDONLY ? GENERIC_READ : way == O_WRONLY ? GENERIC_WRITE : GENERIC_READ | GENERIC_WRITE;
    const DWORD hidden = mode & S_ISVTX && flags & O_CREAT ? FILE_ATTRIBUTE_HIDDEN : FILE_ATTRIBUTE_NORMAL;
    const DWORD how = !(flags & O_CREAT) ? OPEN_EXISTING : flags & O_EXCL ? CREATE_NEW : OPEN_ALWAYS;
    if (path[0] == '\0' || flags & O_TMPFILE) return errno = path[0] ? EOPNOTSUPP : ENOENT, -1;
    wchar_t *wide = win_path(path);
    if (!wide) return -1;
    const HANDLE h = CreateFileW(wide, access, SHARE, NULL, how, hidden | FILE_FLAG_BACKUP_SEMANTICS, NULL);
    if (h == INVALID_HANDLE_VALUE) {
        win_fail();
        if (errno == EACCES && way != O_RDONLY && stat(path, &st) == 0 && S_ISDIR(st.st_mode)) errno = EISDIR;
    }
    free(wide);
    if (h == INVALID_HANDLE_VALUE) return -1;
    if (open_finish(h, flags)) {
        CloseHandle(h);
        return -1;
    }
    const int fd = _open_osfhandle((intptr_t)h, _O_BINARY | _O_NOINHERIT | (flags & O_APPEND ? _O_APPEND : 0));
    if (fd < 0) CloseHandle(h);
    win_append(fd, (flags & O_APPEND) != 0);
    return fd;
}

int open(const char *path, int flags, ...)
{
    va_list ap;
    va_start(ap, flags);
    const unsigned mode = flags & O_CREAT ? va_arg(ap, unsigned) : 0;
    va_end(ap);
    return open_mode(path, flags, mode);
}

/* The path of `path` below the folder `at`, malloc'd. */
static char *path_at(int at, const char *path)
{
    if (at == AT_FDCWD || win_is_absolute(path)) return strdup(path);
    const HANDLE h = win_handle(at);
    char *dir = h == INVALID_HANDLE_VALUE ? NULL : win_final_path(h);
    const size_t n = dir ? strlen(dir) : 0, need = n + strlen(path) + 2;
    char *all = dir ? realloc(dir, need) : NULL;
    if (!all) free(dir);
    else snprintf(all + n, need - n, "/%s", path);
    return all;
}

int openat(int at, const char *path, int flags, ...)
{
    va_list ap;
    va_start(ap, flags);
    const unsigned mode = flags & O_CREAT ? va_arg(ap, unsigned) : 0;
    va_end(ap);
    struct stat st;
    char *all = path_at(at, path);
    const int is_link = all && flags & O_NOFOLLOW && lstat(all, &st) == 0 && S_ISLNK(st.st_mode);
    const int fd = !all ? -1 : is_link ? (errno = ELOOP, -1) : open_mode(all, flags, mode);
    free(all);
    return fd;
}

int mkostemp(char *path, int flags)
{
    static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyz"; /* names differ by more than case */
    char *x = path + strlen(path) - 6;
    unsigned char r[6];
    (void)flags;
    for (int tries = 0; tries < 64; tries++) {
        if (getentropy(r, sizeof r)) return -1;
        for (int i = 0; i < 6; i++) x[i] = digits[r[i] % (sizeof digits - 1)];
        const int fd = open_mode(path, O_RDWR | O_CREAT | O_EXCL, 0600);
        if (fd >= 0 || errno != EEXIST) return fd;
    }
    return -1;
}

/* ---- modes ------------------------------------------------------------------------------------------------------------------- */

static int chmod_handle(HANDLE h, unsigned mode)
{
    FILE_BASIC_INFO i;
    const DWORD ours = FILE_ATTRIBUTE_HIDDEN | FILE_ATTRIBUTE_READONLY | FILE_ATTRIBUTE_NORMAL;
    if (!GetFileInformationByHandleEx(h, FileBasicInfo, &i, sizeof i)) return win_fail();
    FILE_BASIC_INFO to = { .FileAttributes = i.FileAttributes & ~ours };
    if (mode & S_ISVTX) to.FileAttributes |= FILE_ATTRIBUTE_HIDDEN;
    if (!(mode & 0222)) to.FileAttributes |= FILE_ATTRIBUTE_READONLY;
    if (!to.FileAttributes) to.FileAttributes = FILE_ATTRIBUTE_NORMAL;
    return SetFileInformationByHandle(h, FileBasicInfo, &to, sizeof to) ? 0 : win_fail();
}

int fchmod(int fd, unsigned mode)
{
    const HANDLE h = win_handle(fd);
    return h == INVALID_HANDLE_VALUE ? -1 : chmod_handle(h, mode);
}

int chmod(const char *path, unsigned mode)
{
    const HANDLE h = open_status(path, FILE_READ_ATTRIBUTES | FILE_WRITE_ATTRIBUTES, 0);
    if (h == INVALID_HANDLE_VALUE) return -1;
    const int bad = chmod_handle(h, mode);
    CloseHandle(h);
    return bad;
}

/* ---- names ------------------------------------------------------------------------------------------------------------------- */

typedef BOOL WINAPI change_name(LPCWSTR path);

static int change(change_name *fn, const char *path)
{
    wchar_t *wide = win_path(path);
    if (!wide) return -1;
    const int bad = fn(wide) ? 0 : win_fail();
    free(wide);
    return bad;
}

static BOOL WINAPI make_folder(LPCWSTR path)
{
    return CreateDirectoryW(path, NULL);
}

/* What is "//server" or "//server/share" alone: neither can be made. */
static int is_share(const char *path)
{
    const size_t n = path[0] == '/' && path[1] == '/' ? 2 + strcspn(path + 2, "/") : 0;
    return n > 2 && !strchr(path + n + strspn(path + n, "/"), '/');
}

/* A drive is not made either, and Windows gives another reason than that it is there. */
int mkdir(const char *path, unsigned mode)
{
    struct stat st;
    (void)mode;
    if (is_share(path)) return errno = EEXIST, -1;
    if (change(make_folder, path) == 0) return 0;
    const int why = errno;
    errno = stat(path, &st) == 0 ? EEXIST : why;
    return -1;
}

int rmdir(const char *path)
{
    return change(RemoveDirectoryW, path);
}

int unlink(const char *path)
{
    return change(DeleteFileW, path);
}

static int move(const char *from, const char *to, DWORD how)
{
    wchar_t *a = win_path(from), *b = a ? win_path(to) : NULL;
    const int bad = b ? (MoveFileExW(a, b, how) ? 0 : win_fail()) : -1;
    free(a);
    free(b);
    return bad;
}

int rename(const char *from, const char *to)
{
    return move(from, to, MOVEFILE_REPLACE_EXISTING);
}

/* The text of a link has backslashes: links with slashes are made and then not followed. */
int symlink(const char *of, const char *path)
{
    wchar_t *a = win_wide(of), *b = a ? win_path(path) : NULL;
    for (wchar_t *p = a; p && *p; p++)
        if (*p == '/') *p = '\\';
    const int bad = b ? (CreateSymbolicLinkW(b, a, SYMBOLIC_LINK_FLAG_ALLOW_UNPRIVILEGED_CREATE) ? 0 : win_fail()) : -1;
    free(a);
    free(b);
    return bad;
}

char *realpath(const char *path, char *to)
{
    const HANDLE h = open_status(path, FILE_READ_ATTRIBUTES, 0);
    char *final = h == INVALID_HANDLE_VALUE ? NULL : win_final_path(h);
    if (h != INVALID_HANDLE_VALUE) CloseHandle(h);
    if (!to || !final) return final;
    const int fits = snprintf(to, PATH_MAX, "%s", final) < PATH_MAX;
    free(final);
    if (!fits) errno = ENAMETOOLONG;
    return fits ? to : NULL;
}

/* Of a link its last target: Windows resolves all links at once. */
ssize_t readlink(const char *path, char *to, size_t n)
{
    char whole[PATH_MAX];
    struct stat st;
    if (strcmp(path, "/proc/self/exe") != 0) {
        if (lstat(path, &st)) return -1;
        if (!S_ISLNK(st.st_mode)) return errno = EINVAL, -1;
    }
    if (!realpath(path, whole)) return -1;
    const size_t have = strlen(whole), put = have < n ? have : n;
    memcpy(to, whole, put);
    return (ssize_t)put;
}

/* ---- names below an open folder ---------------------------------------------------------------------------------------------- */

int fstatat(int at, const char *path, struct stat *st, int flags)
{
    char *all = path_at(at, path);
    const int bad = !all ? -1 : flags & AT_SYMLINK_NOFOLLOW ? lstat(all, st) : stat(all, st);
    free(all);
    return bad;
}

int faccessat(int at, const char *path, int how, int flags)
{
    (void)flags;
    char *all = path_at(at, path);
    const int bad = all ? access(all, how) : -1;
    free(all);
    return bad;
}

int mkdirat(int at, const char *path, unsigned mode)
{
    char *all = path_at(at, path);
    const int bad = all ? mkdir(all, mode) : -1;
    free(all);
    return bad;
}

int unlinkat(int at, const char *path, int flags)
{
    char *all = path_at(at, path);
    const int bad = !all ? -1 : flags & AT_REMOVEDIR ? rmdir(all) : unlink(all);
    free(all);
    return bad;
}

int renameat2(int at, const char *from, int at_to, const char *to, unsigned flags)
{
    char *a = path_at(at, from), *b = a ? path_at(at_to, to) : NULL;
    const int bad = b ? move(a, b, flags & RENAME_NOREPLACE ? 0 : MOVEFILE_REPLACE_EXISTING) : -1;
    free(a);
    free(b);
    return bad;
}

int renameat(int at, const char *from, int at_to, const char *to)
{
    return renameat2(at, from, at_to, to, 0);
}

int linkat(int at, const char *of, int at_to, const char *path, int flags)
{
    (void)flags;
    char *a = path_at(at, of), *b = a ? path_at(at_to, path) : NULL;
    wchar_t *from = b ? win_path(a) : NULL, *to = from ? win_path(b) : NULL;
    const int bad = to ? (CreateHardLinkW(to, from, NULL) ? 0 : win_fail()) : -1;
    free(a);
    free(b);
    free(from);
    free(to);
    return bad;
}

/* ---- disks ------------------------------------------------------------------------------------------------------------------- */

int statvfs(const char *path, struct statvfs *s)
{
    ULARGE_INTEGER mine, all;
    wchar_t *wide = win_path(path);
    if (!wide) return -1;
    const int bad = GetDiskFreeSpaceExW(wide, &mine, &all, NULL) ? 0 : win_fail();
    if (!bad) *s = (struct statvfs){ .f_blocks = all.QuadPart, .f_bavail = mine.QuadPart, .f_frsize = 1 };
    free(wide);
    return bad;
}

int fstatvfs(int fd, struct statvfs *s)
{
    const HANDLE h = win_handle(fd);
    char *path = h == INVALID_HANDLE_VALUE ? NULL : win_final_path(h), *slash = path ? strrchr(path, '/') : NULL;
    if (slash) slash[1] = '\0';
    const int bad = path ? statvfs(path, s) : -1;
    free(path);
    return bad;
}
