/* steno: files, folders and patterns of windows/, as the rooms above use them. SPDX-License-Identifier: MIT */
#include "base/os.h"
#include "win.h"
#include <setjmp.h>

#include <cmocka.h>

static char top[PATH_MAX];

static int enter(void **state)
{
    (void)state;
    snprintf(top, sizeof top, "%s/steno-windows-XXXXXX", getenv("TMPDIR"));
    const int fd = mkostemp(top, 0); /* a name that is free */
    if (fd < 0 || close(fd) || unlink(top)) return -1;
    return mkdir(top, 0777) || _chdir(top);
}

static void empty(const char *dir)
{
    struct dirent **e;
    char path[PATH_MAX];
    struct stat st;
    const int n = scandir(dir, &e, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        snprintf(path, sizeof path, "%s/%s", dir, e[i]->d_name);
        if (strcmp(e[i]->d_name, ".") && strcmp(e[i]->d_name, "..") && stat(path, &st) == 0) {
            if (S_ISDIR(st.st_mode)) empty(path), rmdir(path);
            else unlink(path);
        }
        free(e[i]);
    }
    if (n >= 0) free(e);
}

static int leave(void **state)
{
    (void)state;
    empty(top);
    return _chdir("..") || rmdir(top);
}

static void put(const char *path, const char *text)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
}

static void has(const char *path, const char *text)
{
    char got[256] = "";
    const int fd = open(path, O_RDONLY);
    assert_true(fd >= 0);
    const ssize_t n = read(fd, got, sizeof got - 1);
    close(fd);
    assert_int_equal(n, strlen(text));
    assert_string_equal(got, text);
}

/* ---- writing at the end ------------------------------------------------------------------------------------------------------ */

static void test_append_begins_at_the_end(void **state)
{
    (void)state;
    put("a", "one ");
    const int fd = open("a", O_WRONLY | O_APPEND), other = open("a", O_WRONLY | O_APPEND);
    assert_int_equal(write(fd, "two ", 4), 4);
    assert_int_equal(write(other, "three ", 6), 6);
    assert_int_equal(write(fd, "four", 4), 4);
    close(fd);
    close(other);
    has("a", "one two three four");
}

static void test_append_after_reading_and_cutting(void **state)
{
    char got[4] = "";
    (void)state;
    put("a", "0123456789");
    const int fd = open("a", O_RDWR | O_CREAT | O_APPEND, 0666);
    assert_int_equal(pread(fd, got, 3, 2), 3);
    assert_string_equal(got, "234");
    assert_int_equal(write(fd, "ab", 2), 2);
    assert_int_equal(ftruncate(fd, 5), 0);
    assert_int_equal(write(fd, "cd", 2), 2);
    const int copy = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    close(fd);
    assert_int_equal(_lseeki64(copy, 0, SEEK_SET), 0);
    assert_int_equal(write(copy, "e", 1), 1);
    close(copy);
    has("a", "01234cde");
}

static void test_descriptor_of_appending_is_used_again(void **state)
{
    (void)state;
    put("a", "old");
    const int fd = open("a", O_WRONLY | O_APPEND);
    close(fd);
    const int next = open("a", O_WRONLY);
    assert_int_equal(next, fd);
    assert_int_equal(write(next, "n", 1), 1);
    close(next);
    has("a", "nld");
    FILE *f = fopen("a", "a");
    assert_true(f && fputs("+", f) >= 0 && fclose(f) == 0);
    has("a", "nld+");
}

/* ---- opening ----------------------------------------------------------------------------------------------------------------- */

static void test_hidden_file_is_emptied(void **state)
{
    struct stat st;
    (void)state;
    const int fd = open("h", O_RDWR | O_CREAT | O_EXCL, S_ISVTX | S_IWUSR);
    assert_int_equal(write(fd, "text", 4), 4);
    close(fd);
    assert_int_equal(stat("h", &st), 0);
    assert_int_equal(st.st_mode & 07777, S_ISVTX | S_IWUSR);
    put("h", "t");
    has("h", "t");
    assert_int_equal(open("h", O_WRONLY | O_CREAT | O_EXCL, 0666), -1);
    assert_int_equal(errno, EEXIST);
}

