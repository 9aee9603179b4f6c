/* Reading a valid token from a source against what one would write by hand in C: a mutex, the same clock and a copy of the
 * same bytes. Both with 1, 2 and 4 threads, rounds in turn; nanoseconds of processor time for each read, and million reads
 * in a second over all threads. */
#include "boxretry.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 15, READS = 1000000, MOST_THREADS = 4, LENGTH = 200 };

static boxretry_token_source *source;

static struct {
  pthread_mutex_t mutex;
  int64_t good_until;
  size_t length;
  char bytes[LENGTH + 1];
} plain = {PTHREAD_MUTEX_INITIALIZER, INT64_MAX, LENGTH, ""};

static double seconds(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void fail(const char *what) {
  fprintf(stderr, "token: %s: %s\n", what, boxretry_last_error_detail());
  exit(1);
}

static void *read_ours(void *unused) {
  (void)unused;
  for (int i = 0; i < READS; i++) {
    boxretry_token *token;
    if (boxretry_token_source_get(source, 0, NULL, &token) != BOXRETRY_OK) fail("get");
    if (boxretry_token_bytes(token)[0] != 'x') fail("bytes");
    boxretry_token_free(token);
  }
  return NULL;
}

static void *read_plain(void *unused) {
  (void)unused;
  for (int i = 0; i < READS; i++) {
    char copy[LENGTH + 1];
    struct timespec now;
    pthread_mutex_lock(&plain.mutex);
    clock_gettime(CLOCK_BOOTTIME, &now);
    if ((int64_t)now.tv_sec * 1000000000 + now.tv_nsec >= plain.good_until) fail("plain");
    memcpy(copy, plain.bytes, plain.length + 1);
    pthread_mutex_unlock(&plain.mutex);
    __asm__ volatile("" : : "r"(copy) : "memory");
  }
  return NULL;
}

typedef struct {
  double nanoseconds; /* of processor time, each */
  double rate;        /* millions in a second, over all threads */
} cost;

static cost measure(void *(*body)(void *), int threads) {
  pthread_t running[MOST_THREADS];
  const double start = seconds(CLOCK_MONOTONIC), cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
  for (int i = 0; i < threads; i++)
    if (pthread_create(&running[i], NULL, body, NULL) != 0) fail("thread");
  for (int i = 0; i < threads; i++)
    pthread_join(running[i], NULL);
  const double reads = (double)READS * threads;
  return (cost){(seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu) / reads * 1e9,
                reads / (seconds(CLOCK_MONOTONIC) - start) / 1e6};
}

static int compare(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median(double values[ROUNDS]) {
  qsort(values, ROUNDS, sizeof *values, compare);
  return values[ROUNDS / 2];
}

static void provide(void *context, boxretry_token_request *request) {
  (void)context;
  if (boxretry_token_request_succeed(request, plain.bytes, plain.length, 1e6) != BOXRETRY_OK) fail("succeed");
}

int main(void) {
  boxretry_token_options options = BOXRETRY_TOKEN_OPTIONS_INIT;
  memset(plain.bytes, 'x', LENGTH);
  options.provider = provide;
  if (boxretry_token_source_new(&options, &source) != BOXRETRY_OK) fail("source");
  boxretry_token *first;
  if (boxretry_token_source_get(source, BOXRETRY_NO_TIMEOUT, NULL, &first) != BOXRETRY_OK) fail("get");
  boxretry_token_free(first);

  printf("%-8s  %8s  %8s  %8s  %10s  %10s\n", "threads", "ours ns", "plain ns", "ratio", "ours M/s", "plain M/s");
  for (int threads = 1; threads <= MOST_THREADS; threads *= 2) {
    double ours[ROUNDS], theirs[ROUNDS], ratios[ROUNDS], rate[ROUNDS], their_rate[ROUNDS];
    for (int round = 0; round < ROUNDS; round++) {
      const cost a = measure(read_ours, threads), b = measure(read_plain, threads);
      ours[round] = a.nanoseconds;
      theirs[round] = b.nanoseconds;
      ratios[round] = a.nanoseconds / b.nanoseconds;
      rate[round] = a.rate;
      their_rate[round] = b.rate;
    }
    printf("%-8d  %8.1f  %8.1f  %8.2f  %10.1f  %10.1f\n", threads, median(ours), median(theirs), median(ratios),
           median(rate), median(their_rate));
  }
  boxretry_token_source_free(source);
  return 0;
}
