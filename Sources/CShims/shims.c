#include "shims.h"

#include "shim_process.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

/* --- The error detail. Static TLS is scarce for libraries that are loaded late, so this is small. --- */

static _Thread_local char detail[240];

static void set_detail(const char *argument, const char *field, const char *why, const char *value) {
  snprintf(detail, sizeof detail, "%s%s%s%s%s%s%s%s", argument ? argument : "", argument && field ? "." : "",
           field ? field : "", argument || field ? ": " : "", why, value ? " (got " : "", value ? value : "",
           value ? ")" : "");
}

void shim_detail_set(const char *argument, const char *field, const char *why) {
  set_detail(argument, field, why, NULL);
}

void shim_detail_set_integer(const char *argument, const char *field, const char *why, int64_t value) {
  char text[24];
  snprintf(text, sizeof text, "%lld", (long long)value);
  set_detail(argument, field, why, text);
}

void shim_detail_set_real(const char *argument, const char *field, const char *why, double value) {
  char text[32];
  snprintf(text, sizeof text, "%.9g", value);
  /* The program's locale may use another decimal point. */
  for (char *c = text; *c; c++)
    if (!strchr("0123456789+-.einfa", *c)) *c = '.';
  set_detail(argument, field, why, text);
}

void shim_detail_set_attempts(const char *why, int32_t attempts, const char *last, const char *text) {
  snprintf(detail, sizeof detail, "%s (calls: %d%s%s)%s%s", why, (int)attempts, last ? "; last: " : "",
           last ? last : "", text ? ": " : "", text ? text : "");
}

void shim_detail_set_proxy(const char *proxy, int32_t status) {
  snprintf(detail, sizeof detail, "proxy%s%s: ", proxy ? " " : "", proxy ? proxy : "");
  const size_t length = strlen(detail);
  if (status != 0)
    snprintf(detail + length, sizeof detail - length, "answered CONNECT with status %d", (int)status);
  else
    snprintf(detail + length, sizeof detail - length, "refused to connect to the host");
}

static void append_index(char *text, size_t capacity, int64_t index) {
  const size_t length = strlen(text);
  if (index >= 0) snprintf(text + length, capacity - length, "[%lld]", (long long)index);
}

static void append(char *text, size_t capacity, const char *more) {
  const size_t length = strlen(text);
  if (more) snprintf(text + length, capacity - length, "%s", more);
}

void shim_detail_set_place(const shim_place *place, const char *why, const char *name) {
  snprintf(detail, sizeof detail, "%s", place->argument ? place->argument : "");
  append_index(detail, sizeof detail, place->index);
  if (place->argument && place->field) append(detail, sizeof detail, ".");
  append(detail, sizeof detail, place->field);
  append_index(detail, sizeof detail, place->field_index);
  if (*detail) append(detail, sizeof detail, ": ");
  append(detail, sizeof detail, why);
  if (!name) return;
  append(detail, sizeof detail, " (");
  append(detail, sizeof detail, name);
  append(detail, sizeof detail, ")");
}

const char *shim_detail(void) {
  return detail;
}

/* --- Providers --- */

static _Thread_local const void *provider_source;

void shim_provider_enter(const void *source) {
  provider_source = source;
}

void shim_provider_leave(void) {
  provider_source = NULL;
}

bool shim_is_in_provider_of(const void *source) {
  return provider_source == source;
}

/* --- Threads --- */

void shim_yield(void) {
  sched_yield();
}

bool shim_try_lock(uint32_t *word) {
  return atomic_exchange_explicit((_Atomic uint32_t *)word, 1, memory_order_acquire) == 0;
}

void shim_unlock(uint32_t *word) {
  atomic_store_explicit((_Atomic uint32_t *)word, 0, memory_order_release);
}

_Thread_local uint32_t shim_thread_number_or_0;

uint32_t shim_new_thread_number(void) {
  static _Atomic uint32_t last;
  uint32_t number;
  do {
    number = atomic_fetch_add_explicit(&last, 1, memory_order_relaxed) + 1;
  } while (number == 0);
  return shim_thread_number_or_0 = number;
}

/* --- Randomness. A child of fork() must not produce the same numbers as its parent. --- */

_Thread_local shim_random shim_thread_random;

static uint64_t random_seed(void) {
  uint64_t seed;
  if (getrandom(&seed, sizeof seed, GRND_NONBLOCK) == (ssize_t)sizeof seed) return seed;
  /* The kernel may have no randomness early during boot. Jitter needs different values, not secret ones. */
  return (uint64_t)shim_monotonic_nanoseconds() * 0x9E3779B97F4A7C15U ^ (uint64_t)(uintptr_t)&seed;
}

void shim_seed_thread_random(uint32_t seeded_for) {
  shim_thread_random = (shim_random){random_seed(), seeded_for};
}

/* --- Time --- */

static struct timespec timespec_of(int64_t nanoseconds) {
  return (struct timespec){.tv_sec = nanoseconds / 1000000000, .tv_nsec = nanoseconds % 1000000000};
}

void shim_sleep_until(int64_t monotonic_nanoseconds) {
  struct timespec until = timespec_of(monotonic_nanoseconds);
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR) {
  }
}

/* --- Monitor --- */

struct shim_monitor {
  pthread_mutex_t mutex;
  pthread_cond_t condition;
};

_Static_assert(sizeof(shim_monitor) <= SHIM_MONITOR_SIZE && SHIM_MONITOR_SIZE % _Alignof(max_align_t) == 0,
               "what the mutex guards begins behind it, and is aligned");

shim_monitor *shim_monitor_new(size_t guarded_size) {
  shim_monitor *monitor = malloc(SHIM_MONITOR_SIZE + guarded_size);
  pthread_condattr_t attributes;
  if (!monitor) return NULL;
  pthread_mutex_init(&monitor->mutex, NULL);
  pthread_condattr_init(&attributes);
  pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  pthread_cond_init(&monitor->condition, &attributes);
  pthread_condattr_destroy(&attributes);
  return monitor;
}

void shim_monitor_free(shim_monitor *monitor) {
  pthread_cond_destroy(&monitor->condition);
  pthread_mutex_destroy(&monitor->mutex);
  free(monitor);
}

void shim_monitor_lock(shim_monitor *monitor) {
  shim_thread_disable_cancel(); /* a canceled thread would keep the mutex */
  pthread_mutex_lock(&monitor->mutex);
}

void shim_monitor_unlock(shim_monitor *monitor) {
  pthread_mutex_unlock(&monitor->mutex);
  shim_thread_restore_cancel();
}

void shim_monitor_wake_all(shim_monitor *monitor) {
  pthread_cond_broadcast(&monitor->condition);
}

bool shim_monitor_wait_until(shim_monitor *monitor, int64_t monotonic_nanoseconds) {
  int result;
  if (monotonic_nanoseconds == INT64_MAX) {
    result = pthread_cond_wait(&monitor->condition, &monitor->mutex);
  } else {
    const struct timespec until = timespec_of(monotonic_nanoseconds);
    result = pthread_cond_timedwait(&monitor->condition, &monitor->mutex, &until);
  }
  return result != ETIMEDOUT;
}
