/* steno: functions of POSIX on Windows, for the folders that use POSIX. SPDX-License-Identifier: MIT
 *
 * The compiler includes this header before each file of media, output, files, hub, job and tools, so that these are written for POSIX
 * alone. Only what they use is here. Headers that Windows lacks are empty files, which the build makes.
 *
 * Paths are UTF-8, and parts of a path are separated by slashes. A variable of the environment that begins as a path of Windows gets
 * slashes here; words of the command line and names in files get them from those who know which are paths (path_typed of files/). Files
 * are never converted: bytes are written as they are. A hidden file has the mode 01200, with which the rooms above mark files that are
 * not complete. An owner, a group and a umask do not exist. */
#ifndef STENO_WINDOWS_POSIX_H
#define STENO_WINDOWS_POSIX_H
#include <direct.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <limits.h>
#include <malloc.h>
#include <math.h>
#include <process.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#undef PATH_MAX
#define PATH_MAX 4096
#define NAME_MAX 768
#ifndef M_PI
#define M_PI 3.14159265358979323846
#endif

/* ---- the program */

#define main steno_main /* called by the main of program.c, with the words of the command line in UTF-8 */
int steno_main(int argc, char **argv);

#define getenv win_getenv
char *win_getenv(const char *name); /* HOME and TMPDIR are never missing; valid until the program ends */

typedef unsigned uid_t, gid_t;
#define geteuid win_geteuid
uid_t win_geteuid(void);
#define gethostname win_gethostname
int win_gethostname(char *name, size_t n);
#define getentropy win_getentropy
int win_getentropy(void *to, size_t n);
#define getrandom(to, n, flags) (win_getentropy(to, n) ? -1 : (ssize_t)(n))

enum { _SC_PAGESIZE, _SC_NPROCESSORS_ONLN, _SC_PHYS_PAGES, _SC_AVPHYS_PAGES };
long long sysconf(int what);
struct utsname { char machine[64]; };
#define uname win_uname
int win_uname(struct utsname *u); /* the name of the processor alone */

enum { RUSAGE_SELF, RLIMIT_AS };
struct rusage { long ru_maxrss; };
#define getrusage win_getrusage
int win_getrusage(int who, struct rusage *u); /* the peak of memory alone */
#define RLIM_INFINITY UINT64_MAX
struct rlimit { uint64_t rlim_cur, rlim_max; };
static inline int getrlimit(int what, struct rlimit *l)
{
    (void)what;
    *l = (struct rlimit){ RLIM_INFINITY, RLIM_INFINITY };
    return 0;
}

/* Ctrl-C is SIGINT, Ctrl-Break SIGTERM, and the end of the console SIGHUP. A handler runs on a thread of its own. */
#define SIGHUP 1
#define SIGPIPE 13
#define SIGXFSZ 25
typedef unsigned win_sigset;
struct sigaction { void (*sa_handler)(int sig); win_sigset sa_mask; int sa_flags; };
#define sigemptyset(set) ((void)(*(set) = 0))
#define sigaddset(set, sig) ((void)(*(set) |= 1u << (sig)))
int sigaction(int sig, const struct sigaction *to, struct sigaction *was);

enum { RTLD_LAZY = 1, RTLD_NOW = 2, RTLD_LOCAL = 0, RTLD_GLOBAL = 256 };
void *dlopen(const char *name, int how); /* NULL: libraries are linked, never loaded */
void *dlsym(void *library, const char *name);
char *dlerror(void);

/* ---- files */

#define ino_t uint64_t
#define dev_t uint64_t
#undef stat
#undef fstat
#undef lstat
#define stat win_stat
#define fstat win_fstat
#define lstat win_lstat
struct stat {
    dev_t st_dev;
    ino_t st_ino;
    unsigned st_mode, st_nlink;
    uid_t st_uid;
    gid_t st_gid;
    int64_t st_size;
    struct timespec st_mtim, st_ctim;
};
#define S_ISVTX 01000
#define S_IFLNK 0120000
#define S_IFSOCK 0140000
#define S_ISLNK(mode) (((mode)&S_IFMT) == S_IFLNK)
#define S_ISSOCK(mode) (((mode)&S_IFMT) == S_IFSOCK)
#undef S_IRWXO
#define S_IRWXO 07
int stat(const char *path, struct stat *st);
int lstat(const char *path, struct stat *st);
int fstat(int fd, struct stat *st);
int fstatat(int at, const char *path, struct stat *st, int flags);

