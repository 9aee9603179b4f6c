/* Pipes, terminals and devices, which can block their reader or writer. A thread blocks instead of the loop. */
#define _POSIX_C_SOURCE 200809L

#include "stream.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The largest piece from libcurl is half of this. */
enum { CAPACITY = 1 << 20 };

static bool is_empty(const stream_half *half) {
  return half->start == half->end;
}

/* Call with the lock held. */
static void swap(stream *it) {
  const stream_half half = it->of_loop;
  it->of_loop = it->of_thread;
  it->of_thread = half;
}

/* Unlocks, and resumes the call if it is paused. The lock must not be held during that: the library takes locks
 * itself. */
static void unlock_and_resume(stream *it) {
  boxretry_call *paused = it->paused;
  it->paused = NULL;
  pthread_mutex_unlock(&it->lock);
  boxretry_call_resume(paused);
}

/* --- On the thread. It can be canceled only in calls that may block: elsewhere it might hold the lock. --- */

static void may_be_cancelled(bool may) {
  int before;
  pthread_setcancelstate(may ? PTHREAD_CANCEL_ENABLE : PTHREAD_CANCEL_DISABLE, &before);
}

/* Returns the number of bytes read, 0 at the end, or -1 and errno. */
static ssize_t read_some(stream *it) {
  ssize_t count;
  may_be_cancelled(true);
  do {
    count = read(it->descriptor, it->of_thread.bytes, CAPACITY);
  } while (count < 0 && errno == EINTR);
  may_be_cancelled(false);
  return count;
}

static void *run_reader(void *context) {
  stream *it = context;
  may_be_cancelled(false);
  for (bool goes_on = true; goes_on;) {
    const ssize_t count = read_some(it);
    const int why = errno;
    pthread_mutex_lock(&it->lock);
    while (!is_empty(&it->of_loop) && !it->is_over)
      pthread_cond_wait(&it->changed, &it->lock);
    if (count > 0 && !it->is_over) {
      it->of_thread.start = 0;
      it->of_thread.end = (size_t)count;
      swap(it);
    } else {
      if (count < 0) it->error = why;
      it->is_over = true;
    }
    goes_on = !it->is_over;
    unlock_and_resume(it);
  }
  return NULL;
}

/* On failure returns false and sets errno. */
static bool write_all(stream *it) {
  may_be_cancelled(true);
  if (it->descriptor < 0) it->descriptor = open(it->path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
  bool ok = it->descriptor >= 0;
  while (ok && !is_empty(&it->of_thread)) {
    stream_half *half = &it->of_thread;
    const ssize_t count = write(it->descriptor, half->bytes + half->start, half->end - half->start);
    if (count > 0) half->start += (size_t)count;
    ok = count > 0 || errno == EINTR;
  }
  may_be_cancelled(false);
  return ok;
}

static void *run_writer(void *context) {
  stream *it = context;
  may_be_cancelled(false);
  for (bool goes_on = true; goes_on;) {
    pthread_mutex_lock(&it->lock);
    while (is_empty(&it->of_loop) && !it->is_over)
      pthread_cond_wait(&it->changed, &it->lock);
    it->of_thread.start = it->of_thread.end = 0;
    swap(it);
    goes_on = !it->is_over || !is_empty(&it->of_thread);
    unlock_and_resume(it);
    /* also at the end, with nothing to write: this opens the pipe, so that its reader sees the end */
    if (write_all(it)) continue;
    const int why = errno;
    pthread_mutex_lock(&it->lock);
    it->error = why;
    goes_on = false;
    unlock_and_resume(it);
  }
  return NULL;
}

/* --- On the loop's thread --- */

void stream_read(void *context, boxretry_call *call, void *buffer, size_t capacity, int64_t *count) {
  stream *it = context;
  pthread_mutex_lock(&it->lock);
  stream_half *half = &it->of_loop;
  if (!is_empty(half)) {
    size_t length = half->end - half->start < capacity ? half->end - half->start : capacity;
    memcpy(buffer, half->bytes + half->start, length);
    half->start += length;
    *count = (int64_t)length;
    if (is_empty(half)) pthread_cond_signal(&it->changed);
  } else if (!it->is_over) {
    it->paused = call;
    *count = BOXRETRY_READ_PAUSE;
  } else {
    *count = it->error == 0 ? 0 : BOXRETRY_READ_FAILED;
  }
  pthread_mutex_unlock(&it->lock);
}

void stream_write(void *context, boxretry_call *call, const void *data, size_t length, int32_t *answer) {
  stream *it = context;
  pthread_mutex_lock(&it->lock);
  stream_half *half = &it->of_loop;
  if (length > CAPACITY) it->error = EMSGSIZE;
  if (it->error != 0) {
    *answer = BOXRETRY_WRITE_FAILED;
  } else if (length > CAPACITY - half->end) {
    it->paused = call;
    *answer = BOXRETRY_WRITE_PAUSE;
  } else {
    memcpy(half->bytes + half->end, data, length);
    half->end += length;
    *answer = BOXRETRY_WRITE_TAKEN;
    pthread_cond_signal(&it->changed);
  }
  pthread_mutex_unlock(&it->lock);
}

/* --- Beginning and end --- */

static void free_parts(stream *it) {
  pthread_cond_destroy(&it->changed);
  pthread_mutex_destroy(&it->lock);
  free(it->of_loop.bytes);
  free(it->of_thread.bytes);
}

/* The other threads handle signals, except SIGPIPE, which the write itself causes. */
static int start_thread(stream *it, void *(*run)(void *)) {
  sigset_t all, before;
  sigfillset(&all);
  sigdelset(&all, SIGPIPE);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const int why = pthread_create(&it->thread, NULL, run, it);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return why;
}

static bool begin(stream *it, int descriptor, const char *path, void *(*run)(void *)) {
  *it = (stream){.descriptor = descriptor, .path = path};
  it->of_loop.bytes = malloc(CAPACITY);
  it->of_thread.bytes = malloc(CAPACITY);
  pthread_mutex_init(&it->lock, NULL);
  pthread_cond_init(&it->changed, NULL);
  int why = it->of_loop.bytes && it->of_thread.bytes ? 0 : ENOMEM;
  if (why == 0) why = start_thread(it, run);
  it->is_running = why == 0;
  if (!it->is_running) free_parts(it);
  errno = why;
  return it->is_running;
}

bool stream_begin_reading(stream *it, int descriptor) {
  return begin(it, descriptor, NULL, run_reader);
}

bool stream_begin_writing(stream *it, int descriptor, const char *path) {
  return begin(it, descriptor, path, run_writer);
}

/* Closes a descriptor that was opened from the path. Some errors are reported only by close(). */
static int end(stream *it) {
  if (!it->is_running) return it->error;
  pthread_join(it->thread, NULL);
  if (it->path && it->descriptor >= 0 && close(it->descriptor) != 0 && it->error == 0) it->error = errno;
  free_parts(it);
  it->is_running = false;
  return it->error;
}

static void say_over(stream *it) {
  pthread_mutex_lock(&it->lock);
  it->is_over = true;
  pthread_cond_signal(&it->changed);
  pthread_mutex_unlock(&it->lock);
}

int stream_finish(stream *it) {
  if (it->is_running) say_over(it);
  return end(it);
}

int stream_abandon(stream *it) {
  if (it->is_running) {
    pthread_cancel(it->thread);
    say_over(it);
  }
  return end(it);
}
