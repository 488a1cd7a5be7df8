/* steno-serve: models and work, inside of engines*.c. SPDX-License-Identifier: MIT
 *
 * One lock guards everything here that changes, except what a comment gives to one thread. No callback runs under it.
 *
 * A piece of work (struct item) is in one list, in the order of arrival, and moves through its states: it WAITS for an ingest thread and
 * for its model to be open, is in INGEST, is READY until a session of the batch is free, and RUNS. The thread that moves it to ENDS owns
 * it from there. Each model has a thread that opens the model, runs its batch, and closes it. The keeper ends work whose time is over,
 * and asks models to close. */
#ifndef STENO_SERVE_ENGINES_IN_H
#define STENO_SERVE_ENGINES_IN_H
#include "engines.h"
#include "live_delays.h"
#include "loop.h"
#include <pthread.h>
#include <stdatomic.h>

enum item_state { ITEM_WAITS, ITEM_IN_INGEST, ITEM_READY, ITEM_RUNS, ITEM_ENDS };
enum { CLIENT_SZ = 64, INGEST_MAX = 64 };

enum {
    SMALL_FILE = 2 << 20,       /* bytes: one ingest thread is for files up to this */
    SHORT_MS = 60000,           /* audio up to this is short, and never waits behind longer audio */
    TOO_SHORT = 1600,           /* samples */
    DEFAULT_TIMEOUT_S = 120, TIMEOUT_TIMES_AUDIO = 4,
    INGEST_S = 60, INGEST_AUDIO_PART = 20, /* decoding takes at most this, and this part of the audio */
    RETRY_MAX_S = 120,
    LANES_MAX = 8
};

struct item {
    struct item *next, *before;
    enum item_state state;
    struct engine *engine;
    struct work *w;         /* a file, or NULL */
    struct lm_work *lm;     /* work of a language model, or NULL */
    char client[CLIENT_SZ];
    int priority;
    int64_t bytes;          /* size of the file */
    int64_t begun_us;       /* it was submitted; times of the monotonic clock */
    int64_t deadline_us;
    struct slot *slot;      /* while the batch has it */
    _Atomic int stop;       /* enum api_code: why it must end; 0: it goes on */
    _Atomic int64_t done_ms; /* transcribed so far */
    /* of the thread that has it */
    struct api_error error;
    int is_vectors;         /* it runs on the thread for vectors */
    int has_text;           /* with the lock: it runs, and waits for the thread that finds word times */
    int is_delivered;       /* its results are delivered */
    int64_t ingest_us;      /* its ingest began */
    struct spool_file *file; /* decoded audio */
    struct decoded_store store;
    steno_heard heard;      /* size 0: none */
    steno_session *vad;     /* of the ingest thread */
};

/* A session of the batch. */
struct slot {
    struct engine *engine;
    steno_session *session;
    struct item *item;      /* NULL: free, or a live session */
    uint64_t serial;        /* of its assignment */
    int is_taken;           /* by a live session */
    int is_running, status; /* of a live request */
    int is_stopped;         /* the live session shall end */
    steno_source from;      /* of a stream */
    int n_waits;            /* number of times that it had no audio */
    pthread_cond_t ended;
};

enum engine_state { ENGINE_CLOSED, ENGINE_OPENING, ENGINE_OPEN, ENGINE_CLOSING };

struct engine {
    struct engines *es;
    int index;
    const struct serve_model *model;
    char *base;             /* name of its file or folder */
    int64_t created;
    enum engine_state state;
    int is_wanted;          /* it must be opened */
    int n_items, n_live;    /* work and live sessions that hold it */
    int n_running;          /* items that run */
    int n_pumps;            /* threads that submit an item */
    int64_t used_us;        /* it was last in use */
    int64_t memory;         /* bytes while it is open; 0: never opened */
    int has_info, has_vad, decodes_chunks;
    steno_model_info info;
    const char *language[ENGINE_LANGUAGES_MAX + 1]; /* codes; ends with NULL. Not changed after has_info */
    int can_generate, can_embed, can_transcribe;
    char reason[512];       /* why it could not be opened, */
    enum api_code why;      /* and its code */
    /* speed */
    int64_t audio_ms, busy_us, busy_since_us;
    /* while it is open; set by its thread before the state is ENGINE_OPEN */
    struct serve_engine e;
    steno_batch *batch;     /* NULL: the model has no batch */
    int windows, lanes;     /* of the batch */
    int has_lanes;          /* 1: lanes limit beam_size and best_of */
    struct slot *slot;      /* [n_slots] those of work, then those of live sessions */
    int n_slots, n_work_slots;
    int64_t need;           /* of memory, counted while it opens */
    int reads_twice;        /* steno_listen serves it */
    steno_session *vad[INGEST_MAX]; /* one for each ingest thread */
    steno_session *punctuation;     /* of the model's thread */
    pthread_t thread;
    pthread_cond_t changed; /* is_wanted, state */
    int has_thread, has_changed;
    /* vectors of texts */
    steno_session *vectors; /* of their thread; NULL: not needed so far */
    pthread_t vectors_thread;
    int has_vectors, vectors_end;
    /* word times by an aligner */
    steno_session *aligner, *marks; /* of their thread; marks: punctuation. NULL: none */
    pthread_t words_thread;
    int has_words, words_closing;
};

