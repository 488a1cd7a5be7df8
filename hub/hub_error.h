/* steno-hub: errors as text and status, and text that grows. SPDX-License-Identifier: MIT */
#ifndef STENO_HUB_HUB_ERROR_H
#define STENO_HUB_HUB_ERROR_H
#include <stddef.h>

enum hub_status {
    HUB_OK,
    HUB_EARG,     /* the request is not a valid name, URL or path */
    HUB_EABSENT,  /* the hub, or offline the cache, does not have it or denies access */
    HUB_EDAMAGED, /* its bytes do not match the expected hash, even at the second try */
    HUB_EWRITE,   /* the disk is full or not writable */
    HUB_ENET,     /* no useful response after all retries, or no HTTP library */
    HUB_ENOMEM,
    HUB_ESTOPPED  /* the caller cancelled */
};

struct hub_error {
    int status; /* enum hub_status */
    int unserved; /* a server refused this kind of request without saying that the file is missing: another kind may work */
    char text[1024];
};

#if defined(__GNUC__)
#define HUB_FORMAT(f, a) __attribute__((format(printf, f, a)))
#else
#define HUB_FORMAT(f, a)
#endif

/* Stores and returns `status`. */
int hub_fail(struct hub_error *e, int status, const char *fmt, ...) HUB_FORMAT(3, 4);
int hub_write_status(int why); /* for an errno: HUB_ENOMEM or HUB_EWRITE */
int hub_no_memory(struct hub_error *e, const char *what); /* what: purpose of the memory */

/* Formats text of any length. @return malloc'd text, or NULL */
char *hub_format(const char *fmt, ...) HUB_FORMAT(1, 2);

struct hub_text {
    char *p; /* [n], then a NUL; malloc'd; NULL: nothing was added */
    size_t n, cap;
    int failed; /* 1: memory ran out */
};

void hub_text_add(struct hub_text *t, const char *fmt, ...) HUB_FORMAT(2, 3);
void hub_text_json(struct hub_text *t, const char *text); /* appends a string with quotes */
#endif
