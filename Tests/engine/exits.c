/* Ends a process in the middle of what the library does: exits KIND URL CA_FILE
 *
 * The URL begins with https. It answers at once, and `stall` in place of `200` never. The exit status is 42,
 * and unfinished work is given up; a process that hangs is killed by SIGALRM. */
#define _GNU_SOURCE /* RTLD_NEXT */
#include <boxretry.h>
#include <curl/curl.h>
#include <dlfcn.h>
#include <openssl/crypto.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { STATUS = 42, WRONG = 99, CALLS = 4, PATIENCE = 60 /* seconds */ };

static char good[1024], silent[1024];
static const char *ca_file;
static boxretry_client *client;
static boxretry_call *calls[CALLS];
static atomic_int ended;
static atomic_int inside; /* threads in curl_multi_cleanup() */
static pthread_t thread;

static void ok(boxretry_error error) {
  if (error == BOXRETRY_OK) return;
  fprintf(stderr, "%s: %s\n", boxretry_error_name(error), boxretry_last_error_detail());
  _exit(WRONG);
}

static void must(bool condition, const char *what) {
  if (condition) return;
  fprintf(stderr, "not so: %s\n", what);
  _exit(WRONG);
}

/* Up to four milliseconds, in which a connection is made. */
static void dawdle(void) {
  const struct timespec time = {0, rand() % 4000000};
  nanosleep(&time, NULL);
}

static void new_client(void) {
  boxretry_client_options options = BOXRETRY_CLIENT_OPTIONS_INIT;
  options.ca_file = ca_file;
  options.proxy_mode = BOXRETRY_PROXY_NONE;
  ok(boxretry_client_new(&options, &client));
}

static void submit(const char *url) {
  boxretry_request request = BOXRETRY_REQUEST_INIT;
  request.url = url;
  for (int i = 0; i < CALLS; i++)
    ok(boxretry_client_submit(client, &request, &calls[i]));
}

static void wait_for_calls(void) {
  for (int i = 0; i < CALLS; i++) {
    ok(boxretry_call_wait(calls[i], BOXRETRY_NO_TIMEOUT));
    boxretry_response *response = boxretry_call_take_response(calls[i]);
    ok(boxretry_response_error(response));
    must(boxretry_response_status(response) == 200, "status 200");
    boxretry_response_free(response);
    boxretry_call_free(calls[i]);
  }
}

static void perform(const char *url) {
  boxretry_request request = BOXRETRY_REQUEST_INIT;
  boxretry_response *response;
  request.url = url;
  if (boxretry_client_perform(client, &request, &response) == BOXRETRY_OK) boxretry_response_free(response);
}

static void *run(void *body) {
  (*(void (**)(void))body)();
  return NULL;
}

static void start(void (*const *body)(void)) {
  must(pthread_create(&thread, NULL, run, (void *)body) == 0, "a thread");
}

/* --- The kinds. Each returns to main(), which returns STATUS, or ends the process itself. --- */

static void closed(void) {
  submit(good);
  wait_for_calls();
  ok(boxretry_client_close(client, BOXRETRY_NO_TIMEOUT));
  boxretry_client_free(client);
}

static void perform_until_closed(void) {
  boxretry_request request = BOXRETRY_REQUEST_INIT;
  boxretry_response *response;
  request.url = good;
  while (boxretry_client_perform(client, &request, &response) == BOXRETRY_OK)
    boxretry_response_free(response);
  for (;;) /* When a thread ends, OpenSSL frees what it keeps for it: that must not meet OPENSSL_cleanup(). */
    pause();
}

static void (*const thread_until_closed)(void) = perform_until_closed;

/* The library calls this function in place of libcurl's. It takes a little longer, so that a close that does not wait for it
 * returns while it runs. */
CURLMcode curl_multi_cleanup(CURLM *multi) {
  CURLMcode (*const cleanup)(CURLM *) = (CURLMcode(*)(CURLM *))dlsym(RTLD_NEXT, "curl_multi_cleanup");
  const struct timespec time = {0, 2000000};
  atomic_fetch_add(&inside, 1);
  nanosleep(&time, NULL);
  const CURLMcode code = cleanup(multi);
  atomic_fetch_sub(&inside, 1);
  return code;
}

/* The engine's own thread or threads inside perform drive the loop. The process then frees OpenSSL's data itself, and no exit
 * handler runs that could wait for a thread. */
