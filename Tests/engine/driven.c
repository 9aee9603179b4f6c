/* Clients with BOXRETRY_THREADS_NONE: what they do without a thread, and what their descriptor says. */
#include "cases.h"

#include <dirent.h>
#include <poll.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CALLS = 8, PATIENCE = 50000 /* milliseconds: less than the 60000 of a timeout */ };

static boxretry_client *client;
static int ended;
static pthread_t driver;

static int count_threads(void) {
  int count = -2; /* the entries . and .. */
  DIR *tasks = opendir("/proc/self/task");
  must(tasks != NULL, "/proc is mounted");
  while (readdir(tasks))
    count++;
  closedir(tasks);
  return count;
}

static void must_be_alone(const char *where) {
  if (count_threads() != 1) fprintf(stderr, "threads: %d\n", count_threads());
  must(count_threads() == 1, where);
  must(pthread_equal(pthread_self(), driver) != 0, where);
}

static boxretry_client_options driven(void) {
  boxretry_client_options options = BOXRETRY_CLIENT_OPTIONS_INIT;
  options.threads = BOXRETRY_THREADS_NONE;
  driver = pthread_self();
  return options;
}

static void count_end(void *context, boxretry_call *call) {
  (void)context;
  (void)call;
  must_be_alone("on_complete runs on the thread that drives, and there is no other");
  ended++;
}

static boxretry_request request_to(const char *url) {
  boxretry_request request = BOXRETRY_REQUEST_INIT;
  request.url = url;
  request.on_complete = count_end;
  return request;
}

static void submit(const char *url) {
  const boxretry_request request = request_to(url);
  ok(boxretry_client_submit(client, &request, NULL));
}

static bool is_readable(int milliseconds) {
  struct pollfd descriptor = {boxretry_client_fd(client), POLLIN, 0};
  return poll(&descriptor, 1, milliseconds) == 1;
}

/* Waits for the descriptor without a timeout, and drives, as an event loop does. Returns the number of turns. */
static int drive_until(int ends) {
  int turns = 0;
  for (; ended < ends; turns++) {
    must(is_readable(PATIENCE), "the descriptor is readable when there is something to do");
    ok(boxretry_client_drive(client, 0));
  }
  return turns;
}

static void must_be_idle(void) {
  int turns = 0;
  for (; turns < 10 && is_readable(0); turns++)
    ok(boxretry_client_drive(client, 0));
  must(turns < 10, "the descriptor of an idle client is not readable");
}

static void must_answer(boxretry_response *response, int32_t status) {
  if (boxretry_response_error(response) != BOXRETRY_OK)
    fprintf(stderr, "%s: %s\n", boxretry_error_name(boxretry_response_error(response)),
            boxretry_response_error_detail(response, NULL));
  must(boxretry_response_status(response) == status, "the response has its status");
  boxretry_response_free(response);
}

/* --- No thread --- */

static void retry_after_503(void *context, const boxretry_outcome *outcome, int32_t attempt_number, int32_t *action) {
  (void)context;
  (void)attempt_number;
  must_be_alone("a custom strategy runs on the thread that drives");
  *action = outcome->status == 503 ? BOXRETRY_ACTION_RETRY : BOXRETRY_ACTION_STOP;
}

static void soon(void *context, const boxretry_outcome *outcome, int32_t attempt_number, double *delay) {
  (void)context;
  (void)outcome;
  (void)attempt_number;
  *delay = 0.01;
}

static int provided;

/* Fails first, so that a timer of the source is needed too. */
static void provide(void *context, boxretry_token_request *request) {
  (void)context;
  must_be_alone("a token provider runs on the thread that drives");
  must(boxretry_client_drive(client, 0) == BOXRETRY_ERROR_IN_CALLBACK, "a provider cannot drive");
  if (provided++ == 0)
    ok(boxretry_token_request_fail(request, "busy", 1));
  else
    ok(boxretry_token_request_succeed(request, "token", 5, 3600));
}

