/* Nothing of a scene relies on memory or threads being there. What may fail for want of them may fail here, with an error
 * that says so; what says that it has worked must have worked. */
#include "scenes.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../races/crew.h"
#include "../races/server.h"

enum what_body { NO_BODY, HELLO, LARGE };

static char proxy[64], hello[64], flaky[64], cut[64], moved[64], token_url[64], rejected[64], other[64], large[64],
    coded[64], with_user[64], restart[64];
static char new_file[PATH_MAX]; /* absolute */
static atomic_bool has_failed;

int scenes_have_failed(void) {
  return atomic_exchange(&has_failed, false);
}

static void write_url(char *out, const char *server, const char *path) {
  snprintf(out, 64, "%s%s", server, path);
}

void scenes_begin(const char *server) {
  write_url(proxy, server, "");
  write_url(hello, server, "/");
  write_url(flaky, server, "/flaky");
  write_url(cut, server, "/cut");
  write_url(moved, server, "/moved");
  write_url(token_url, server, "/token");
  write_url(rejected, server, "/rejected");
  write_url(other, server, "/other");
  write_url(restart, server, "/restart");
  write_url(large, server, "/large");
  write_url(coded, server, "/coded");
  snprintf(with_user, sizeof with_user, "http://me:hidden@%s/", server + strlen("http://"));
  REQUIRE(getcwd(new_file, sizeof new_file - sizeof "/new sink"));
  strcat(new_file, "/new sink");
  FILE *file = fopen("part", "w");
  REQUIRE(file && fputs("of a file", file) >= 0 && fclose(file) == 0);
}

/* --- What may be reported --- */

/* Whether it has worked. If not, it is for want of memory or threads, and says so. */
static bool worked(boxretry_error error) {
  if (error == BOXRETRY_OK) return true;
  if (error != BOXRETRY_ERROR_OUT_OF_MEMORY && error != BOXRETRY_ERROR_EXHAUSTED)
    fprintf(stderr, "%s: %s\n", boxretry_error_name(error), boxretry_last_error_detail());
  REQUIRE(error == BOXRETRY_ERROR_OUT_OF_MEMORY || error == BOXRETRY_ERROR_EXHAUSTED);
  atomic_store(&has_failed, true);
  return false;
}

static bool is_body(enum what_body expected, const char *bytes, size_t length) {
  if (expected == NO_BODY) return length == 0;
  if (expected == HELLO) return length == 6 && memcmp(bytes, "hello\n", 6) == 0;
  return length == SERVER_LARGE && strspn(bytes, "x") == SERVER_LARGE;
}

/* How the call has ended. `other`: how else it may have failed, which hides the missing resource. Frees the response. */
static void check(boxretry_response *response, enum what_body expected, boxretry_error other) {
  REQUIRE(response != NULL);
  boxretry_error error = boxretry_response_error(response);
  const boxretry_error of_token = boxretry_response_token_error(response);
  if (of_token != BOXRETRY_OK && error == BOXRETRY_OK) error = of_token;
  if (error == other && error != BOXRETRY_OK) {
    atomic_store(&has_failed, true);
  } else if (worked(error)) {
    size_t length;
    const void *body = boxretry_response_body(response, &length);
    const char *value = boxretry_response_header(response, "Content-Length");
    REQUIRE(boxretry_response_status(response) == 200);
    const long bytes = boxretry_response_header(response, "Content-Encoding") ? 26
                       : expected == LARGE                                    ? SERVER_LARGE
                                                                              : 6;
    REQUIRE(value && strtol(value, NULL, 10) == bytes); /* no header has been lost */
    REQUIRE(is_body(expected, body, length));
  }
  boxretry_response_free(response);
}