static void closed_before_cleanup(void) {
  switch (rand() % 3) {
  case 0:
    submit(good);
    wait_for_calls();
    break;
  case 1:
    submit(good);
    dawdle();
    break;
  default:
    for (int i = 0; i < 3; i++)
      start(&thread_until_closed);
    dawdle();
  }
  ok(boxretry_client_close(client, BOXRETRY_NO_TIMEOUT));
  must(atomic_load(&inside) == 0, "no thread is inside libcurl after close");
  OPENSSL_cleanup();
  dawdle(); /* A thread that is still inside OpenSSL crashes meanwhile. */
  _exit(STATUS);
}

static void freed(void) {
  submit(good);
  wait_for_calls();
  boxretry_client_free(client);
}

static void left(void) {
  submit(good);
  wait_for_calls();
}

static void under_way(void) {
  submit(rand() % 2 ? good : silent);
  dawdle();
}

static bool lingers;

/* The thread that drives after boxretry_call_wait() comes too late for libcurl. */
static void waited(void) {
  submit(silent);
  (void)boxretry_call_wait(calls[0], 20);
  lingers = true;
}

static bool closes_late;

static void closed_late(void) {
  closes_late = true;
  under_way();
}

/* As that of an object of C++, it runs when the library has let go of everything. */
__attribute__((destructor)) static void close_late(void) {
  const struct timespec time = {0, 20000000};
  if (lingers) nanosleep(&time, NULL);
  if (!closes_late) return;
  ok(boxretry_client_close(client, BOXRETRY_NO_TIMEOUT));
  boxretry_client_free(client);
}

static void under_way_freed(void) {
  under_way();
  for (int i = 0; i < CALLS; i++)
    boxretry_call_free(calls[i]);
  boxretry_client_free(client);
}

static void perform_again_and_again(void) {
  for (int i = 0; i < 1000; i++)
    perform(i % 8 < 7 ? good : silent);
}

static void (*const busy_thread)(void) = perform_again_and_again;

static void performing(void) {
  for (int i = 0; i < 3; i++)
    start(&busy_thread);
  dawdle();
}

static void perform_and_end(void) {
  perform(good);
  atomic_store(&ended, 1);
}

static void (*const short_thread)(void) = perform_and_end;

/* The thread frees what OpenSSL has kept for it while main() returns. */
static void thread_ends(void) {
  start(&short_thread);
  while (!atomic_load(&ended))
    dawdle();
}

static pthread_t joined_threads[16];
static const size_t joined_count = sizeof joined_threads / sizeof *joined_threads;

static void join_at_exit(void) {
  for (size_t i = 0; i < joined_count; i++)
    must(pthread_join(joined_threads[i], NULL) == 0, "a thread that ends");
}

static void perform_silent(void) {
  perform(silent);
}

static void (*const silent_thread)(void) = perform_silent;

/* A program's own exit handler, which runs after the library's, waits for threads that are inside perform: they end while
 * OpenSSL's exit handler frees what it has kept for them. */
static void joined(void) {
  for (size_t i = 0; i < joined_count; i++) {
    start(&silent_thread);
    joined_threads[i] = thread;
  }
  dawdle();
}

static void exit_at_end(void *context, boxretry_call *call) {
  (void)context;
  (void)call;
  exit(STATUS);
}

static void in_completion(void) {
  boxretry_request request = BOXRETRY_REQUEST_INIT;
  submit(rand() % 2 ? good : silent);
  request.url = good;
  request.on_complete = exit_at_end;
  ok(boxretry_client_submit(client, &request, NULL));
  for (;;)
    pause();
}

static void exit_in_write(void *context, boxretry_call *call, const void *data, size_t length, int32_t *answer) {
  (void)data;
  (void)length;
  *answer = BOXRETRY_WRITE_TAKEN;
  exit_at_end(context, call);
}

/* Inside libcurl, on this very thread, while others wait for the loop. */
static void in_sink(void) {
  boxretry_request request = BOXRETRY_REQUEST_INIT;
  boxretry_sink sink = BOXRETRY_SINK_INIT;
  boxretry_response *response;
  performing();
  sink.kind = BOXRETRY_SINK_CALLBACK;
  sink.write = exit_in_write;
  request.url = good;
  request.sink = &sink;
  ok(boxretry_client_perform(client, &request, &response));
  for (;;) /* another thread drives the loop, and has called exit() */
    pause();
}

static void sleep_in_write(void *context, boxretry_call *call, const void *data, size_t length, int32_t *answer) {
  (void)context;
  (void)call;
  (void)data;
  (void)length;
  atomic_store(&ended, 1);
  sleep(3);
  *answer = BOXRETRY_WRITE_TAKEN;
}