static boxretry_token_source *new_source(void) {
  boxretry_token_options options = BOXRETRY_TOKEN_OPTIONS_INIT;
  boxretry_token_retry_policy policy = BOXRETRY_TOKEN_RETRY_POLICY_INIT;
  boxretry_token_source *source;
  policy.initial_delay = 0.01;
  options.policy = &policy;
  options.provider = provide;
  options.provider_timeout_ms = PATIENCE; /* another timer */
  ok(boxretry_token_source_new(&options, &source));
  return source;
}

static boxretry_token_source *new_endpoint(const char *url) {
  boxretry_token_endpoint_options options = BOXRETRY_TOKEN_ENDPOINT_OPTIONS_INIT;
  boxretry_token_source *source;
  options.url = url;
  options.proxy_mode = BOXRETRY_PROXY_NONE;
  ok(boxretry_token_source_new_endpoint(&options, &source));
  return source;
}

static void use_all_ways(const char *url) {
  const boxretry_request request = request_to(url);
  boxretry_request queued = request_to(url), waited = request_to(url);
  boxretry_response *response;
  boxretry_queue *queue;
  boxretry_call *call;
  const int before = ended;
  ok(boxretry_client_perform(client, &request, &response));
  must_answer(response, 200);
  waited.on_complete = NULL;
  ok(boxretry_client_submit(client, &waited, &call));
  must(boxretry_call_wait(call, 0) == BOXRETRY_ERROR_WAIT_TIMEOUT, "a look does not drive");
  ok(boxretry_call_wait(call, BOXRETRY_NO_TIMEOUT));
  must_answer(boxretry_call_take_response(call), 200);
  boxretry_call_free(call);
  ok(boxretry_queue_new(&queue));
  queued.queue = queue;
  ok(boxretry_client_submit(client, &queued, NULL));
  must(boxretry_queue_take(queue, &call, 1, BOXRETRY_NO_TIMEOUT) == 1, "the queue drives");
  must_answer(boxretry_call_take_response(call), 200);
  boxretry_call_free(call);
  boxretry_queue_free(queue);
  for (int i = 0; i < CALLS; i++)
    submit(url);
  while (ended < before + CALLS)
    ok(boxretry_client_drive(client, BOXRETRY_NO_TIMEOUT));
  for (int i = 0; i < CALLS; i++)
    submit(url);
  drive_until(before + 2 * CALLS);
  must_be_alone("after all");
}

/* Retries, a custom strategy, a provider and a token endpoint, in all ways to drive. */
static void no_thread(const char *url, const char *endpoint) {
  boxretry_strategy_callbacks callbacks = BOXRETRY_STRATEGY_CALLBACKS_INIT;
  for (int kind = 0; kind < 3; kind++) {
    boxretry_client_options options = driven();
    boxretry_strategy *strategy;
    callbacks.should_retry = retry_after_503;
    callbacks.retry_after = soon;
    ok(boxretry_strategy_new_custom(&callbacks, &strategy));
    options.strategy = strategy;
    options.preset = BOXRETRY_PRESET_JANUARY; /* keeps the strategy */
    options.token_source = kind == 1 ? new_source() : kind == 2 ? new_endpoint(endpoint) : NULL;
    client = new_client(options, 0);
    boxretry_strategy_free(strategy);
    boxretry_token_source_free(NULL);
    use_all_ways(url);
    ok(boxretry_client_close(client, BOXRETRY_NO_TIMEOUT));
    boxretry_client_free(client);
    boxretry_token_source_free(options.token_source);
    must_be_alone("after the client");
  }
  must(provided == 2, "the provider was called once for all, and once more after its failure");
}

/* --- The descriptor --- */

