/* steno tests: locks of the hub's cache. SPDX-License-Identifier: MIT */
#include "folder.h"
#include "harness.h"
#include "store.h"
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static struct folder own;

static int enter(void **state)
{
    (void)state;
    own = folder_new();
    return 0;
}

static int leave(void **state)
{
    (void)state;
    static const char *const made[] = { ".locks/models--a--b/c.lock", ".locks/models--a--b", ".locks", "c.lock" };
    for (size_t i = 0; i < sizeof made / sizeof *made; i++)
        if (unlink(folder_at(&own, made[i]).path)) rmdir(folder_at(&own, made[i]).path);
    folder_remove(&own);
    return 0;
}

static int after_two(void *user)
{
    int *asked = user;
    return ++*asked > 2;
}

/* Is it held by another? */
static int is_held(const char *path)
{
    struct store_lock l = { -1 };
    struct hub_error e = { 0 };
    int asked = 0;
    const int rc = store_lock(&l, path, after_two, &asked, &e);
    assert_true(rc == HUB_OK || rc == HUB_ESTOPPED);
    if (rc == HUB_ESTOPPED) {
        assert_int_equal(asked, 3);
        assert_int_equal(l.fd, -1);
        assert_non_null(strstr(e.text, "ended while another program held"));
    } else {
        assert_true(l.fd >= 0);
    }
    store_unlock(&l);
    return rc == HUB_ESTOPPED;
}

static void test_a_file_has_one_holder(void **state)
{
    char path[512];
    struct store_lock l = { -1 };
    struct hub_error e = { 0 };
    struct stat st;
    (void)state;
    snprintf(path, sizeof path, "%s/.locks/models--a--b/c.lock", own.path);
    for (int round = 0; round < 2; round++) { /* it stays and is taken again */
        assert_int_equal(store_lock(&l, path, NULL, NULL, &e), HUB_OK);
        assert_true(l.fd >= 0);
        assert_true(is_held(path));
        store_unlock(&l);
        assert_int_equal(l.fd, -1);
        assert_false(is_held(path));
        assert_true(stat(path, &st) == 0 && S_ISREG(st.st_mode));
    }
}

/* A folder in place of a lock's file is locked where the system can do so, and hinders nobody elsewhere. */
static void test_a_folder_has_one_holder_where_folders_have_locks(void **state)
{
    char path[512];
    struct store_lock l = { -1 };
    struct hub_error e = { 0 };
    (void)state;
    snprintf(path, sizeof path, "%s/c.lock", own.path);
    assert_int_equal(mkdir(path, 0777), 0);
    const int fd = open(path, O_RDONLY | O_DIRECTORY), has_locks = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0;
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(store_lock(&l, path, NULL, NULL, &e), HUB_OK);
    assert_int_equal(l.fd >= 0, has_locks);
    if (has_locks) assert_true(is_held(path));
    store_unlock(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_file_has_one_holder, enter, leave),
        cmocka_unit_test_setup_teardown(test_a_folder_has_one_holder_where_folders_have_locks, enter, leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