/* It retries at once, and as often as need be: what was wanting is there the next time, or never. */
static boxretry_client *new_client(boxretry_client_options *options) {
  boxretry_retry_options retries = BOXRETRY_RETRY_OPTIONS_INIT;
  boxretry_timeouts timeouts = BOXRETRY_TIMEOUTS_INIT;
  boxretry_client *client = NULL;
  boxretry_strategy *strategy = NULL;
  retries.retry_base_interval = 0;
  timeouts.timeout_interval_for_request_ms = 5000;
  if (!options->strategy) {
    if (!worked(boxretry_strategy_new(&retries, &strategy))) return NULL;
    options->strategy = strategy;
  }
  options->timeouts = &timeouts;
  options->proxy_mode = options->proxy ? BOXRETRY_PROXY_GIVEN : BOXRETRY_PROXY_NONE;
  if (!worked(boxretry_client_new(options, &client))) REQUIRE(client == NULL);
  boxretry_strategy_free(strategy);
  return client;
}

static boxretry_client *plain_client(void) {
  boxretry_client_options options = BOXRETRY_CLIENT_OPTIONS_INIT;
  return new_client(&options);
}

static void perform(boxretry_client *client, const boxretry_request *request, enum what_body expected,
                    boxretry_error other) {
  boxretry_response *response = NULL;
  if (!client) return;
  if (worked(boxretry_client_perform(client, request, &response))) {
    check(response, expected, other);
  } else {
    REQUIRE(response == NULL);
  }
}

void scenes_restart(void) {
  boxretry_request request = BOXRETRY_REQUEST_INIT;
  boxretry_client *client = plain_client();
  request.url = restart;
  perform(client, &request, HELLO, BOXRETRY_OK);
  boxretry_client_free(client);
  REQUIRE(!scenes_have_failed());
}

/* --- Calls --- */

static void gets_and_posts(void) {
  const char *const secrets[] = {"X-Secret", "X-Key"}, *const codes[] = {"token_expired", "expired"};
  const boxretry_header headers[] = {{"X-Secret", "of mine"}, {"X-Empty", ""}};
  boxretry_client_options options = BOXRETRY_CLIENT_OPTIONS_INIT;
  boxretry_request request = BOXRETRY_REQUEST_INIT;
  options.secret_headers = secrets;
  options.secret_header_count = 2;
  options.replay_codes = codes;
  options.replay_code_count = 2;
  options.user_agent = "scenes";
  options.idempotency_key_header = "X-Key";
  boxretry_client *client = new_client(&options);
  request.url = hello;
  perform(client, &request, HELLO, BOXRETRY_OK);
  request.method = "POST";
  request.url = flaky;
  request.headers = headers;
  request.header_count = 2;
  request.body = "of the request";
  request.body_length = 14;
  request.idempotency_key = BOXRETRY_IDEMPOTENCY_KEY_RANDOM;
  perform(client, &request, HELLO, BOXRETRY_OK);
  request.url = moved;
  perform(client, &request, HELLO, BOXRETRY_OK);
  boxretry_client_free(client);
}

static void set_a_header(void *context, boxretry_sending *sending) {
  (void)context;
  if (!worked(boxretry_sending_set_header(sending, "X-Signature", "signed"))) boxretry_sending_fail(sending);
}

static void a_hook(void) {
  boxretry_client_options options = BOXRETRY_CLIENT_OPTIONS_INIT;
  boxretry_request request = BOXRETRY_REQUEST_INIT;
  options.before_attempt = set_a_header;
  boxretry_client *client = new_client(&options);
  request.url = flaky;
  perform(client, &request, HELLO, BOXRETRY_ERROR_CALLBACK_FAILED);
  boxretry_client_free(client);
}

static void stop(void *context, const boxretry_outcome *outcome, int32_t attempt_number, int32_t *action) {
  (void)context;
  (void)attempt_number;
  *action = outcome->status == 200 ? BOXRETRY_ACTION_STOP : BOXRETRY_ACTION_RETRY;
}

static void a_compressed_response(void) {
  boxretry_request request = BOXRETRY_REQUEST_INIT;
  boxretry_client *client = plain_client();
  request.url = coded;
  request.compression = BOXRETRY_SWITCH_ON;
  perform(client, &request, HELLO, BOXRETRY_OK);
  boxretry_client_free(client);
}