/* Its timers too: nothing else wakes this thread, and no time is spent on looking. */
static void watched(const char *url, const char *other) {
  (void)other;
  client = new_client(driven(), 5);
  must_be_idle();
  for (int i = 0; i < CALLS; i++)
    submit(url);
  const int turns = drive_until(CALLS);
  if (turns > 40 * CALLS) fprintf(stderr, "%d turns\n", turns);
  must(turns <= 40 * CALLS, "the descriptor is readable only when there is something to do");
  must_be_idle();
  boxretry_client_free(client);
}

/* A time limit of a call wakes the program, which does nothing meanwhile. */
static void time_limit(const char *url, const char *other) {
  boxretry_client_options options = driven();
  (void)other;
  options.deadline_ms = 200;
  client = new_client(options, 0);
  submit(url);
  drive_until(1);
  boxretry_client_free(client);
}

static void nothing_moves_by_itself(const char *url, const char *other) {
  boxretry_request request = request_to(url);
  boxretry_call *call;
  (void)other;
  client = new_client(driven(), 0);
  request.on_complete = NULL;
  ok(boxretry_client_submit(client, &request, &call));
  ok(boxretry_client_drive(client, 0));
  must_be_idle();
  boxretry_call_cancel(call);
  must(boxretry_call_wait(call, 0) == BOXRETRY_ERROR_WAIT_TIMEOUT, "a cancel waits for the next drive");
  must(is_readable(0), "which the descriptor asks for");
  ok(boxretry_client_drive(client, 0));
  ok(boxretry_call_wait(call, 0));
  boxretry_response *response = boxretry_call_take_response(call);
  must(boxretry_response_error(response) == BOXRETRY_ERROR_CANCELLED, "it is canceled");
  boxretry_response_free(response);
  boxretry_call_free(call);
  boxretry_client_free(client);
}

/* --- The end --- */

static void free_ends_calls(const char *url, const char *other) {
  boxretry_client *derived;
  (void)other;
  client = new_client(driven(), 0);
  ok(boxretry_client_new_derived(client, NULL, &derived));
  submit(url);
  submit(url);
  ok(boxretry_client_drive(client, 0));
  const boxretry_request request = request_to(url);
  ok(boxretry_client_submit(derived, &request, NULL));
  boxretry_client_free(derived);
  must(ended == 1, "a derived client ends its own call");
  boxretry_client_free(client);
  must(ended == 3, "the last one ends all others");
  must_be_alone("after the clients");
}

static void free_in_callback(void *context, boxretry_call *call) {
  (void)context;
  (void)call;
  boxretry_client_free(client);
  ended++;
}

static void callback_frees(const char *url, const char *silent) {
  boxretry_request request = request_to(url);
  client = new_client(driven(), 0);
  submit(silent);
  request.on_complete = free_in_callback;
  ok(boxretry_client_submit(client, &request, NULL));
  /* The handle may go while it is in use: the function that drives keeps what it needs. */
  while (ended < 2)
    (void)boxretry_client_drive(client, PATIENCE);
}

/* --- Wrong uses --- */

