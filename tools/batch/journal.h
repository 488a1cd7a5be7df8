/* steno: the journal of a batch, which is also its output. SPDX-License-Identifier: MIT
 *
 * JSON lines, only appended: "job" (the header) comes first; "begin" and "stop" of an attempt at an input, "transcript" with its result,
 * and "summary" at the end of a run. An input whose tracks or channels are transcribed separately has a result of several lines, one
 * after the other. A line, or such a group, is written by one write(2). A lock keeps other processes away. A line or a group without its
 * end, which a killed process left, is cut off. */
#ifndef STENO_TOOLS_BATCH_JOURNAL_H
#define STENO_TOOLS_BATCH_JOURNAL_H
#include "digest.h"
#include "sink.h"
#include <stddef.h>
#include <stdint.h>

/* ---- records ----------------------------------------------------------------------------------------------------------------- */

enum batch_class { CLASS_OK, CLASS_INPUT, CLASS_DECODE, CLASS_MEMORY, CLASS_TIMEOUT, CLASS_IO, CLASS_POISON, N_CLASSES };
const char *batch_class_name(enum batch_class c); /* NULL for CLASS_OK */
int batch_class_is_retryable(enum batch_class c);

enum record_kind { RECORD_BAD, RECORD_HEADER, RECORD_BEGIN, RECORD_STOP, RECORD_RESULT, RECORD_OTHER };

/* Which audio of its input a line of a result is of. Tracks and channels that are transcribed separately have a line each: all channels of
 * track 1, then those of track 2, and so on. */
struct batch_audio {
    int track, n_tracks;     /* track: from 1; 0: FFmpeg's choice. n_tracks 0: they are not transcribed separately */
    int channel, n_channels; /* channel: from 0; -1: the mix. n_channels of the track; 0: they are not transcribed separately */
};

/* The front of a line. A result's rest is not read. */
struct batch_record {
    enum record_kind kind;
    const char *id;           /* BEGIN, STOP, RESULT; points into the line */
    enum batch_class class;   /* RESULT */
    struct batch_audio audio; /* RESULT */
    size_t run_at, run_end;   /* RESULT: bytes of the member "run", with the comma before it */
};
void batch_record_read(struct batch_record *r, char *line); /* overwrites the line */

/* The lines of a result, as they are read one after the other. {0}: none yet */
struct batch_group {
    int64_t at;               /* the start of its first line */
    int n;                    /* lines so far; 0: no group is begun */
    struct batch_audio last;  /* of the last line */
    uint64_t id;              /* the first bytes of its id's hash */
};
/* Add the line at `at`. @return 1: the result that began at g->at is complete; 0: it is not, or the line is no result */
int batch_group_add(struct batch_group *g, const struct batch_record *r, int64_t at);

/* What a result is, beside the members of jsonl. */
struct batch_result {
    const char *id, *other;   /* other: members that the manifest passes on */
    enum batch_class class;
    int attempt;
    struct batch_audio audio;
    int64_t spent_us, audio_ms; /* audio_ms -1: not known */
};
void batch_result_write(struct sink *f, const void *result); /* for struct transcript_source.more */

/* ---- the header -------------------------------------------------------------------------------------------------------------- */

/* A run that continues a journal has the same. Texts that are absent are empty. */
struct batch_header {
    char engine[32], model_sha256[SHA_HEX_SZ], options_sha256[SHA_HEX_SZ];
    char manifest_sha256[SHA_HEX_SZ]; /* "": it is standard input */
    int64_t manifest_bytes;
    char shard[24];
    char begun[24];           /* 2026-03-01T14:05:59, local time; not compared */
};
void batch_header_write(struct sink *f, const void *header); /* for struct transcript_source.more */
/* Read it from the journal's first line, which it overwrites. @return 1, or 0 if it is none */
int batch_header_read(struct batch_header *h, char *line);

/* ---- the file ---------------------------------------------------------------------------------------------------------------- */

struct batch_journal {
    const char *path;      /* "-": standard output */
    int fd;                /* -1: not open */
    int is_stream;         /* it cannot be cut or synced */
    int is_dirty;          /* lines were written after the last sync */
    int64_t synced_us;
    int64_t size;          /* of whole lines */
};

enum journal_status { BATCH_JOURNAL_OK, BATCH_JOURNAL_FAILED, BATCH_JOURNAL_BUSY, BATCH_JOURNAL_UNLOCKED };

/* Open and lock it. BATCH_JOURNAL_UNLOCKED: open, but the file system has no locks. FAILED: errno has the reason. */
enum journal_status batch_journal_open(struct batch_journal *j, const char *path);
int batch_journal_may_begin(const struct batch_journal *j); /* 1: its bytes, which have no whole line, may be the start of a header */
int batch_journal_cut(struct batch_journal *j, int64_t size); /* @return 0, or -1 with errno set, as those below */
int batch_journal_add(struct batch_journal *j, const char *line, size_t n);
int batch_journal_tick(struct batch_journal *j, int64_t now_us); /* sync what was written more than 5 s after the last sync */
int batch_journal_close(struct batch_journal *j, int sync); /* @return 0, or -1: the last lines may not be on the disk */
#endif
