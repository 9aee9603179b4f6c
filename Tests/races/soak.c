/* Very many requests, with faults among them: soak REQUESTS SERVER
 *
 * Prints what the process has after the first 10,000 (of fewer than 100,000: after a tenth) and after all of them: heap in
 * use, resident size, descriptors, threads; and how long it took to cancel a call meanwhile. Both are looked at when
 * everything of the library has been freed: what is more then was left behind. scripts/soak has the C library keep nothing
 * that is freed: what it keeps of each size for next time keeps growing for some 60,000 requests. */
#include <boxretry.h>
#include <dirent.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "crew.h"

enum {
  IN_FLIGHT = 64,
  ALLOWED_HEAP = 16 << 10,   /* bytes: what the C library has for its threads */
  WARM_UP = 10000,           /* requests after which what is made once is there */
  ALLOWED_PERCENT = 1,       /* of resident size; where that is less: */
  ALLOWED_PAGES = 128 << 10, /* bytes: some pages at the edges of what is in use */
  SAMPLES = 1 << 16
};

/* So often of a hundred. What ends a connection is rare, since the kernel keeps the ports of these for a while. */
static const struct {
  const char *path;
  int share;
} paths[] = {{"/", 60},    {"/flaky", 15}, {"/missing", 8}, {"/moved", 6}, {"/rejected", 4},
             {"/busy", 3}, {"/silent", 2}, {"/cut", 1},     {"/broken", 1}};

typedef struct footprint {
  size_t heap, resident;
  int descriptors, threads;
} footprint;

static const char *server;
static double cancel_ms[SAMPLES];
static size_t cancel_count;
static long statuses[1000], errors[64];

static void ok(boxretry_error error) {
  if (error != BOXRETRY_OK) fprintf(stderr, "%s: %s\n", boxretry_error_name(error), boxretry_last_error_detail());
  REQUIRE(error == BOXRETRY_OK);
}

static int entries(const char *path) {
  DIR *directory = opendir(path);
  int count = 0;
  REQUIRE(directory != NULL);
  while (readdir(directory))
    count++;
  closedir(directory);
  return count - 2; /* . and .. */
}

static footprint look(void) {
  footprint now = {0};
  size_t pages = 0;
  malloc_trim(0);
  FILE *file = fopen("/proc/self/statm", "r");
  REQUIRE(file && fscanf(file, "%*u %zu", &pages) == 1);
  fclose(file);
  now.heap = mallinfo2().uordblks;
  now.resident = pages * (size_t)sysconf(_SC_PAGESIZE);
  now.descriptors = entries("/proc/self/fd") - 1; /* that of the directory */
  now.threads = entries("/proc/self/task");
  return now;
}

static double now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* --- Requests --- */

static int some_path(void) {
  int left = rand() % 100, index = 0;
  while (left >= paths[index].share)
    left -= paths[index++].share;
  return index;
}

static boxretry_request make_request(int index, char *url) {
  boxretry_request request = BOXRETRY_REQUEST_INIT;
  snprintf(url, 96, "%s%s", server, paths[index].path);
  request.url = url;
  request.user_pointer = (void *)paths[index].path;
  if (rand() % 4 == 0) {
    request.method = "PUT";
    request.body = "a body";
    request.body_length = 6;
  }
  return request;
}

static void count_response(boxretry_response *response) {
  REQUIRE(response != NULL);
  const boxretry_error error = boxretry_response_error(response);
  errors[error]++;
  statuses[boxretry_response_status(response)]++;
  if (boxretry_response_status(response) == 200) {
    size_t length;
    const void *body = boxretry_response_body(response, &length);
    REQUIRE(length == 6 && memcmp(body, "hello\n", 6) == 0);
  }
  boxretry_response_free(response);
}

/* Among all the others, how long does the end of a call take that is canceled? */
static void cancel_one(boxretry_client *client) {
  boxretry_request request = BOXRETRY_REQUEST_INIT;
  char url[96];
  boxretry_call *call;
  snprintf(url, sizeof url, "%s/silent", server);
  request.url = url;
  ok(boxretry_client_submit(client, &request, &call));
  const double start = now_ms();
  boxretry_call_cancel(call);
  ok(boxretry_call_wait(call, BOXRETRY_NO_TIMEOUT));
  if (cancel_count < SAMPLES) cancel_ms[cancel_count++] = now_ms() - start;
  boxretry_response *response = boxretry_call_take_response(call);
  REQUIRE(boxretry_response_error(response) == BOXRETRY_ERROR_CANCELLED);
  boxretry_response_free(response);
  boxretry_call_free(call);
}