/* Longer than exit() waits. */
static void slow_callback(void) {
  boxretry_request request = BOXRETRY_REQUEST_INIT;
  boxretry_sink sink = BOXRETRY_SINK_INIT;
  sink.kind = BOXRETRY_SINK_CALLBACK;
  sink.write = sleep_in_write;
  request.url = good;
  request.sink = &sink;
  ok(boxretry_client_submit(client, &request, &calls[0]));
  while (!atomic_load(&ended))
    dawdle();
}

static void token(void) {
  boxretry_token_endpoint_options endpoint = BOXRETRY_TOKEN_ENDPOINT_OPTIONS_INIT;
  boxretry_token_source *source;
  boxretry_token *access_token;
  endpoint.url = good;
  endpoint.ca_file = ca_file;
  endpoint.proxy_mode = BOXRETRY_PROXY_NONE;
  ok(boxretry_token_source_new_endpoint(&endpoint, &source));
  must(boxretry_token_source_get(source, BOXRETRY_NO_TIMEOUT, NULL, &access_token) != BOXRETRY_OK, "no token");
  boxretry_token_source_free(source);
}

/* The child has nothing of its parent's threads, and may make its own client. */
static void forked(void) {
  int status;
  under_way();
  const pid_t child = fork();
  if (child == 0) {
    alarm(PATIENCE);
    if (rand() % 2) new_client();
    exit(STATUS);
  }
  must(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == STATUS, "the child's status");
}

static atomic_int exits, drives;

static void begin_exit(void) {
  atomic_store(&exits, 1);
}

static void wait_for_exit(void *context, boxretry_call *call, const void *data, size_t length, int32_t *answer) {
  const struct timespec time = {0, 200000000}; /* the library's exit handler runs after begin_exit() */
  (void)context;
  (void)call;
  (void)data;
  (void)length;
  atomic_store(&drives, 1);
  while (!atomic_load(&exits))
    dawdle();
  nanosleep(&time, NULL);
  *answer = BOXRETRY_WRITE_TAKEN;
}

static void perform_until_exit(void) {
  boxretry_request request = BOXRETRY_REQUEST_INIT;
  boxretry_sink sink = BOXRETRY_SINK_INIT;
  boxretry_response *response;
  sink.kind = BOXRETRY_SINK_CALLBACK;
  sink.write = wait_for_exit;
  request.url = good;
  request.sink = &sink;
  if (boxretry_client_perform(client, &request, &response) == BOXRETRY_OK) boxretry_response_free(response);
}

static void (*const driving_thread)(void) = perform_until_exit;

/* The thread that drives the loop ends its own call after exit() has begun. Calls that wait for an answer are left to the
 * next thread, which may not use libcurl. */
static void handed_over(void) {
  submit(good);
  wait_for_calls();
  submit(silent);
  atexit(begin_exit); /* runs before the library's own handler */
  start(&driving_thread);
  while (!atomic_load(&drives))
    dawdle();
}

static void at_once(void) {
  under_way();
  _exit(STATUS);
}

static const struct kind {
  const char *name;
  void (*body)(void);
} kinds[] = {
    {"closed", closed},
    {"freed", freed},
    {"left", left},
    {"under_way", under_way},
    {"under_way_freed", under_way_freed},
    {"closed_late", closed_late},
    {"waited", waited},
    {"performing", performing},
    {"thread_ends", thread_ends},
    {"joined", joined},
    {"in_completion", in_completion},
    {"in_sink", in_sink},
    {"handed_over", handed_over},
    {"slow_callback", slow_callback},
    {"token", token},
    {"forked", forked},
    /* These end by _exit(). */
    {"at_once", at_once},
    {"closed_before_cleanup", closed_before_cleanup},
};

int main(int argc, char **argv) {
  if (argc != 4) return WRONG;
  alarm(PATIENCE);
  srand((unsigned)getpid());
  snprintf(good, sizeof good, "%s", argv[2]);
  const char *item = strstr(argv[2], "/200");
  must(item != NULL, "the URL has /200");
  snprintf(silent, sizeof silent, "%.*s/stall%s", (int)(item - argv[2]), argv[2], item + strlen("/200"));
  ca_file = argv[3];
  if (strcmp(argv[1], "joined") == 0) atexit(join_at_exit);
  new_client();
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    if (strcmp(argv[1], kinds[i].name) != 0) continue;
    kinds[i].body();
    return STATUS;
  }
  return WRONG;
}
