/* Requests through the client, or through bare libcurl: http SUBJECT URL REQUESTS IN_FLIGHT [retried] [ca=FILE]
 *
 *     easy      curl_easy_perform on one handle, one after another
 *     threads   curl_easy_perform on a handle in each of as many threads as there are requests in flight
 *     perform   boxretry_client_perform, one after another
 *     poll      libcurl's multi interface with curl_multi_poll
 *     epoll     libcurl's multi interface with curl_multi_socket_action and epoll
 *     queue     boxretry_client_submit with a queue
 *
 * All of them send the same bytes, read the status and keep the body.
 *
 *     retried   every second answer is a 503: the client retries, and bare libcurl sends twice the requests
 *     ca=FILE   HTTP/2 over TLS, with the certificates in that file
 *
 * Prints the seconds, the seconds of processor time, and the peak of the memory in KiB. A first run, of as many requests as
 * there are in flight, is not measured: it makes the connections. */
#include "costs.h"

#include <boxretry.h>
#include <curl/curl.h>
#include <pthread.h>
#include <sys/epoll.h>

static int is_retried;
static const char *ca_file;

/* --- Bare libcurl --- */

/* One request at a time, on a handle that is used again and again. */
typedef struct bare {
  CURL *easy;
  char *body;
  size_t length, capacity;
} bare;

static size_t keep(char *data, size_t size, size_t count, void *user) {
  bare *request = user;
  const size_t added = size * count;
  if (request->length + added > request->capacity) {
    request->capacity = (request->length + added) * 2;
    request->body = realloc(request->body, request->capacity);
    require(request->body != NULL, "realloc");
  }
  memcpy(request->body + request->length, data, added);
  request->length += added;
  return added;
}

