#include "shim_process.h"

#include "shim_system.h"
#include "shims.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

/* --- This thread --- */

/* What happens when the thread ends. */
typedef enum thread_phase {
  UNUSED,      /* nothing: it has never been inside libcurl */
  HAS_ENTERED, /* a caller's thread that has been inside */
  ENDING,      /* a thread of the library whose body has returned; still counted as inside */
  LAST_ROUND,  /* inside, until all other destructors of this thread have run */
} thread_phase;

static _Thread_local struct {
  uint32_t callback_depth;
  uint32_t libcurl_depth;
  uint32_t cancel_depth; /* number of nested shim_thread_disable_cancel() calls */
  int cancel_state;      /* before the first of them */
  bool is_ours;
  thread_phase phase;
  void (*last)(void *context);
  void *context;
} thread;

static pthread_key_t thread_key;
static bool has_thread_key;

_Noreturn static void park(void) {
  for (;;)
    pause();
}

/* --- fork(): meanwhile no thread may be in the middle of a libcurl function --- */

enum { LONGEST_WAIT = 2000000000, LOOK_EVERY = 50000 /* nanoseconds */ };

static _Atomic int busy;    /* threads in libcurl, except those in a callback or waiting for sockets */
static _Atomic int forking; /* threads in fork() */

/* Polls, because the wait is usually short. False: it takes too long. */
static bool wait_until_at_most(_Atomic int *number, int most) {
  const int64_t limit = shim_monotonic_nanoseconds() + LONGEST_WAIT;
  for (int64_t now = 0; atomic_load(number) > most; shim_sleep_until(now + LOOK_EVERY)) {
    now = shim_monotonic_nanoseconds();
    if (now >= limit) return false;
  }
  return true;
}

static void become_busy(void) {
  atomic_fetch_add(&busy, 1);
  while (atomic_load(&forking) > 0) {
    atomic_fetch_sub(&busy, 1);
    wait_until_at_most(&forking, 0);
    atomic_fetch_add(&busy, 1);
  }
}

static void become_idle(void) {
  atomic_fetch_sub(&busy, 1);
}

void shim_libcurl_rest(void) {
  if (thread.libcurl_depth > 0) become_idle();
}

void shim_libcurl_resume(void) {
  if (thread.libcurl_depth > 0) become_busy();
}

/* --- Exit --- */

static _Atomic int inside; /* threads inside libcurl */
static _Atomic bool has_begun, is_over;
static _Atomic int to_clean; /* 1: the TLS library's exit handler has not returned */
static int exit_descriptor = -1;

int shim_exit_descriptor(void) {
  return exit_descriptor;
}

bool shim_exit_has_begun(void) {
  return atomic_load_explicit(&has_begun, memory_order_relaxed);
}

static void on_exit_of_process(void) {
  /* A thread that calls exit() in a callback stays inside, and never continues. */
  const int own = thread.libcurl_depth > 0;
  atomic_store(&has_begun, true);
  if (exit_descriptor >= 0) shim_eventfd_signal(exit_descriptor);
  const bool is_free = wait_until_at_most(&inside, own);
  atomic_store(&is_over, true);
  if (is_free) wait_until_at_most(&inside, own); /* for threads that were just about to end */
}

static void on_exit_after_cleanup(void) {
  atomic_store(&to_clean, 0);
}

void shim_exit_prepare_first(void) {
  static bool has_handler;
  if (has_handler) return;
  has_handler = atexit(on_exit_after_cleanup) == 0;
  atomic_store(&to_clean, has_handler);
}

bool shim_exit_prepare(void) {
  static bool has_handler;
  if (exit_descriptor < 0) exit_descriptor = shim_eventfd_new(); /* a child of fork() needs its own */
  if (exit_descriptor < 0) return false;
  if (!has_handler) has_handler = atexit(on_exit_of_process) == 0;
  return has_handler;
}

static void watch_end_of_thread(thread_phase phase) {
  /* If out of memory, the end of this thread is not waited for. */
  if (has_thread_key && pthread_setspecific(thread_key, &thread) == 0) thread.phase = phase;
}

bool shim_libcurl_enter(void) {
  if (thread.libcurl_depth == 0) {
    atomic_fetch_add(&inside, 1);
    if (atomic_load(&has_begun)) {
      atomic_fetch_sub(&inside, 1);
      return false;
    }
    if (thread.phase == UNUSED) watch_end_of_thread(HAS_ENTERED);
    become_busy();
  }
  thread.libcurl_depth++;
  return true;
}

void shim_libcurl_leave(void) {
  if (--thread.libcurl_depth > 0) return;
  become_idle();
  atomic_fetch_sub(&inside, 1);
}

/* --- Callbacks --- */

bool shim_callback_enter(void) {
  if (shim_exit_has_begun() && (thread.is_ours || thread.libcurl_depth > 0)) return false;
  if (thread.callback_depth++ == 0) shim_libcurl_rest();
  return true;
}

