/* A pipe, a terminal, a device: what keeps its reader or writer waiting. A thread waits, so that the loop need not. */
#ifndef BOXRETRY_TOOL_STREAM_H
#define BOXRETRY_TOOL_STREAM_H

#include <boxretry.h>
#include <pthread.h>
#include <stdbool.h>

/** Bytes from `start` to `end`. */
typedef struct stream_half {
  char *bytes;
  size_t start, end;
} stream_half;

/** Two buffers between the loop and the thread: while one side works on its own, the other works on the other. */
typedef struct stream {
  int descriptor;
  const char *path; /* to be opened by the thread for writing, since even that may take long; NULL: it is open */
  pthread_t thread;
  pthread_mutex_t lock;
  pthread_cond_t changed;
  stream_half of_loop, of_thread;
  boxretry_call *paused; /* the call that waits for the thread */
  int error;             /* errno of what has failed; 0 */
  bool is_over;          /* nothing more comes */
  bool is_running;
} stream;

/** Begins to read what is open there. False: errno. */
bool stream_begin_reading(stream *it, int descriptor);

/** Begins to write: to the descriptor, or to `path`, which is opened when there is something to write. False: errno. */
bool stream_begin_writing(stream *it, int descriptor, const char *path);

/** For a body source and a sink; `context` is the stream. */
void stream_read(void *context, boxretry_call *call, void *buffer, size_t capacity, int64_t *count);
void stream_write(void *context, boxretry_call *call, const void *data, size_t length, int32_t *answer);

/** Waits until all is written. What has failed, as an errno; 0: nothing. */
int stream_finish(stream *it);

/** Ends it as it is. What has failed, as an errno; 0: nothing. One that was never begun is accepted, and one that has ended. */
int stream_abandon(stream *it);

#endif