static void a_custom_strategy(void) {
  boxretry_strategy_callbacks callbacks = BOXRETRY_STRATEGY_CALLBACKS_INIT;
  boxretry_client_options options = BOXRETRY_CLIENT_OPTIONS_INIT;
  boxretry_request request = BOXRETRY_REQUEST_INIT;
  boxretry_strategy *strategy;
  callbacks.should_retry = stop;
  if (!worked(boxretry_strategy_new_custom(&callbacks, &strategy))) return;
  options.strategy = strategy;
  boxretry_client *client = new_client(&options);
  boxretry_strategy_free(strategy);
  request.url = flaky;
  perform(client, &request, HELLO, BOXRETRY_OK);
  boxretry_client_free(client);
}

static atomic_long endings;

static void count_ending(void *context, boxretry_call *call) {
  (void)context;
  (void)call;
  atomic_fetch_add(&endings, 1);
}

static void submits(void) {
  boxretry_request request = BOXRETRY_REQUEST_INIT;
  boxretry_client *client = plain_client();
  boxretry_queue *queue = NULL;
  boxretry_call *call, *taken;
  if (!client) return;
  request.url = hello;
  if (worked(boxretry_client_submit(client, &request, &call))) {
    REQUIRE(boxretry_call_wait(call, BOXRETRY_NO_TIMEOUT) == BOXRETRY_OK);
    check(boxretry_call_take_response(call), HELLO, BOXRETRY_OK);
    boxretry_call_free(call);
  }
  if (worked(boxretry_queue_new(&queue))) {
    request.queue = queue;
    if (worked(boxretry_client_submit(client, &request, &call))) {
      REQUIRE(boxretry_queue_take(queue, &taken, 1, BOXRETRY_NO_TIMEOUT) == 1 && taken == call);
      check(boxretry_call_take_response(call), HELLO, BOXRETRY_OK);
      boxretry_call_free(call);
    }
    boxretry_queue_free(queue);
    request.queue = NULL;
  }
  request.on_complete = count_ending;
  atomic_store(&endings, 0);
  const bool is_begun = worked(boxretry_client_submit(client, &request, NULL));
  REQUIRE(boxretry_client_close(client, BOXRETRY_NO_TIMEOUT) == BOXRETRY_OK);
  REQUIRE(atomic_load(&endings) == (is_begun ? 1 : 0));
  boxretry_client_free(client);
}

static void a_cancel_switch(void) {
  boxretry_request request = BOXRETRY_REQUEST_INIT;
  boxretry_client *client = plain_client();
  boxretry_cancel *cancel;
  boxretry_call *call;
  if (client && worked(boxretry_cancel_new(&cancel))) {
    request.url = hello;
    request.cancel = cancel;
    perform(client, &request, HELLO, BOXRETRY_OK);
    boxretry_cancel_trigger(cancel);
    if (worked(boxretry_client_submit(client, &request, &call))) {
      REQUIRE(boxretry_call_wait(call, BOXRETRY_NO_TIMEOUT) == BOXRETRY_OK);
      boxretry_response *response = boxretry_call_take_response(call);
      REQUIRE(boxretry_response_error(response) == BOXRETRY_ERROR_CANCELLED);
      boxretry_response_free(response);
      boxretry_call_free(call);
    }
    boxretry_cancel_free(cancel);
  }
  boxretry_client_free(client);
}

/* --- URLs --- */

/* The redirect leads to a fragment of the same document. */
static void a_fragment_and_a_user(void) {
  boxretry_request request = BOXRETRY_REQUEST_INIT;
  boxretry_client *client = plain_client();
  request.method = "POST";
  request.url = other;
  perform(client, &request, HELLO, BOXRETRY_OK);
  request.method = "GET";
  request.url = with_user;
  perform(client, &request, HELLO, BOXRETRY_OK);
  boxretry_client_free(client);
}

/* The server is its own proxy. The client keeps the proxy's name for its errors. */
static void a_proxy(void) {
  boxretry_client_options options = BOXRETRY_CLIENT_OPTIONS_INIT;
  boxretry_request request = BOXRETRY_REQUEST_INIT;
  options.proxy = proxy;
  boxretry_client *client = new_client(&options);
  request.url = hello;
  perform(client, &request, HELLO, BOXRETRY_OK);
  boxretry_client_free(client);
}

