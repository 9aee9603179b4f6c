/* Reading a valid token from a source against what one would write by hand in C: a mutex, the same clock and a copy of the
 * same bytes. Both with 1, 2 and 4 threads, rounds in turn; nanoseconds of processor time for each read, and million reads
 * in a second over all threads. */
#include "costs.h"

#include <pthread.h>

enum { ROUNDS = 15, READS = 1000000, MOST_THREADS = 4, LENGTH = 200 };

static boxretry_token_source *source;

static struct {
  pthread_mutex_t mutex;
  int64_t good_until;
  size_t length;
  char bytes[LENGTH + 1];
} plain = {PTHREAD_MUTEX_INITIALIZER, INT64_MAX, LENGTH, ""};

static void *read_ours(void *unused) {
  (void)unused;
  for (int i = 0; i < READS; i++) {
    boxretry_token *token;
    require(boxretry_token_source_get(source, 0, NULL, &token) == BOXRETRY_OK, "get");
    require(boxretry_token_bytes(token)[0] == 'x', "bytes");
    boxretry_token_free(token);
  }
  return NULL;
}

static void *read_plain(void *unused) {
  (void)unused;
  for (int i = 0; i < READS; i++) {
    char copy[LENGTH + 1];
    struct timespec time;
    pthread_mutex_lock(&plain.mutex);
    clock_gettime(CLOCK_BOOTTIME, &time);
    require((int64_t)time.tv_sec * 1000000000 + time.tv_nsec < plain.good_until, "plain");
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
  const double start = now(), processor = processor_time();
  for (int i = 0; i < threads; i++)
    require(pthread_create(&running[i], NULL, body, NULL) == 0, "thread");
  for (int i = 0; i < threads; i++)
    pthread_join(running[i], NULL);
  const double reads = (double)READS * threads;
  return (cost){(processor_time() - processor) / reads * 1e9, reads / (now() - start) / 1e6};
}

static void provide(void *context, boxretry_token_request *request) {
  (void)context;
  require(boxretry_token_request_succeed(request, plain.bytes, plain.length, 1e6) == BOXRETRY_OK, "succeed");
}

int main(void) {
  boxretry_token_options options = BOXRETRY_TOKEN_OPTIONS_INIT;
  memset(plain.bytes, 'x', LENGTH);
  options.provider = provide;
  require(boxretry_token_source_new(&options, &source) == BOXRETRY_OK, "source");
  boxretry_token *first;
  require(boxretry_token_source_get(source, BOXRETRY_NO_TIMEOUT, NULL, &first) == BOXRETRY_OK, "get");
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
    printf("%-8d  %8.1f  %8.1f  %8.2f  %10.1f  %10.1f\n", threads, median(ours, ROUNDS), median(theirs, ROUNDS),
           median(ratios, ROUNDS), median(rate, ROUNDS), median(their_rate, ROUNDS));
  }
  boxretry_token_source_free(source);
  return 0;
}