static boxretry_client *new_client(void) {
  boxretry_retry_options retries = BOXRETRY_RETRY_OPTIONS_INIT;
  boxretry_client_options options = BOXRETRY_CLIENT_OPTIONS_INIT;
  boxretry_strategy *strategy;
  boxretry_client *client;
  retries.retry_base_interval = 0;
  ok(boxretry_strategy_new(&retries, &strategy));
  options.strategy = strategy;
  options.proxy_mode = BOXRETRY_PROXY_NONE;
  ok(boxretry_client_new(&options, &client));
  boxretry_strategy_free(strategy);
  return client;
}

/* Many requests, with a limit at once. One that never ends is canceled when its turn comes. */
static void run(long requests) {
  boxretry_client *client = new_client();
  boxretry_queue *queue;
  boxretry_call *taken[IN_FLIGHT];
  long begun = 0, ended = 0;
  ok(boxretry_queue_new(&queue));
  while (ended < requests) {
    while (begun < requests && begun - ended < IN_FLIGHT) {
      char url[96];
      boxretry_request request = make_request(some_path(), url);
      request.queue = queue;
      request.deadline_ms = strstr(url, "/silent") ? 20 : 0;
      ok(boxretry_client_submit(client, &request, NULL));
      begun++;
    }
    if (rand() % 10 == 0) cancel_one(client);
    const size_t count = boxretry_queue_take(queue, taken, IN_FLIGHT, BOXRETRY_NO_TIMEOUT);
    for (size_t i = 0; i < count; i++) {
      count_response(boxretry_call_take_response(taken[i]));
      boxretry_call_free(taken[i]);
    }
    ended += (long)count;
  }
  boxretry_queue_free(queue);
  ok(boxretry_client_close(client, BOXRETRY_NO_TIMEOUT));
  boxretry_client_free(client);
}

/* --- The results --- */

static int compare(const void *one, const void *other) {
  const double difference = *(const double *)one - *(const double *)other;
  return difference < 0 ? -1 : difference > 0;
}

static void print_footprint(const char *when, footprint it) {
  printf("%s: %zu KiB of heap, %zu KiB resident, %d descriptors, %d threads\n", when, it.heap >> 10, it.resident >> 10,
         it.descriptors, it.threads);
}

/* The library's threads end shortly after their client. */
static footprint look_when_quiet(int threads) {
  footprint now = look();
  for (int i = 0; i < 2000 && now.threads > threads; i++) {
    usleep(5000);
    now = look();
  }
  return look(); /* what the last of them had has been given back by now */
}

static size_t allowed_resident(size_t before) {
  const size_t share = before * ALLOWED_PERCENT / 100;
  return share > ALLOWED_PAGES ? share : ALLOWED_PAGES;
}

int main(int argc, char **argv) {
  if (argc != 3) {
    fputs("usage: soak REQUESTS SERVER\n", stderr);
    return 2;
  }
  const long requests = strtol(argv[1], NULL, 10);
  server = argv[2];
  run(requests / 10 < WARM_UP ? requests / 10 + 1 : WARM_UP);
  cancel_count = 0;
  memset(cancel_ms, 1, sizeof cancel_ms); /* the pages of the test itself are there, too */
  const footprint before = look_when_quiet(1);
  const double start = now_ms();
  run(requests);
  const double seconds = (now_ms() - start) / 1e3;
  const footprint after = look_when_quiet(before.threads);

  printf("%ld requests in %.1f s\n", requests, seconds);
  for (int i = 0; i < 1000; i++)
    if (statuses[i]) printf("  status %d: %ld\n", i, statuses[i]);
  for (int i = 1; i < 64; i++)
    if (errors[i]) printf("  %s: %ld\n", boxretry_error_name(i), errors[i]);
  qsort(cancel_ms, cancel_count, sizeof *cancel_ms, compare);
  if (cancel_count > 0)
    printf("cancelled %zu meanwhile: in the middle %.3f ms, of a hundred the slowest %.3f ms, at most %.3f ms\n",
           cancel_count, cancel_ms[cancel_count / 2], cancel_ms[cancel_count * 99 / 100], cancel_ms[cancel_count - 1]);
  print_footprint("before", before);
  print_footprint("after", after);
  fflush(stdout);
  REQUIRE(after.descriptors == before.descriptors);
  REQUIRE(after.threads == before.threads);
  REQUIRE(after.heap <= before.heap + ALLOWED_HEAP);
  REQUIRE(after.resident <= before.resident + allowed_resident(before.resident));
  REQUIRE(after.resident + allowed_resident(before.resident) >= before.resident);
  return EXIT_SUCCESS;
}
