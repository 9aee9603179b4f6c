/* Pipes, terminals and devices, which can block their reader or writer. A thread blocks instead of the loop. */
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

/** Two buffers: the loop works on one and the thread on the other, then they are swapped. */
typedef struct stream {
  int descriptor;
  const char
      *path; /* opened for writing by the thread, because opening may block; NULL: `descriptor` is already open */
  pthread_t thread;
  pthread_mutex_t lock;
  pthread_cond_t changed;
  stream_half of_loop, of_thread;
  boxretry_call *paused; /* the call that is paused until the thread has made progress */
  int error;             /* errno of a failure; 0: none */
  bool is_over;          /* nothing more will come */
  bool is_running;
} stream;

/** Starts reading from an open descriptor. On failure returns false and sets errno. */
bool stream_begin_reading(stream *it, int descriptor);

/** Starts writing to the descriptor or to `path`, which is opened when there is data. On failure returns false and sets
 * errno. */
bool stream_begin_writing(stream *it, int descriptor, const char *path);

/** Callbacks for a body source and a sink; `context` is the stream. */
void stream_read(void *context, boxretry_call *call, void *buffer, size_t capacity, int64_t *count);
void stream_write(void *context, boxretry_call *call, const void *data, size_t length, int32_t *answer);

/** Waits until everything is written. Returns the errno of a failure, or 0. */
int stream_finish(stream *it);

/** Ends it immediately. Returns the errno of a failure, or 0. May be called before the stream begins and after it has
 * ended. */
int stream_abandon(stream *it);

#endif