static void wrong_uses(const char *url, const char *other) {
  boxretry_client_options options = driven();
  boxretry_client *threaded, *derived;
  int status;
  (void)other;
  threaded = new_client((boxretry_client_options)BOXRETRY_CLIENT_OPTIONS_INIT, 0);
  must(boxretry_client_drive(threaded, 0) == BOXRETRY_ERROR_INVALID_ARGUMENT, "a client with threads is not driven");
  must(boxretry_client_fd(threaded) == -1 && boxretry_client_fd(NULL) == -1, "it has no descriptor");
  must(boxretry_client_new_derived(threaded, &options, &derived) == BOXRETRY_ERROR_INVALID_ARGUMENT,
       "threads is shared");
  boxretry_client_free(threaded);
  options.threads = 2;
  must(boxretry_client_new(&options, &derived) == BOXRETRY_ERROR_INVALID_ARGUMENT, "there are two values");
  client = new_client(driven(), 0);
  must(boxretry_client_drive(client, -1) == BOXRETRY_ERROR_INVALID_ARGUMENT, "a timeout is not negative");
  must(boxretry_client_drive(NULL, 0) == BOXRETRY_ERROR_INVALID_ARGUMENT, "a client is needed");
  ok(boxretry_client_new_derived(client, NULL, &derived));
  must(boxretry_client_fd(derived) == boxretry_client_fd(client), "derived clients share the descriptor");
  boxretry_client_free(derived);
  submit(url);
  ok(boxretry_client_drive(client, 0));
  const pid_t child = fork();
  if (child == 0) {
    must(boxretry_client_drive(client, 0) == BOXRETRY_ERROR_FORKED, "a child cannot drive");
    must(boxretry_client_fd(client) == -1, "nor look");
    boxretry_client_free(client);
    _exit(0);
  }
  must(waitpid(child, &status, 0) == child && status == 0, "the child is content");
  must(ended == 0, "the parent's call continues");
  ok(boxretry_client_close(client, 0));
  must(ended == 1, "closing ends it");
  must(boxretry_client_drive(client, 0) == BOXRETRY_ERROR_CLOSED, "a closed client is not driven");
  must(boxretry_client_fd(client) == -1, "its descriptor is closed");
  boxretry_client_free(client);
}

static void other_clock(const char *url, const char *other) {
  boxretry_client_options options = driven();
  boxretry_token_options tokens = BOXRETRY_TOKEN_OPTIONS_INIT;
  boxretry_clock *clock;
  boxretry_response *response;
  const boxretry_request request = request_to(url);
  (void)other;
  ok(boxretry_clock_new_manual(&clock));
  tokens.provider = provide;
  tokens.clock = clock;
  ok(boxretry_token_source_new(&tokens, &options.token_source));
  client = new_client(options, 0);
  must(boxretry_client_perform(client, &request, &response) == BOXRETRY_ERROR_INVALID_ARGUMENT,
       "the source has another clock");
  puts(boxretry_last_error_detail());
  boxretry_client_free(client);
  boxretry_token_source_free(options.token_source);
  boxretry_clock_free(clock);
}

/* --- Tokens --- */

/* An endpoint that does not answer holds up only those that need its token. */
static void slow_endpoint(const char *url, const char *endpoint) {
  boxretry_client_options options = driven();
  options.token_source = new_endpoint(endpoint);
  client = new_client(options, 0);
  submit(url);
  ok(boxretry_client_drive(client, 0));
  boxretry_request request = request_to(url);
  request.authorization = BOXRETRY_SWITCH_OFF;
  ok(boxretry_client_submit(client, &request, NULL));
  drive_until(1);
  must_be_alone("while the endpoint does not answer");
  boxretry_client_free(client);
  must(ended == 2, "all calls have ended");
  boxretry_token_source_free(options.token_source);
}

static void note_end(void *context, boxretry_call *call) {
  boxretry_response *response = boxretry_call_take_response(call);
  must(pthread_equal(pthread_self(), driver) != 0, "on_complete runs on the thread that drives");
  *(int32_t *)context = boxretry_response_status(response);
  boxretry_response_free(response);
  ended++;
}

/* A client with threads waits for what this one has begun, and this one is not driven any more. */
static void shared_source(const char *url, const char *endpoint) {
  for (int kind = 0; kind < 2; kind++) {
    boxretry_client_options options = driven(), others = BOXRETRY_CLIENT_OPTIONS_INIT;
    boxretry_client *threaded;
    boxretry_response *response;
    boxretry_request request = request_to(url);
    int32_t status;
    request.on_complete = note_end;
    request.on_complete_context = &status;
    options.token_source = others.token_source = new_endpoint(endpoint);
    client = new_client(options, 0);
    threaded = new_client(others, 0);
    ok(boxretry_client_submit(client, &request, NULL));
    ok(boxretry_client_drive(client, 0));
    if (kind == 1) boxretry_client_free(client);
    request.on_complete = NULL;
    ok(boxretry_client_perform(threaded, &request, &response));
    must_answer(response, 200);
    if (kind == 0) boxretry_client_free(client);
    boxretry_client_free(threaded);
    boxretry_token_source_free(options.token_source);
  }
}