static void bare_open(bare *request, const char *url) {
  *request = (bare){curl_easy_init(), NULL, 0, 0};
  require(request->easy != NULL, "curl_easy_init");
  curl_easy_setopt(request->easy, CURLOPT_URL, url);
  curl_easy_setopt(request->easy, CURLOPT_PRIVATE, request);
  curl_easy_setopt(request->easy, CURLOPT_WRITEFUNCTION, keep);
  curl_easy_setopt(request->easy, CURLOPT_WRITEDATA, request);
  curl_easy_setopt(request->easy, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(request->easy, CURLOPT_USERAGENT, "boxretry/" BOXRETRY_VERSION);
  curl_easy_setopt(request->easy, CURLOPT_HTTP_VERSION,
                   ca_file ? (long)CURL_HTTP_VERSION_2TLS : (long)CURL_HTTP_VERSION_1_1);
  curl_easy_setopt(request->easy, CURLOPT_PIPEWAIT, ca_file ? 1L : 0L);
  if (ca_file) curl_easy_setopt(request->easy, CURLOPT_CAINFO, ca_file);
}

static void bare_check(bare *request) {
  long status = 0;
  curl_easy_getinfo(request->easy, CURLINFO_RESPONSE_CODE, &status);
  require((status == 200 || (is_retried && status == 503)) && request->length > 0, "bare response");
  request->length = 0;
}

static bare *requests;
static long in_flight;
static CURLM *multi;
static int epoll = -1;
static double timer_due = -1;

static void easy_perform(bare *request, long count) {
  for (; count > 0; count--) {
    require(curl_easy_perform(request->easy) == CURLE_OK, "curl_easy_perform");
    bare_check(request);
  }
}

static void easy_run(long count) {
  easy_perform(requests, count);
}

/* The threads stay from run to run: each does its share between the two barriers. */
static pthread_barrier_t begin, end;
static long threads_count;

static void *thread_run(void *request) {
  const long index = (bare *)request - requests;
  while (pthread_barrier_wait(&begin) <= 0) {
    easy_perform(request, threads_count / in_flight + (index < threads_count % in_flight));
    pthread_barrier_wait(&end);
  }
  return NULL;
}

static void threads_run(long count) {
  threads_count = count;
  pthread_barrier_wait(&begin);
  pthread_barrier_wait(&end);
}

static void threads_set_up(void) {
  pthread_t thread;
  require(pthread_barrier_init(&begin, NULL, (unsigned)in_flight + 1) == 0 &&
              pthread_barrier_init(&end, NULL, (unsigned)in_flight + 1) == 0,
          "pthread_barrier_init");
  for (long i = 0; i < in_flight; i++)
    require(pthread_create(&thread, NULL, thread_run, &requests[i]) == 0, "pthread_create");
}

static int on_socket(CURL *easy, curl_socket_t socket, int action, void *user, void *known) {
  struct epoll_event event = {.data.fd = socket};
  (void)easy;
  (void)user;
  if (action == CURL_POLL_REMOVE) {
    curl_multi_assign(multi, socket, NULL);
    return epoll_ctl(epoll, EPOLL_CTL_DEL, socket, NULL), 0;
  }
  event.events = (action & CURL_POLL_IN ? (uint32_t)EPOLLIN : 0) | (action & CURL_POLL_OUT ? (uint32_t)EPOLLOUT : 0);
  epoll_ctl(epoll, known ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, socket, &event);
  curl_multi_assign(multi, socket, &epoll);
  return 0;
}

static int on_timer(CURLM *curl, long timeout_ms, void *user) {
  (void)curl;
  (void)user;
  timer_due = timeout_ms < 0 ? -1 : now() + (double)timeout_ms / 1e3;
  return 0;
}

static void poll_once(int may_wait) {
  int running;
  if (may_wait) require(curl_multi_poll(multi, NULL, 0, 1000, NULL) == CURLM_OK, "curl_multi_poll");
  require(curl_multi_perform(multi, &running) == CURLM_OK, "curl_multi_perform");
}

static void epoll_once(void) {
  struct epoll_event ready[64];
  int running;
  const double left = timer_due < 0 ? 1 : timer_due - now();
  const int count = epoll_wait(epoll, ready, 64, left <= 0 ? 0 : (int)(left * 1e3) + 1);
  for (int i = 0; i < count; i++) {
    const int mask = (ready[i].events & EPOLLIN ? CURL_CSELECT_IN : 0) |
                     (ready[i].events & EPOLLOUT ? CURL_CSELECT_OUT : 0) |
                     (ready[i].events & (EPOLLERR | EPOLLHUP) ? CURL_CSELECT_ERR : 0);
    curl_multi_socket_action(multi, ready[i].data.fd, mask, &running);
  }
  if (timer_due >= 0 && timer_due <= now()) {
    timer_due = -1;
    curl_multi_socket_action(multi, CURL_SOCKET_TIMEOUT, 0, &running);
  }
}

static void multi_run(long count) {
  long started = 0, ended = 0, ended_before = -1;
  for (; started < in_flight && started < count; started++)
    curl_multi_add_handle(multi, requests[started].easy);
  while (ended < count) {
    CURLMsg *message;
    int left;
    if (epoll < 0) {
      poll_once(ended == ended_before); /* what has ended may have begun others */
    } else {
      epoll_once();
    }
    ended_before = ended;
    while ((message = curl_multi_info_read(multi, &left)) != NULL) {
      bare *request;
      require(message->data.result == CURLE_OK, curl_easy_strerror(message->data.result));
      curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&request);
      bare_check(request);
      curl_multi_remove_handle(multi, request->easy);
      ended++;
      if (started < count) {
        curl_multi_add_handle(multi, request->easy);
        started++;
      }
    }
  }
}

static void bare_set_up(const char *subject, const char *url) {
  requests = calloc((size_t)in_flight, sizeof *requests);
  require(requests != NULL, "calloc");
  for (long i = 0; i < in_flight; i++)
    bare_open(&requests[i], url);
  if (strcmp(subject, "threads") == 0) return threads_set_up();
  multi = curl_multi_init();
  if (strcmp(subject, "epoll") != 0) return;
  epoll = epoll_create1(EPOLL_CLOEXEC);
  curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, on_socket);
  curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, on_timer);
}