enum { AT_FDCWD = -100, AT_SYMLINK_NOFOLLOW = 1, AT_EACCESS = 2, AT_REMOVEDIR = 4, RENAME_NOREPLACE = 1 };
#define O_CLOEXEC _O_NOINHERIT
#define O_NONBLOCK 0x01000000
#define O_NOCTTY 0x02000000
#define O_DIRECTORY 0x04000000
#define O_NOFOLLOW 0x08000000
#define O_TMPFILE 0x10000000 /* refused: a file is then made and removed */
#define EDQUOT 10069 /* never set */
#define open win_open
#define access win_access
#define chmod win_chmod
#define mkdir win_mkdir
#define rmdir win_rmdir
#define unlink win_unlink
#define rename win_rename
#define umask win_umask
#define fchown win_fchown
static inline unsigned umask(unsigned mask)
{
    (void)mask;
    return 0;
}
static inline int fchown(int fd, uid_t user, gid_t group)
{
    (void)fd, (void)user, (void)group;
    return 0;
}
int open(const char *path, int flags, ...);
int openat(int at, const char *path, int flags, ...);
int access(const char *path, int how);
int faccessat(int at, const char *path, int how, int flags);
int chmod(const char *path, unsigned mode);
int fchmod(int fd, unsigned mode);
int mkdir(const char *path, unsigned mode);
int mkdirat(int at, const char *path, unsigned mode);
int rmdir(const char *path);
int unlink(const char *path);
int unlinkat(int at, const char *path, int flags);
int rename(const char *from, const char *to); /* replaces a file */
int renameat(int at, const char *from, int at_to, const char *to);
int renameat2(int at, const char *from, int at_to, const char *to, unsigned flags);
int linkat(int at, const char *of, int at_to, const char *path, int flags);
int symlink(const char *of, const char *path);
ssize_t readlink(const char *path, char *to, size_t n); /* /proc/self/exe is the program */
char *realpath(const char *path, char *to);
#define mkostemp win_mkostemp
int mkostemp(char *path, int flags);
#define memfd_create(name, flags) (errno = ENOSYS, -1)

enum { LOCK_EX = 2, LOCK_NB = 4, LOCK_UN = 8 };
int flock(int fd, int how);
enum { F_DUPFD_CLOEXEC, F_GETFD };
int fcntl(int fd, int what, ...);
ssize_t pread(int fd, void *to, size_t n, int64_t at); /* the descriptor's place stays */
#define read win_read
#define write win_write
ssize_t read(int fd, void *to, size_t n); /* from a console: UTF-8 */
ssize_t write(int fd, const void *from, size_t n);
int fsync(int fd);
#define fdatasync fsync

struct statvfs { uint64_t f_blocks, f_bavail, f_frsize; };
int statvfs(const char *path, struct statvfs *s);
int fstatvfs(int fd, struct statvfs *s);

enum { POLLIN = 1, POLLOUT = 4, POLLERR = 8, POLLHUP = 16, POLLNVAL = 32 };
struct pollfd { int fd; short events, revents; };
int poll(struct pollfd *p, unsigned n, int timeout_ms);

/* ---- folders */

#define DIR win_dir
#define dirent win_dirent
#define opendir win_opendir
#define readdir win_readdir
#define closedir win_closedir
struct dirent { char d_name[NAME_MAX + 1]; };
typedef struct win_dir DIR;
DIR *opendir(const char *path);
DIR *fdopendir(int fd);
int dirfd(DIR *d);
struct dirent *readdir(DIR *d);
int closedir(DIR *d);
int scandir(const char *path, struct dirent ***out, int (*filter)(const struct dirent *),
            int (*order)(const struct dirent **, const struct dirent **));
int alphasort(const struct dirent **a, const struct dirent **b);

enum { GLOB_NOSPACE = 1, GLOB_NOMATCH };
typedef struct { size_t gl_pathc, cap; char **gl_pathv; } glob_t;
int glob(const char *pattern, int flags, int (*fault)(const char *, int), glob_t *g); /* *, ?, [a-z] and \ */
void globfree(glob_t *g);

/* ---- streams: never in text mode, in which line ends would change */

#define fopen win_fopen
#define fdopen win_fdopen
#define fclose win_fclose
#define setvbuf win_setvbuf
FILE *fopen(const char *path, const char *mode);
FILE *fdopen(int fd, const char *mode);
FILE *open_memstream(char **text, size_t *n);
int fclose(FILE *f);
int setvbuf(FILE *f, char *buffer, int how, size_t n);

/* One write per call, as a console and unbuffered streams need it. */
#define printf gnu_printf /* also the name of the form that the compiler checks: format(printf, 1, 2) then means C's, not Microsoft's */
#define fprintf win_fprintf
#define vasprintf win_vasprintf
int printf(const char *fmt, ...) __attribute__((format(gnu_printf, 1, 2)));
int fprintf(FILE *f, const char *fmt, ...) __attribute__((format(gnu_printf, 2, 3)));
int vasprintf(char **out, const char *fmt, va_list ap) __attribute__((format(gnu_printf, 2, 0)));

#define isatty win_isatty
int isatty(int fd); /* unlike _isatty: a console, no other device */
enum { TIOCGWINSZ };
struct winsize { unsigned short ws_row, ws_col; };
int ioctl(int fd, int what, struct winsize *w);
#undef P_tmpdir
#define P_tmpdir win_getenv("TMPDIR")

/* ---- text and time */

#define timegm _mkgmtime64
#define strndup win_strndup
#define stpcpy win_stpcpy
char *strndup(const char *s, size_t n);
char *stpcpy(char *to, const char *s);
#define inet_pton win_inet_pton
enum { AF_INET = 2, AF_INET6 = 23 };
struct in_addr { uint32_t s_addr; };
struct in6_addr { uint8_t s6_addr[16]; };
int inet_pton(int family, const char *text, void *to);
#define ntohl __builtin_bswap32
int win_is_absolute(const char *path); /* "/a", "C:/a", "//server/share"; with \ as well */
char *win_slashes(char *path); /* changes backslashes to slashes, and removes the prefix of long paths; returns path */
int win_is_loopback(const struct in6_addr *a);
#define IN6_IS_ADDR_LOOPBACK win_is_loopback
#endif