static void fails(int fd, int why)
{
    const int is = errno;
    assert_int_equal(fd, -1);
    assert_int_equal(is, why);
}

static void test_folders_have_their_errors(void **state)
{
    char got[4];
    (void)state;
    assert_int_equal(mkdir("d", 0777), 0);
    put("f", "x");
    fails(open("d", O_WRONLY), EISDIR);
    fails(open("d", O_WRONLY | O_CREAT | O_TRUNC, 0666), EISDIR);
    fails(open("f", O_RDONLY | O_DIRECTORY), ENOTDIR);
    fails(open("none", O_RDONLY), ENOENT);
    const int fd = open("d", O_RDONLY);
    fails((int)read(fd, got, 4), EISDIR);
    fails((int)pread(fd, got, 4, 0), EISDIR);
    close(fd);
    fails(mkdir("d", 0777), EEXIST);
    fails(mkdir("f", 0777), EEXIST);
    fails(mkdir("none/d", 0777), ENOENT);
    fails(mkdir("C:", 0777), EEXIST);
    fails(mkdir("C:/", 0777), EEXIST);
    fails(mkdir("//server", 0777), EEXIST);
    fails(mkdir("//server/share", 0777), EEXIST);
}

static void test_new_name_replaces_only_if_asked(void **state)
{
    struct stat st;
    (void)state;
    put("a", "a");
    put("b", "b");
    fails(renameat2(AT_FDCWD, "a", AT_FDCWD, "b", RENAME_NOREPLACE), EEXIST);
    has("b", "b");
    assert_int_equal(renameat2(AT_FDCWD, "a", AT_FDCWD, "c", RENAME_NOREPLACE), 0);
    assert_int_equal(rename("c", "b"), 0);
    has("b", "a");
    assert_int_equal(linkat(AT_FDCWD, "b", AT_FDCWD, "link", 0), 0);
    assert_int_equal(stat("link", &st), 0);
    assert_int_equal(st.st_nlink, 2);
}

/* ---- long names -------------------------------------------------------------------------------------------------------------- */

static void test_long_paths(void **state)
{
    enum { N = 8 };
    char part[64], path[N * 64] = "", whole[PATH_MAX];
    struct stat st;
    (void)state;
    memset(part, 'p', 60);
    strcpy(part + 60, "/");
    for (int i = 0; i < N - 1; i++) { /* the last is longer than 400 */
        strcat(path, part);
        assert_int_equal(mkdir(path, 0777), 0);
    }
    assert_int_equal(mkdir(path, 0777), -1);
    assert_int_equal(errno, EEXIST);
    strcat(path, "f");
    put(path, "far");
    has(path, "far");
    snprintf(whole, sizeof whole, "%s/%s", top, path);
    has(whole, "far");
    assert_int_equal(stat(whole, &st), 0);
    assert_int_equal(os_path_kind(path), OS_FILE);
    assert_int_equal(os_path_kind(whole), OS_FILE);
    const int fd = os_file_open(whole);
    assert_true(fd >= 0);
    os_file_close(fd);
    strrchr(whole, '/')[0] = '\0';
    assert_int_equal(os_path_kind(whole), OS_FOLDER);
}

/* A path that is short in itself, below a folder whose path is nearly as long as may be. */
static void test_short_path_in_a_long_folder(void **state)
{
    char part[202], file[64];
    (void)state;
    memset(part, 'q', sizeof part - 1);
    part[sizeof part - 1] = '\0';
    memset(file, 'r', sizeof file - 1);
    file[sizeof file - 1] = '\0';
    assert_int_equal(mkdir(part, 0777), 0);
    assert_int_equal(_chdir(part), 0);
    put(file, "x");
    has(file, "x");
    assert_int_equal(os_path_kind(file), OS_FILE);
    assert_int_equal(unlink(file), 0);
    assert_int_equal(_chdir(top), 0);
}

