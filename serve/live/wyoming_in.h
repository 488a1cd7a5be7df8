/* steno-serve: state of the Wyoming server. SPDX-License-Identifier: MIT */
#ifndef STENO_SERVE_WYOMING_IN_H
#define STENO_SERVE_WYOMING_IN_H
#include "answer.h"
#include "http.h"
#include "wyoming.h"
#include "wyoming_codec.h"
#include "wyoming_live.h"
#include <pthread.h>
#include <stdatomic.h>

struct wyoming {
    struct wyoming_params p;
    char *version;
    int fd[HTTP_SOCKETS_MAX], n_fds, port;
    struct loop_fd *f[HTTP_SOCKETS_MAX];
    struct loop_timer *sweep;
    struct wyoming_peer *peers; /* on the loop's thread */
    atomic_int n_peers;         /* read by any thread */
    int is_closing;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int is_closed;
};

/* A connection. On the loop's thread, but for the callbacks of its work. */
struct wyoming_peer {
    struct wyoming *w;
    struct wyoming_peer *next, *prev;
    int fd;
    struct loop_fd *f;
    struct wyoming_reader *reader;
    char client[64];
    char *out;               /* [n_out] bytes that wait */
    size_t n_out, cap_out;
    int64_t active_ms;       /* of the last bytes, or of the last answer */
    int ends, lingers, is_gone; /* no more events count; the answer is sent; the descriptor is closed */
    /* an utterance */
    char name[128], language[64];
    int has_audio;
    struct wyoming_format format;
    struct spool_file *spool;
    int64_t n_bytes;
    int64_t begun_us;        /* its first event; 0: it has not begun */
    int streams;             /* the client reads a text in parts */
    int has_start;           /* transcript-start was sent */
    struct answer_stream stream; /* on the thread of the model, then on the loop's */
    struct wyoming_live *live; /* decodes the audio while it arrives, until it has ended; NULL: the audio is spooled */
    int is_full;             /* it takes no more audio now */
    /* its work */
    struct work work;
    int is_running;          /* the audio is over, and its text is awaited */
    enum api_code refused;   /* why an event ended the connection before the text */
    char *text, text_language[16];
    struct api_error error;
};

void wyoming_peer_add(struct wyoming *w, int fd);
void wyoming_peer_close(struct wyoming_peer *c); /* at once; it is freed when its work has ended */
void wyoming_peer_sweep(struct wyoming_peer *c, int64_t now_ms);
void wyoming_peer_removed(struct wyoming *w);    /* the last one is gone */
json_t *wyoming_info(struct wyoming *w);         /* data of the event `info`; NULL: out of memory */
#endif