struct ingest { struct engines *es; int i; pthread_t thread; };

struct engines {
    const struct serve_params *p;
    struct spool *spool;
    struct engine *engine;  /* [n] */
    int n;
    pthread_mutex_t lock;
    pthread_cond_t for_ingest, for_keeper, for_end;
    struct item *first, *last; /* all work */
    int n_active;           /* work whose last callback has not returned */
    int is_draining, is_closing;
    struct live_delays delays; /* of passes of live sessions, of all models */
    pthread_mutex_t opening; /* one call of serve_params.open or close at a time */
    struct ingest ingest[INGEST_MAX];
    int n_ingest, n_started;
    pthread_t keeper;
    int has_keeper;
};

/* ---- engines_state.c; all with the lock but the first ---- */
int engines_live(const struct engines *es);         /* number of live sessions of all models, also those that wait for their model */
int engines_are_late(const struct engines *es);     /* 1: texts of live sessions are later than serve_params.live_delay_s */
void item_stop(struct item *it, enum api_code why); /* it ends soon */
void item_begin(struct item *it);                   /* it runs */
int engine_fits(const struct engine *g);            /* beside the models that are not closed */
int engine_may_open(const struct engine *g);        /* enough memory is free, or can be made free */
int engine_is_idle(const struct engine *g);
void engine_close_soon(struct engine *g);           /* it is open and idle */
void engine_want(struct engine *g);                 /* opens it if it is closed */

/* ---- engines_queue.c: order of work; with the lock ---- */
struct item *queue_for_ingest(struct engines *es, int thread); /* NULL: none */
struct item *queue_for_batch(struct engine *g);                /* ready and allowed to run */
struct slot *queue_free_slot(struct engine *g);                /* NULL: none */
int queue_waiting(const struct engines *es);                   /* number of items that do not run */
int queue_retry_s(const struct engine *g);                     /* a new request may be accepted after this */

/* ---- engines_item.c; without the lock ---- */
struct item *item_new(struct engine *g, const char *client); /* NULL: out of memory */
/* Checks limits and adds it to the list; `it` may be NULL: out of memory. *internal: it, or NULL with a code in *e, and it is freed */
int item_submit(struct engine *g, struct item *it, void **internal, struct api_error *e);
void item_end(struct item *it);                     /* by its owner: the last callback, and frees it */

/* ---- engines_lm.c: language models, vectors; without the lock ---- */
int lm_open(struct engine *g);   /* @return a status */
void lm_close(struct engine *g);
int lm_prepare(struct item *it); /* @return 0, or a code in it->error */
int lm_submit(struct item *it, steno_session *s); /* @return a status */
void lm_done(struct item *it, steno_session *s, int status);

/* ---- engines_words.c: word times by an aligner; without the lock ---- */
int words_open(struct engine *g, steno_error *e); /* @return a status */
void words_close(struct engine *g);
int words_prepare(struct item *it); /* after work.prepare. @return 0, or a code in it->error */

/* ---- engines_work.c, engines_ingest.c, engines_model.c; without the lock ---- */
void engine_pump(struct engine *g);                 /* submits what may run */
/* The last step of n requests of one engine that have their texts: of several whose words are found between the calls, or of a single one.
 * A stopped one ends without words. texts_begin leaves the lock, texts_end enters it. */
void texts_begin(struct item *const *it, int n);
void texts_end(struct item *const *it, int n);
void engine_on_done(void *engine, steno_session *s, int status);
void *keeper_main(void *engines);
void *ingest_main(void *ingest);
int engine_load(struct engine *g, steno_error *e);
void engine_unload(struct engine *g);
void *engine_main(void *engine);                    /* the thread of a model */
#endif
