/* steno: replay of fuzzing inputs. SPDX-License-Identifier: MIT
 *
 * Runs a fuzz target over every file of the given folders and files, so that what a fuzzer once found is a test in every build. Without
 * arguments, and with empty folders, it feeds a few inputs of its own: nothing, zeros and counting bytes. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static int n_run, n_failed;

static void replay_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    struct stat st;
    if (!f || fstat(fileno(f), &st) != 0) {
        perror(path);
        n_failed++;
        if (f) fclose(f);
        return;
    }
    const size_t n = (size_t)st.st_size;
    uint8_t *data = malloc(n ? n : 1); /* its own block, so that reading past the end is seen */
    if (data && fread(data, 1, n, f) == n) {
        LLVMFuzzerTestOneInput(data, n);
        n_run++;
    } else {
        fprintf(stderr, "%s: cannot be read\n", path);
        n_failed++;
    }
    free(data);
    fclose(f);
}

static void replay_path(const char *path)
{
    DIR *dir = opendir(path);
    struct stat st;
    if (!dir) {
        if (stat(path, &st) == 0) replay_file(path);
        return;
    }
    for (struct dirent *d; (d = readdir(dir));) {
        char name[4096];
        if (d->d_name[0] == '.') continue;
        const int n = snprintf(name, sizeof name, "%s/%s", path, d->d_name);
        if (n > 0 && n < (int)sizeof name && stat(name, &st) == 0 && S_ISREG(st.st_mode)) replay_file(name);
    }
    closedir(dir);
}

static void replay_own(void)
{
    static const size_t size[] = { 0, 1, 4, 44, 100, 4096 };
    for (size_t i = 0; i < sizeof size / sizeof *size; i++) {
        for (int counting = 0; counting < 2; counting++) {
            uint8_t *data = calloc(size[i] + 1, 1);
            if (!data) continue;
            for (size_t k = 0; counting && k < size[i]; k++) data[k] = (uint8_t)k;
            LLVMFuzzerTestOneInput(data, size[i]);
            n_run++;
            free(data);
        }
    }
}

int main(int argc, char **argv)
{
    replay_own();
    for (int i = 1; i < argc; i++) replay_path(argv[i]);
    printf("%d inputs replayed, %d could not be read\n", n_run, n_failed);
    return n_failed != 0;
}