void shim_callback_leave(void) {
  /* exit() has stopped waiting for this callback, and the TLS library is being freed. */
  if (thread.libcurl_depth > 0 && atomic_load_explicit(&is_over, memory_order_relaxed)) park();
  if (--thread.callback_depth == 0) shim_libcurl_resume();
}

bool shim_in_callback(void) {
  return thread.callback_depth != 0;
}

/* --- Threads --- */

static void end_thread(void) {
  if (thread.libcurl_depth > 0) {
    thread.libcurl_depth = 0;
    if (thread.callback_depth == 0) become_idle(); /* else: pthread_exit() in a callback */
    atomic_fetch_sub(&inside, 1);
  }
  if (thread.last) thread.last(thread.context);
  thread.last = NULL;
}

/* False: the TLS library's exit handler has freed everything and has returned. */
static bool enter_at_end_of_thread(void) {
  if (thread.libcurl_depth > 0) return true;
  atomic_fetch_add(&inside, 1);
  if (atomic_load(&is_over)) {
    atomic_fetch_sub(&inside, 1);
    wait_until_at_most(&to_clean, 0);
    return false;
  }
  become_busy();
  thread.libcurl_depth++;
  return true;
}

/* The TLS library also frees its data for a thread in a destructor. Destructors run in rounds, so this one requests
 * another round, which runs later; until then, the thread is inside. */
static void on_end_of_thread(void *unused) {
  (void)unused;
  switch (thread.phase) {
  case HAS_ENTERED:
    if (!enter_at_end_of_thread()) return;
    watch_end_of_thread(LAST_ROUND);
    if (thread.phase != LAST_ROUND) end_thread();
    break;
  case ENDING:
    watch_end_of_thread(LAST_ROUND);
    if (thread.phase != LAST_ROUND) end_thread();
    break;
  case LAST_ROUND:
  case UNUSED:
    end_thread();
    break;
  }
}

typedef struct thread_start {
  void (*body)(void *context);
  void (*last)(void *context);
  void *context;
} thread_start;

static void *run_thread(void *argument) {
  const thread_start start = *(thread_start *)argument;
  free(argument);
  thread.is_ours = true;
  thread.last = start.last;
  thread.context = start.context;
  start.body(start.context);
  if (!shim_libcurl_enter()) park();
  thread.phase = UNUSED;
  watch_end_of_thread(ENDING);
  if (thread.phase != ENDING) end_thread();
  return NULL;
}

bool shim_thread_start(void (*body)(void *context), void (*last)(void *context), void *context) {
  thread_start *start = malloc(sizeof *start);
  pthread_attr_t attributes;
  pthread_t id;
  sigset_t all, before;
  if (!start) return false;
  *start = (thread_start){body, last, context};
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before); /* the new thread inherits it */
  const int result = pthread_create(&id, &attributes, run_thread, start);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  pthread_attr_destroy(&attributes);
  if (result != 0) free(start);
  return result == 0;
}

void shim_thread_disable_cancel(void) {
  if (thread.cancel_depth++ == 0) pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &thread.cancel_state);
}

void shim_thread_restore_cancel(void) {
  if (--thread.cancel_depth == 0) pthread_setcancelstate(thread.cancel_state, NULL);
}

/* --- The handlers of fork() --- */

_Atomic uint32_t shim_forks;

static pthread_mutex_t global_lock = PTHREAD_MUTEX_INITIALIZER;

void shim_global_lock_take(void) {
  shim_thread_disable_cancel();
  pthread_mutex_lock(&global_lock);
}

void shim_global_lock_release(void) {
  pthread_mutex_unlock(&global_lock);
  shim_thread_restore_cancel();
}

/* A thread in a callback holds no locks, and may call fork() itself. */
static void before_fork(void) {
  const bool is_busy = thread.libcurl_depth > 0 && thread.callback_depth == 0;
  atomic_fetch_add(&forking, 1);
  wait_until_at_most(&busy, is_busy);
  pthread_mutex_lock(&global_lock);
}

static void after_fork_in_parent(void) {
  pthread_mutex_unlock(&global_lock);
  atomic_fetch_sub(&forking, 1);
}

/* Only the thread that called fork() exists in the child. */
static void after_fork_in_child(void) {
  atomic_fetch_add_explicit(&shim_forks, 1, memory_order_relaxed);
  atomic_store(&inside, thread.libcurl_depth > 0);
  atomic_store(&busy, thread.libcurl_depth > 0 && thread.callback_depth == 0);
  atomic_store(&forking, 0);
  shim_close(exit_descriptor); /* signals in the child must not reach the parent */
  exit_descriptor = -1;
  pthread_mutex_unlock(&global_lock);
}

__attribute__((constructor)) static void on_load(void) {
  has_thread_key = pthread_key_create(&thread_key, on_end_of_thread) == 0;
  pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}