static void wide_is(const char *path, const wchar_t *begin, int is_prefixed)
{
    wchar_t *wide = win_path(path);
    assert_non_null(wide);
    assert_int_equal(wcsncmp(wide, begin, wcslen(begin)), 0);
    assert_int_equal(wcsncmp(wide, L"\\\\?\\", 4) == 0, is_prefixed);
    free(wide);
}

static void test_prefixes(void **state)
{
    char path[400];
    (void)state;
    memset(path, 'x', sizeof path);
    path[sizeof path - 1] = '\0';
    wide_is("//server/share/x", L"//server/share/x", 0);
    memcpy(path, "//server/share/", 15);
    wide_is(path, L"\\\\?\\UNC\\server\\share\\xxx", 1);
    memcpy(path, "C:/a/../b/xxxxx", 15);
    wide_is(path, L"\\\\?\\C:\\b\\xxx", 1);
    memcpy(path, "\\\\?\\C:\\b\\xxxxxx", 15);
    wide_is(path, L"\\\\?\\C:\\b\\xxx", 1);
    wide_is("/dev/null", L"NUL", 0);
    assert_true(win_is_absolute("/a") && win_is_absolute("C:/a") && win_is_absolute("\\\\a\\b") && win_is_absolute("//a/b"));
    assert_false(win_is_absolute("a/b") || win_is_absolute("") || win_is_absolute(".\\a") || win_is_absolute("1:/a"));
}

/* ---- folders and patterns ---------------------------------------------------------------------------------------------------- */

static void test_end_of_a_folder_leaves_errno(void **state)
{
    int n = 0;
    (void)state;
    put("a", "a");
    DIR *d = opendir(".");
    errno = 0;
    while (readdir(d)) n++;
    assert_int_equal(errno, 0);
    assert_int_equal(n, 3); /* with . and .. */
    closedir(d);
    assert_null(opendir("a"));
    assert_int_equal(errno, ENOTDIR);
    assert_null(opendir("none"));
    assert_int_equal(errno, ENOENT);
}

static void found(const char *pattern, int n, const char *first)
{
    glob_t g;
    const int rc = glob(pattern, 0, NULL, &g);
    assert_int_equal(rc, n ? 0 : GLOB_NOMATCH);
    if (!n) return;
    assert_int_equal(g.gl_pathc, n);
    assert_string_equal(g.gl_pathv[0], first);
    globfree(&g);
}

static void test_patterns(void **state)
{
    (void)state;
    assert_int_equal(mkdir("Dir", 0777), 0);
    put("Dir/One.WAV", "");
    put("Dir/two.wav", "");
    put("Dir/x[1].txt", "");
    put("Dir/.hidden.wav", "");
    put("Dir/\xC3\x84rger.mp3", ""); /* Ä */
    found("Dir/*.wav", 2, "Dir/One.WAV");
    found("dir/*.Wav", 2, "dir/One.WAV");
    found("D*/one.*", 1, "Dir/One.WAV");
    found("Dir/[o-p]ne.wav", 1, "Dir/One.WAV");
    found("Dir/[!o]*.wav", 1, "Dir/two.wav");
    found("Dir/?wo.wav", 1, "Dir/two.wav");
    found("Dir/x\\[1\\].*", 1, "Dir/x[1].txt");
    found("Dir/x\\[1\\].txt", 1, "Dir/x[1].txt");
    found("D\\ir/t*", 1, "Dir/two.wav");
    found("Dir/\xC3\xA4*.mp3", 1, "Dir/\xC3\x84rger.mp3"); /* ä */
    found("Dir/?rger.mp3", 1, "Dir/\xC3\x84rger.mp3");
    found("Dir/*.ogg", 0, "");
    found("None/*", 0, "");
    found("//server/share/*.wav", 0, "");
    char all[PATH_MAX + 8];
    snprintf(all, sizeof all, "%s/Dir/T*", top);
    glob_t g;
    assert_int_equal(glob(all, 0, NULL, &g), 0);
    assert_int_equal(g.gl_pathc, 1);
    globfree(&g);
}

/* ---- streams ----------------------------------------------------------------------------------------------------------------- */