/* What a client has begun that is closed then is finished by the next one. */
static void next_client(const char *url, const char *endpoint) {
  boxretry_client_options options = driven();
  boxretry_token_source *source = new_endpoint(endpoint);
  options.token_source = source;
  client = new_client(options, 0);
  submit(url);
  ok(boxretry_client_drive(client, 0));
  boxretry_client_free(client);
  must(ended == 1, "the call has ended");
  client = new_client(options, 0);
  submit(url);
  drive_until(2);
  must_be_alone("after all");
  boxretry_client_free(client);
  boxretry_token_source_free(source);
}

static boxretry_token_request *kept;

static void keep_request(void *context, boxretry_token_request *request) {
  (void)context;
  boxretry_token_request_retain(request);
  kept = request;
}

static void *answer(void *unused) {
  (void)unused;
  ok(boxretry_token_request_succeed(kept, "token", 5, 3600));
  boxretry_token_request_release(kept);
  return NULL;
}

/* An answer of another thread wakes the program. */
static void late_answer(const char *url, const char *other) {
  boxretry_client_options options = driven();
  boxretry_token_options tokens = BOXRETRY_TOKEN_OPTIONS_INIT;
  boxretry_request request = request_to(url);
  pthread_t thread;
  int32_t status = 0;
  (void)other;
  tokens.provider = keep_request;
  ok(boxretry_token_source_new(&tokens, &options.token_source));
  client = new_client(options, 0);
  request.on_complete = note_end;
  request.on_complete_context = &status;
  ok(boxretry_client_submit(client, &request, NULL));
  while (!kept)
    ok(boxretry_client_drive(client, 0));
  must_be_idle();
  must(pthread_create(&thread, NULL, answer, NULL) == 0, "there is a thread");
  drive_until(1);
  must(status == 200, "the call has its token");
  pthread_join(thread, NULL);
  boxretry_client_free(client);
  boxretry_token_source_free(options.token_source);
}

/* --- Manual clocks --- */

/* Waits of an hour, on a clock that advances by itself while the program waits for the descriptor. */
static void clock_by_itself(const char *url, const char *other) {
  boxretry_client_options options = driven();
  boxretry_clock *clock;
  boxretry_request request = request_to(url);
  int32_t status = 0;
  double now;
  (void)other;
  ok(boxretry_clock_new_manual(&clock));
  ok(boxretry_clock_set_auto_advance(clock, 1));
  options.clock = clock;
  client = new_client(options, 2);
  request.on_complete = note_end;
  request.on_complete_context = &status;
  ok(boxretry_client_submit(client, &request, NULL));
  drive_until(1);
  ok(boxretry_clock_now(clock, BOXRETRY_TIMELINE_MONOTONIC, &now));
  must(status == 200 && now >= 3600, "the retry waited for an hour of the clock");
  boxretry_client_free(client);
  boxretry_clock_free(clock);
}

static const scene scenes[] = {
    {"no_thread", no_thread},
    {"watched", watched},
    {"time_limit", time_limit},
    {"nothing_moves_by_itself", nothing_moves_by_itself},
    {"free_ends_calls", free_ends_calls},
    {"callback_frees", callback_frees},
    {"wrong_uses", wrong_uses},
    {"other_clock", other_clock},
    {"slow_endpoint", slow_endpoint},
    {"shared_source", shared_source},
    {"next_client", next_client},
    {"late_answer", late_answer},
    {"clock_by_itself", clock_by_itself},
    {NULL, NULL},
};

int main(int argc, char **argv) {
  return play(scenes, argc, argv);
}
