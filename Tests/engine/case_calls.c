/* Cases of calls, each a scene that prints how its calls ended: case_calls SCENE URL [OTHER] */
#include "cases.h"

/* F110, F111: given a connection that was kept alive and ends when it sees the request. */
static void reconnect(const char *url, const char *other) {
  boxretry_client *client = new_client((boxretry_client_options)BOXRETRY_CLIENT_OPTIONS_INIT, 5);
  (void)other;
  get(client, url);
  boxretry_client_free(client);
}

static void january(const char *url, const char *other) {
  boxretry_client_options options = BOXRETRY_CLIENT_OPTIONS_INIT;
  boxretry_request request = BOXRETRY_REQUEST_INIT;
  options.preset = BOXRETRY_PRESET_JANUARY;
  request.url = url, request.method = other;
  boxretry_client *client = new_client(options, 5);
  perform(client, request);
  perform(client, request);
  boxretry_client_free(client);
}

/* F116: given a fixed token that is rejected, and then accepted. */
static void fixed_token(const char *url, const char *other) {
  boxretry_client_options options = BOXRETRY_CLIENT_OPTIONS_INIT;
  (void)other;
  ok(boxretry_token_source_new_fixed("only", &options.token_source));
  boxretry_client *client = new_client(options, 5);
  get(client, url);
  get(client, url);
  boxretry_client_free(client);
  boxretry_token_source_free(options.token_source);
}

/* F117: given a server that never recovers. */
static void no_ceiling(const char *url, const char *other) {
  boxretry_client *client = new_client((boxretry_client_options)BOXRETRY_CLIENT_OPTIONS_INIT, 2000);
  (void)other;
  get(client, url);
  boxretry_client_free(client);
}

/* F118: given a custom strategy that reads the body of a 409. */
static void should_retry(void *context, const boxretry_outcome *outcome, int32_t attempt_number, int32_t *action) {
  printf("%d %.*s %s\n", outcome->status, (int)outcome->body_length, (const char *)outcome->body, outcome->url);
  *action = attempt_number < 2 ? BOXRETRY_ACTION_RETRY : BOXRETRY_ACTION_STOP;
  (void)context;
}

static void retry_after(void *context, const boxretry_outcome *outcome, int32_t attempt_number, double *delay) {
  (void)context, (void)outcome, (void)attempt_number;
  *delay = 0;
}

static void custom_strategy(const char *url, const char *other) {
  boxretry_strategy_callbacks callbacks = BOXRETRY_STRATEGY_CALLBACKS_INIT;
  boxretry_client *client = new_client((boxretry_client_options)BOXRETRY_CLIENT_OPTIONS_INIT, 5);
  boxretry_request request = BOXRETRY_REQUEST_INIT;
  boxretry_strategy *strategy;
  (void)other;
  callbacks.should_retry = should_retry, callbacks.retry_after = retry_after;
  ok(boxretry_strategy_new_custom(&callbacks, &strategy));
  request.url = url, request.strategy = strategy;
  perform(client, request);
  boxretry_client_free(client);
  boxretry_strategy_free(strategy);
}

/* F124, F125: given a deadline that passes in an attempt. */
static void deadline(const char *url, const char *other) {
  boxretry_client *client = new_client((boxretry_client_options)BOXRETRY_CLIENT_OPTIONS_INIT, 5);
  boxretry_request request = BOXRETRY_REQUEST_INIT;
  request.url = url, request.method = other, request.deadline_ms = 1000;
  perform(client, request);
  boxretry_client_free(client);
}

/* F125: given a hook that fails, or F129: one behind whose back a file changes, before the second attempt. */
static void fail_second(void *context, boxretry_sending *sending) {
  (void)context;
  if (boxretry_sending_attempt_number(sending) == 2) boxretry_sending_fail(sending);
}

static void hook(const char *url, const char *other) {
  boxretry_client *client = new_client((boxretry_client_options)BOXRETRY_CLIENT_OPTIONS_INIT, 5);
  boxretry_request request = BOXRETRY_REQUEST_INIT;
  (void)other;
  request.url = url, request.before_attempt = fail_second;
  perform(client, request);
  boxretry_client_free(client);
}

static void write_file(const char *path, size_t length) {
  FILE *file = fopen(path, "wb");
  must(file != NULL, "the file can be written");
  for (size_t i = 0; i < length; i++)
    putc('x', file);
  must(fclose(file) == 0, "it is written");
}

static void shorten_for_second(void *context, boxretry_sending *sending) {
  if (boxretry_sending_attempt_number(sending) == 2) write_file(context, 1000);
}

static void changed_file(const char *url, const char *path) {
  boxretry_client *client = new_client((boxretry_client_options)BOXRETRY_CLIENT_OPTIONS_INIT, 5);
  boxretry_body_source source = BOXRETRY_BODY_SOURCE_INIT;
  boxretry_request request = BOXRETRY_REQUEST_INIT;
  write_file(path, 500000);
  source.kind = BOXRETRY_SOURCE_FILE, source.path = path;
  request.url = url, request.method = "PUT", request.body_source = &source;
  request.before_attempt = shorten_for_second, request.before_attempt_context = (void *)path;
  perform(client, request);
  boxretry_client_free(client);
}

/* K5: given a blocking call whose callbacks are lent the call. */
static int marked;

static void read_nothing(void *context, boxretry_call *call, void *buffer, size_t capacity, int64_t *count) {
  (void)context, (void)buffer, (void)capacity;
  must(boxretry_call_user_pointer(call) == &marked, "read() is lent the call");
  *count = 0;
}

static void begin_body(void *context, boxretry_call *call, const boxretry_response_head *head, int32_t *done) {
  (void)context, (void)head;
  must(boxretry_call_user_pointer(call) == &marked, "begin() is lent the call");
  *done = 1;
}

static void take(void *context, boxretry_call *call, const void *data, size_t length, int32_t *answer) {
  (void)context, (void)data, (void)length;
  must(boxretry_call_user_pointer(call) == &marked, "write() is lent the call");
  *answer = BOXRETRY_WRITE_TAKEN;
}

static void lent_call(const char *url, const char *other) {
  boxretry_client *client = new_client((boxretry_client_options)BOXRETRY_CLIENT_OPTIONS_INIT, 5);
  boxretry_body_source source = BOXRETRY_BODY_SOURCE_INIT;
  boxretry_sink sink = BOXRETRY_SINK_INIT;
  boxretry_request request = BOXRETRY_REQUEST_INIT;
  (void)other;
  request.url = url, request.method = "PUT", request.user_pointer = &marked;
  source.kind = BOXRETRY_SOURCE_CALLBACK, source.read = read_nothing;
  sink.kind = BOXRETRY_SINK_CALLBACK, sink.begin = begin_body, sink.write = take;
  request.body_source = &source;
  perform(client, request); /* with a source alone */
  request.sink = &sink, request.body_source = NULL;
  perform(client, request); /* with a sink alone */
  boxretry_client_free(client);
}

int main(int count, char **arguments) {
  const scene scenes[] = {{"reconnect", reconnect},
                          {"january", january},
                          {"fixed_token", fixed_token},
                          {"no_ceiling", no_ceiling},
                          {"deadline", deadline},
                          {"hook", hook},
                          {"custom_strategy", custom_strategy},
                          {"changed_file", changed_file},
                          {"lent_call", lent_call},
                          {NULL, NULL}};
  return play(scenes, count, arguments);
}