/* --- Bodies --- */

/* Longer than what is copied by hand when it grows, since it could be a secret. */
static void a_large_body(void) {
  boxretry_request request = BOXRETRY_REQUEST_INIT;
  boxretry_client *client = plain_client();
  request.url = large;
  perform(client, &request, LARGE, BOXRETRY_OK);
  boxretry_client_free(client);
}

/* To a file that is there, by a relative path, and to one that is not, by an absolute path. */
static void file_sinks(void) {
  boxretry_request request = BOXRETRY_REQUEST_INIT;
  boxretry_sink sink = BOXRETRY_SINK_INIT;
  boxretry_client *client = plain_client();
  sink.kind = BOXRETRY_SINK_FILE;
  sink.path = "sink";
  sink.is_resumable = 1;
  request.url = cut;
  request.sink = &sink;
  perform(client, &request, NO_BODY, BOXRETRY_ERROR_SINK);
  sink.path = new_file;
  sink.is_resumable = 0;
  request.url = hello;
  REQUIRE(unlink(sink.path) == 0 || errno == ENOENT);
  perform(client, &request, NO_BODY, BOXRETRY_ERROR_SINK);
  boxretry_client_free(client);
}

static void file_bodies(void) {
  boxretry_request request = BOXRETRY_REQUEST_INIT;
  boxretry_body_source source = BOXRETRY_BODY_SOURCE_INIT;
  const boxretry_header headers[] = {{"X-Part", "1"}};
  const boxretry_part parts[] = {{"text", NULL, "text/plain", headers, 1, "in memory", 9, NULL},
                                 {"file", NULL, NULL, NULL, 0, NULL, 0, "part"}};
  boxretry_client *client = plain_client();
  request.method = "PUT";
  request.url = flaky;
  request.body_source = &source;
  source.kind = BOXRETRY_SOURCE_FILE;
  source.path = "part";
  perform(client, &request, HELLO, BOXRETRY_OK);
  source.kind = BOXRETRY_SOURCE_MULTIPART;
  source.parts = parts;
  source.part_count = 2;
  request.url = moved;
  perform(client, &request, HELLO, BOXRETRY_OK);
  boxretry_client_free(client);
}

/* --- Tokens --- */

static void answer_at_once(void *context, boxretry_token_request *request) {
  (void)context;
  if (!worked(boxretry_token_request_succeed(request, "secret", 6, 3600)))
    boxretry_token_request_fail(request, "out of memory", 0);
}

static void use_tokens(boxretry_token_source *source) {
  boxretry_client_options options = BOXRETRY_CLIENT_OPTIONS_INIT;
  boxretry_request request = BOXRETRY_REQUEST_INIT;
  boxretry_token *token = NULL;
  const boxretry_error error = boxretry_token_source_get(source, BOXRETRY_NO_TIMEOUT, NULL, &token);
  if (error == BOXRETRY_ERROR_CLIENT_TOKEN_PROVIDER_FAILED) {
    atomic_store(&has_failed, true);
  } else if (worked(error)) {
    REQUIRE(strcmp(boxretry_token_bytes(token), "secret") == 0);
    boxretry_token_free(token);
  }
  options.token_source = source;
  boxretry_client *client = new_client(&options);
  request.url = hello;
  perform(client, &request, HELLO, BOXRETRY_ERROR_CLIENT_TOKEN_PROVIDER_FAILED);
  boxretry_client_free(client);
  boxretry_token_source_free(source);
}

static void a_fixed_token(void) {
  boxretry_token_source *source;
  if (worked(boxretry_token_source_new_fixed(" secret ", &source))) use_tokens(source);
}

static void a_provider(void) {
  boxretry_token_options options = BOXRETRY_TOKEN_OPTIONS_INIT;
  boxretry_token_source *source;
  options.provider = answer_at_once;
  if (worked(boxretry_token_source_new(&options, &source))) use_tokens(source);
}

