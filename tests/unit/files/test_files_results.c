/* steno tests: results in files of a folder, and messages about those that cannot be written. SPDX-License-Identifier: MIT */
#include "atomic_file.h"
#include "result_files.h"
#include "folder.h"
#include <sys/stat.h>

static int n_told, n_gone; /* temporary files that were there, and that went */

static void told(const char *temp, int is_there)
{
    if (is_there) n_told += strstr(temp, "/.steno-") != NULL;
    else n_gone++;
}

static struct transcript transcript_of(const steno_segment *segment, const char *language)
{
    return (struct transcript){ .segs = segment, .n = 1, .text = segment->text, .language = language, .first_timestamp = -1 };
}

static void expect_text(const char *path, const char *want)
{
    char got[64] = "";
    FILE *f = fopen(path, "r");
    if (!f || !fgets(got, sizeof got, f)) fail_msg("%s cannot be read", path);
    fclose(f);
    assert_string_equal(got, want);
}

static void test_a_result_stands_at_the_template_s_place_once(void **state)
{
    (void)state;
    const struct folder d = folder_new();
    const steno_segment segment = { .size = sizeof segment, .text = " one two" };
    const struct transcript t = transcript_of(&segment, "en");
    struct path_guard path_guard = { 0 };
    struct result_files r = { .naming = { .dir = d.path, .template = "{language}-{stem}.{format}", .formats = 1u << WRITER_TXT },
                              .path_guard = &path_guard };
    char *inputs[] = { "a/talk.wav" }, at[200];
    struct out_names names;
    assert_int_equal(out_names_list(&names, &r.naming, inputs, 1), OUT_NAMES_OK);
    assert_int_equal(result_files_plan(&r, &names), RESULT_FILES_OK);
    assert_int_equal(result_files_prepare(&r, inputs, 1), RESULT_FILES_OK);
    n_told = n_gone = 0;
    atomic_file_watch(told);
    assert_int_equal(result_files_write(&r, inputs[0], &t, WRITER_TXT), RESULT_FILES_OK);
    snprintf(at, sizeof at, "%s/en-talk.txt", d.path);
    assert_string_equal(r.path, at);
    expect_text(at, "one two\n");
    atomic_file_watch(NULL);
    assert_true(n_told == 1 && n_gone == 1);
    assert_int_equal(result_files_write(&r, "b/talk.mp3", &t, WRITER_TXT), RESULT_FILES_REFUSED); /* of another input, by the same name */
    assert_int_equal(path_guard.refused.status, LEDGER_WRITTEN);
    r.naming.mark = ".ch1";
    assert_int_equal(result_files_write(&r, "b/talk.mp3", &t, WRITER_TXT), RESULT_FILES_OK);
    assert_non_null(strstr(r.path, "/en-talk.ch1.txt"));
    out_names_free(&names);
    result_files_free(&r);
    path_guard_free(&path_guard);
    folder_remove(&d);
}

static void test_path_conflicts_are_reported_before_any_work(void **state)
{
    (void)state;
    const struct folder d = folder_new();
    const struct folder_file read = folder_at(&d, "read.srt"), folder = folder_at(&d, "folder.srt");
    struct path_guard path_guard = { 0 };
    struct result_files r = { .naming = { .dir = d.path, .formats = 1u << WRITER_SRT }, .path_guard = &path_guard };
    const struct { char *input; int status; } of[] = {
        { "read.wav", RESULT_FILES_REFUSED }, { "folder.wav", RESULT_FILES_FAILED }, { "other.wav", RESULT_FILES_OK },
    };
    folder_text(&d, "read.srt", "a subtitle that is a grammar\n");
    assert_int_equal(mkdir(folder.path, 0777), 0);
    assert_int_equal(path_guard_read(&path_guard, "the grammar", read.path), LEDGER_OK);
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        char *inputs[] = { of[i].input };
        struct out_names names;
        assert_int_equal(out_names_list(&names, &r.naming, inputs, 1), OUT_NAMES_OK);
        if (result_files_plan(&r, &names) != of[i].status) fail_msg("%s: want %d", of[i].input, of[i].status);
        if (of[i].status == RESULT_FILES_REFUSED) assert_string_equal(path_guard.refused.what, "the grammar");
        if (of[i].status == RESULT_FILES_FAILED) assert_string_equal(r.reason, "it is a folder");
        out_names_free(&names);
    }
    expect_text(read.path, "a subtitle that is a grammar\n");
    char *any[] = { "a.wav" };
    r.naming.dir = "/proc/steno"; /* where no file can be made */
    assert_int_equal(result_files_prepare(&r, any, 1), RESULT_FILES_FAILED);
    assert_true(*r.reason);
    result_files_free(&r);
    path_guard_free(&path_guard);
    rmdir(folder.path);
    folder_remove(&d);
}

static void test_folders_beside_inputs_are_made_where_inputs_are(void **state)
{
    (void)state;
    const struct folder d = folder_new();
    const struct folder_file made = folder_at(&d, "texts"), none = folder_at(&d, "none");
    struct path_guard path_guard = { 0 };
    struct result_files r = { .naming = { .dir = "@/texts", .formats = 1u << WRITER_TXT }, .path_guard = &path_guard };
    char here[300], there[300], *inputs[] = { here, there };
    struct stat st;
    snprintf(here, sizeof here, "%s/talk.wav", d.path);
    snprintf(there, sizeof there, "%s/talk.wav", none.path);
    assert_int_equal(result_files_prepare(&r, inputs, 2), RESULT_FILES_OK);
    assert_int_equal(stat(made.path, &st), 0);
    assert_int_not_equal(stat(none.path, &st), 0);
    result_files_free(&r);
    path_guard_free(&path_guard);
    rmdir(made.path);
    folder_remove(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_result_stands_at_the_template_s_place_once),
        cmocka_unit_test(test_path_conflicts_are_reported_before_any_work),
        cmocka_unit_test(test_folders_beside_inputs_are_made_where_inputs_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
