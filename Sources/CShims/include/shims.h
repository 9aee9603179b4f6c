/*
 * What the Swift sources need from C and cannot call themselves. Small functions are inline here; everything with
 * storage is in shims.c.
 */
#ifndef BOXRETRY_SHIMS_H
#define BOXRETRY_SHIMS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* --- Names: the tables of boxretry.h, indexed by number. "unknown" if the number does not exist. --- */

const char *shim_error_name(int32_t error);
const char *shim_error_text(int32_t error);
const char *shim_cause_name(int32_t cause);
const char *shim_action_name(int32_t action);
const char *shim_delay_source_name(int32_t delay_source);
const char *shim_reason_name(int32_t reason);
const char *shim_reason_text(int32_t reason);
const char *shim_version(void);
const char *shim_default_user_agent(void);

/* --- The error detail of this thread. `argument` and `field` may be NULL; the text is truncated to the size of the
 * buffer. --- */

void shim_detail_set(const char *argument, const char *field, const char *why);
void shim_detail_set_integer(const char *argument, const char *field, const char *why, int64_t value);
void shim_detail_set_real(const char *argument, const char *field, const char *why, double value);
void shim_detail_set_attempts(const char *why, int32_t attempts, const char *last, const char *text);

/* `status`: of the proxy's answer to CONNECT; 0: it refused in another way. `proxy`: host and port; NULL: not set. */
void shim_detail_set_proxy(const char *proxy, int32_t status);

/* Which argument, and its index; -1: it is not an array. NULL: not set. */
typedef struct shim_place {
  const char *argument;
  int64_t index;
  const char *field;
  int64_t field_index;
} shim_place;

/* `argument[index].field[field_index]: why (name)`; `name` may be NULL. */
void shim_detail_set_place(const shim_place *place, const char *why, const char *name);
const char *shim_detail(void);

/* The token source whose provider this thread is in (T4). */
void shim_provider_enter(const void *source);
void shim_provider_leave(void);
bool shim_is_in_provider_of(const void *source);

/* --- Threads: a small number for each thread, to spread threads over slots that each should have for itself. --- */

void shim_yield(void);

/* A lock that is held only for a few instructions: a word that is 0 while it is free. No thread blocks on it. These two
 * functions are not inline, because Swift's optimizer moves reference counting past a mere store, but not past a
 * call. */
bool shim_try_lock(uint32_t *word);
void shim_unlock(uint32_t *word);

extern _Thread_local uint32_t shim_thread_number_or_0 __attribute__((visibility("hidden"), tls_model("initial-exec")));
uint32_t shim_new_thread_number(void);

static inline uint32_t shim_thread_number(void) {
  return shim_thread_number_or_0 != 0 ? shim_thread_number_or_0 : shim_new_thread_number();
}

/* A counter that one thread at a time counts up, and others read meanwhile. */
static inline void shim_count_up(int64_t *counter) {
  __atomic_store_n(counter, __atomic_load_n(counter, __ATOMIC_RELAXED) + 1, __ATOMIC_RELAXED);
}

static inline int64_t shim_counted(const int64_t *counter) {
  return __atomic_load_n(counter, __ATOMIC_RELAXED);
}

/* --- Processes: the number of forks between the loading of the library and this process. --- */

extern _Atomic uint32_t shim_forks __attribute__((visibility("hidden")));

static inline uint32_t shim_fork_generation(void) {
  return atomic_load_explicit(&shim_forks, memory_order_relaxed);
}

/* --- Randomness: the next state of this thread's own SplitMix64. --- */

typedef struct shim_random {
  uint64_t state;
  uint32_t seeded_for; /* the fork generation plus one; 0: not seeded */
} shim_random;

extern _Thread_local shim_random shim_thread_random __attribute__((visibility("hidden"), tls_model("initial-exec")));
void shim_seed_thread_random(uint32_t seeded_for);

static inline uint64_t shim_next_random_state(void) {
  const uint32_t seeded_for = shim_fork_generation() + 1;
  if (shim_thread_random.seeded_for != seeded_for) shim_seed_thread_random(seeded_for);
  return shim_thread_random.state += 0x9E3779B97F4A7C15U;
}

/* --- Time, in nanoseconds. --- */

static inline int64_t shim_nanoseconds(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now); /* cannot fail for a clock that the kernel supports, and it supports these three */
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static inline int64_t shim_monotonic_nanoseconds(void) {
  return shim_nanoseconds(CLOCK_MONOTONIC);
}

static inline int64_t shim_boottime_nanoseconds(void) {
  return shim_nanoseconds(CLOCK_BOOTTIME);
}

static inline double shim_wall_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Costs a seventh of the exact clocks, and lags behind them by a few milliseconds at most. */
static inline int64_t shim_coarse_monotonic_nanoseconds(void) {
  return shim_nanoseconds(CLOCK_MONOTONIC_COARSE);
}

static inline int64_t shim_coarse_wall_nanoseconds(void) {
  return shim_nanoseconds(CLOCK_REALTIME_COARSE);
}

/* Sleeps until CLOCK_MONOTONIC has reached that value. Signals do not shorten it. */
void shim_sleep_until(int64_t monotonic_nanoseconds);

/* --- Monitor: a mutex, its condition variable, and what the mutex guards, in one block. --- */

typedef struct shim_monitor shim_monitor;

/* Where what the mutex guards begins. */
enum { SHIM_MONITOR_SIZE = 96 };

shim_monitor *shim_monitor_new(size_t guarded_size); /* NULL: out of memory */
void shim_monitor_free(shim_monitor *monitor);
void shim_monitor_lock(shim_monitor *monitor);
void shim_monitor_unlock(shim_monitor *monitor);
void shim_monitor_wake_all(shim_monitor *monitor);

/* Waits until woken, or until CLOCK_MONOTONIC has reached that value; INT64_MAX: without limit. False: the time has
 * passed. */
bool shim_monitor_wait_until(shim_monitor *monitor, int64_t monotonic_nanoseconds);

#endif
