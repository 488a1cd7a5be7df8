/* steno-hub: what goes wrong, in words and as a number. SPDX-License-Identifier: MIT */
#ifndef STENO_HUB_HUB_ERROR_H
#define STENO_HUB_HUB_ERROR_H

enum hub_status {
    HUB_OK,
    HUB_EARG,     /* what was asked for is no name, address or path */
    HUB_EABSENT,  /* the hub, or offline the cache, has no such thing, or does not give it away */
    HUB_EDAMAGED, /* its bytes are not those that were promised, at the second try, too */
    HUB_EWRITE,   /* the disk is full, or may not be written */
    HUB_ENET,     /* no answer, or none that helps, after all tries; no library to ask with */
    HUB_ENOMEM,
    HUB_ESTOPPED  /* the caller wanted an end */
};

struct hub_error {
    int status; /* enum hub_status */
    int unserved; /* a server refused a request of this kind without saying that there is nothing: another kind may help */
    char text[1024];
};

#if defined(__GNUC__)
#define HUB_FORMAT(f, a) __attribute__((format(printf, f, a)))
#else
#define HUB_FORMAT(f, a)
#endif

/* Records and returns `status`. */
int hub_fail(struct hub_error *e, int status, const char *fmt, ...) HUB_FORMAT(3, 4);
int hub_write_status(int why); /* of an errno: HUB_ENOMEM or HUB_EWRITE */
int hub_no_memory(struct hub_error *e, const char *what); /* what it was for */

/* Text of any length. @return malloc'd text, or NULL */
char *hub_format(const char *fmt, ...) HUB_FORMAT(1, 2);
#endif