static void an_endpoint(void) {
  const boxretry_header fields[] = {{"grant_type", "client_credentials"}, {"client_secret", "hidden"}};
  const boxretry_header headers[] = {{"X-Relay", "1"}};
  boxretry_token_endpoint_options options = BOXRETRY_TOKEN_ENDPOINT_OPTIONS_INIT;
  boxretry_token_source *source;
  options.url = token_url;
  options.fields = fields;
  options.field_count = 2;
  options.headers = headers;
  options.header_count = 1;
  options.refresh_token = "first";
  options.proxy_mode = BOXRETRY_PROXY_NONE;
  if (worked(boxretry_token_source_new_endpoint(&options, &source))) use_tokens(source);
}

static atomic_long tokens_told;

static void on_token(void *context, boxretry_error error, boxretry_token *token) {
  (void)context;
  if (error != BOXRETRY_ERROR_CLIENT_TOKEN_PROVIDER_FAILED) worked(error);
  boxretry_token_free(token);
  atomic_fetch_add(&tokens_told, 1);
}

static void fail_twice(void *context, boxretry_token_request *request) {
  if (atomic_fetch_add((atomic_long *)context, 1) < 2) {
    boxretry_token_request_fail(request, "busy", 1);
  } else {
    answer_at_once(NULL, request);
  }
}

/* The waits between the calls of the provider are the source's. */
static void a_provider_that_is_asked_again(void) {
  boxretry_token_options options = BOXRETRY_TOKEN_OPTIONS_INIT;
  boxretry_token_retry_policy policy = BOXRETRY_TOKEN_RETRY_POLICY_INIT;
  boxretry_token_source *source;
  atomic_long calls = 0;
  policy.initial_delay = policy.maximum_delay = 0.001;
  options.provider = fail_twice;
  options.context = &calls;
  options.policy = &policy;
  if (!worked(boxretry_token_source_new(&options, &source))) return;
  atomic_store(&tokens_told, 0);
  REQUIRE(boxretry_token_source_get_async(source, NULL, on_token, NULL) == BOXRETRY_OK);
  while (atomic_load(&tokens_told) == 0)
    usleep(100);
  atomic_store(&calls, 0);
  boxretry_token_source_clear(source);
  use_tokens(source);
}

/* --- Several threads --- */

static boxretry_client *shared;

static void perform_once(int number) {
  boxretry_request request = BOXRETRY_REQUEST_INIT;
  (void)number;
  request.url = hello;
  perform(shared, &request, HELLO, BOXRETRY_OK);
}

/* One of them drives the loop, and the others wait for it. */
static void performs_on_threads(void) {
  shared = plain_client();
  at_once(CREW, perform_once);
  boxretry_client_free(shared);
}

static boxretry_clock *manual;

static void sleep_or_advance(int number) {
  if (!manual) return;
  if (number == 1) {
    worked(boxretry_clock_sleep(manual, 10));
  } else if (number == 0) {
    REQUIRE(boxretry_clock_wait_for_timer(manual, BOXRETRY_NO_TIMEOUT) == BOXRETRY_OK);
    REQUIRE(boxretry_clock_advance(manual, 10) == BOXRETRY_OK);
  }
}

static void a_manual_clock(void) {
  manual = NULL;
  worked(boxretry_clock_new_manual(&manual));
  at_once(2, sleep_or_advance);
  boxretry_clock_free(manual);
}

const scene scenes[] = {
    {"gets and posts", gets_and_posts},
    {"a hook", a_hook},
    {"a compressed response", a_compressed_response},
    {"a custom strategy", a_custom_strategy},
    {"submits", submits},
    {"a cancel switch", a_cancel_switch},
    {"a fragment and a user", a_fragment_and_a_user},
    {"a proxy", a_proxy},
    {"a large body", a_large_body},
    {"file sinks", file_sinks},
    {"file bodies", file_bodies},
    {"a fixed token", a_fixed_token},
    {"a provider", a_provider},
    {"an endpoint", an_endpoint},
    {"a provider that is asked again", a_provider_that_is_asked_again},
    {"performs on threads", performs_on_threads},
    {"a manual clock", a_manual_clock},
};
const int scene_count = sizeof scenes / sizeof *scenes;