/* --- The client --- */

static boxretry_client *client;
static boxretry_queue *queue;
static boxretry_request template = BOXRETRY_REQUEST_INIT;

static void client_set_up(const char *url) {
  boxretry_client_options options = BOXRETRY_CLIENT_OPTIONS_INIT;
  boxretry_retry_options retries = BOXRETRY_RETRY_OPTIONS_INIT;
  boxretry_strategy *strategy;
  options.max_transfers = (int32_t)in_flight;
  options.ca_file = ca_file;
  retries.max_attempts = 1000; /* with many in flight, a request may get several 503 in a row, and others none */
  require(boxretry_strategy_new(&retries, &strategy) == BOXRETRY_OK, "boxretry_strategy_new");
  if (is_retried) options.strategy = strategy;
  require(boxretry_client_new(&options, &client) == BOXRETRY_OK, "boxretry_client_new");
  boxretry_strategy_free(strategy);
  require(boxretry_queue_new(&queue) == BOXRETRY_OK, "boxretry_queue_new");
  template.url = url;
}

static void client_check(boxretry_response *response) {
  size_t length;
  boxretry_response_body(response, &length);
  require(boxretry_response_status(response) == 200 && length > 0 &&
              (is_retried || boxretry_response_attempt_count(response) == 1),
          boxretry_error_name(boxretry_response_error(response)));
  boxretry_response_free(response);
}

static void perform_run(long count) {
  for (; count > 0; count--) {
    boxretry_response *response;
    require(boxretry_client_perform(client, &template, &response) == BOXRETRY_OK, "boxretry_client_perform");
    client_check(response);
  }
}

static void queue_run(long count) {
  long started = 0, ended = 0;
  template.queue = queue;
  while (ended < count) {
    boxretry_call *calls[256];
    for (; started < count && started - ended < in_flight; started++)
      require(boxretry_client_submit(client, &template, NULL) == BOXRETRY_OK, "boxretry_client_submit");
    const size_t taken = boxretry_queue_take(queue, calls, 256, BOXRETRY_NO_TIMEOUT);
    for (size_t i = 0; i < taken; i++, ended++) {
      client_check(boxretry_call_take_response(calls[i]));
      boxretry_call_free(calls[i]);
    }
  }
}

int main(int argc, char **argv) {
  static const struct {
    const char *name;
    void (*run)(long count);
    int is_bare;
  } subjects[] = {{"easy", easy_run, 1},  {"threads", threads_run, 1}, {"perform", perform_run, 0},
                  {"poll", multi_run, 1}, {"epoll", multi_run, 1},     {"queue", queue_run, 0}};
  if (argc < 5) return fputs("usage: http SUBJECT URL REQUESTS IN_FLIGHT [retried] [ca=FILE]\n", stderr), 2;
  const long count = strtol(argv[3], NULL, 10);
  in_flight = strtol(argv[4], NULL, 10);
  for (int i = 5; i < argc; i++) {
    if (strcmp(argv[i], "retried") == 0) is_retried = 1;
    if (strncmp(argv[i], "ca=", 3) == 0) ca_file = argv[i] + 3;
  }
  curl_global_init(CURL_GLOBAL_DEFAULT);
  for (size_t i = 0; i < sizeof subjects / sizeof *subjects; i++) {
    if (strcmp(argv[1], subjects[i].name) != 0) continue;
    if (subjects[i].is_bare) {
      bare_set_up(argv[1], argv[2]);
    } else {
      client_set_up(argv[2]);
    }
    subjects[i].run(in_flight);
    begin_costs();
    subjects[i].run(is_retried && subjects[i].is_bare ? 2 * count : count);
    print_costs();
    return EXIT_SUCCESS;
  }
  return fputs("http: there is no such subject\n", stderr), 2;
}