static void test_memory_stream(void **state)
{
    char *text;
    size_t n;
    (void)state;
    FILE *f = open_memstream(&text, &n);
    assert_non_null(f);
    fprintf(f, "%s %zu\n", "line", (size_t)1);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(n, 7);
    assert_string_equal(text, "line 1\n");
    free(text);
}

static void test_pipes(void **state)
{
    int a[2], b[2];
    struct stat one, other;
    (void)state;
    assert_int_equal(_pipe(a, 4096, _O_BINARY), 0);
    assert_int_equal(_pipe(b, 4096, _O_BINARY), 0);
    struct pollfd p = { .fd = a[0], .events = POLLIN };
    assert_int_equal(poll(&p, 1, 20), 0);
    assert_int_equal(write(a[1], "x", 1), 1);
    assert_int_equal(poll(&p, 1, 1000), 1);
    assert_int_equal(p.revents, POLLIN);
    assert_int_equal(fstat(a[1], &one), 0);
    assert_int_equal(fstat(b[1], &other), 0);
    assert_true(S_ISFIFO(one.st_mode) && S_ISFIFO(other.st_mode));
    assert_false(one.st_dev == other.st_dev && one.st_ino == other.st_ino);
    const int input = _dup(0); /* two descriptors of one pipe, one of them a standard stream */
    assert_int_equal(_dup2(a[1], 0), 0);
    const int is_one = fstat(0, &one) == 0 && fstat(a[1], &other) == 0 && one.st_dev == other.st_dev && one.st_ino == other.st_ino;
    const int is_else = fstat(b[1], &other) == 0 && one.st_dev == other.st_dev && one.st_ino == other.st_ino;
    _dup2(input, 0);
    close(input);
    assert_true(is_one && !is_else);
    close(a[1]);
    char got[2];
    assert_int_equal(read(a[0], got, 2), 1);
    assert_int_equal(read(a[0], got, 2), 0);
    assert_int_equal(poll(&p, 1, 1000), 1);
    assert_true(p.revents & POLLHUP);
    close(a[0]);
    close(b[0]);
    close(b[1]);
}

static void test_environment(void **state)
{
    (void)state;
    assert_non_null(getenv("HOME"));
    assert_non_null(getenv("TMPDIR"));
    assert_null(strchr(getenv("TMPDIR"), '\\'));
    assert_null(getenv(""));
    assert_null(getenv("STENO_NOT_SET"));
}

static int address(const char *text, const char *bytes)
{
    struct in6_addr a;
    return inet_pton(AF_INET6, text, &a) && (!bytes || memcmp(a.s6_addr, bytes, 16) == 0);
}

static void test_addresses(void **state)
{
    static const char *const wrong[] = { "", ":", ":::", "1", "1::2::3", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "1:2:3:4:5:6:7:8::",
                                         "12345::", "x::", "::1:", "::0x1", "fe80::1%2" };
    (void)state;
    static const char one[16] = { [15] = 1 }, none[16] = { 0 };
    assert_true(address("::1", one) && address("0:0:0:0:0:0:0:1", one) && address("::", none));
    assert_true(address("1::2:3", "\0\1\0\0\0\0\0\0\0\0\0\0\0\2\0\3"));
    assert_true(address("Fe80::", "\xfe\x80\0\0\0\0\0\0\0\0\0\0\0\0\0\0"));
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) assert_false(address(wrong[i], NULL));
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, enter, leave)
int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_append_begins_at_the_end), TEST(test_append_after_reading_and_cutting), TEST(test_descriptor_of_appending_is_used_again),
        TEST(test_hidden_file_is_emptied), TEST(test_folders_have_their_errors), TEST(test_new_name_replaces_only_if_asked),
        TEST(test_long_paths), TEST(test_short_path_in_a_long_folder), TEST(test_prefixes), TEST(test_end_of_a_folder_leaves_errno),
        TEST(test_patterns), TEST(test_memory_stream), TEST(test_pipes), TEST(test_environment),
        cmocka_unit_test(test_addresses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
