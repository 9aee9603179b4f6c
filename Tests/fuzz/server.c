/*
 * A server that says anything: response, redirects, the rest of a download, the answers of a token endpoint, in
 * HTTP/1 and as frames of HTTP/2, to one request or to several at once. Each call must end, with what the caller can rely
 * on, and with nothing from the answer to another.
 *
 * The first two bytes of the input say what is asked for; the rest is what the server says, in parts (peer.h).
 */
#include <sys/stat.h>
#include <unistd.h>

#include "peer.h"

enum { BODY_LIMIT = 1 << 16, ERROR_BODY_LIMIT = 1 << 10, HEADER_LINES = 40, HEADER_BYTES = 4096, REDIRECTS = 4 };
enum { CROWD = 4 };
enum { PLAIN, WITHOUT_CONTENT, WITH_BODY, WITH_FORM };
enum { TO_MEMORY, TO_CALLBACK, TO_FILE, TO_RESUMED_FILE, DESTINATIONS };

static boxretry_client *client, *client_with_token;
static char file_path[64];

/* What the sink has, since it was last started. */
static int64_t sunk;

/* --- What is made once --- */

static boxretry_strategy *quick_strategy(void) {
  boxretry_retry_options options = BOXRETRY_RETRY_OPTIONS_INIT;
  boxretry_strategy *strategy;
  options.max_attempts = 3;
  options.retry_base_interval = 0;
  options.retry_after_cap = 1e-6;
  REQUIRE(boxretry_strategy_new(&options, &strategy) == BOXRETRY_OK, "the options are valid");
  return strategy;
}

static boxretry_client *new_client(boxretry_token_source *source) {
  static const char *const codes[] = {"token_expired"};
  boxretry_client_options options = BOXRETRY_CLIENT_OPTIONS_INIT;
  boxretry_strategy *strategy = quick_strategy();
  boxretry_client *made;
  options.strategy = strategy;
  options.unix_socket = peer_socket();
  options.proxy_mode = BOXRETRY_PROXY_NONE;
  options.body_limit = BODY_LIMIT;
  options.error_body_limit = ERROR_BODY_LIMIT;
  options.max_response_headers = HEADER_LINES;
  options.max_response_header_bytes = HEADER_BYTES;
  options.max_redirects = REDIRECTS;
  options.token_source = source;
  options.allow_insecure_token = 1;
  options.replay_codes = codes;
  options.replay_code_count = 1;
  REQUIRE(boxretry_client_new(&options, &made) == BOXRETRY_OK, "the options are valid");
  boxretry_strategy_free(strategy);
  return made;
}

static void provide(void *context, boxretry_token_request *request) {
  static int count;
  char token[32];
  (void)context;
  const int length = snprintf(token, sizeof token, "token-%d", ++count);
  boxretry_token_request_succeed(request, token, (size_t)length, 3600);
}

static void begin(void) {
  boxretry_token_options options = BOXRETRY_TOKEN_OPTIONS_INIT;
  boxretry_token_source *source;
  if (client) return;
  peer_start();
  options.provider = provide;
  REQUIRE(boxretry_token_source_new(&options, &source) == BOXRETRY_OK, "the options are valid");
  client = new_client(NULL);
  client_with_token = new_client(source);
  boxretry_token_source_free(source);
  snprintf(file_path, sizeof file_path, "%s-file", peer_socket());
}

/* --- Callbacks --- */

static void take_body(void *context, boxretry_call *call, const void *data, size_t length, int32_t *answer) {
  (void)context;
  (void)call;
  REQUIRE(length > 0 && data, "a write callback gets 1 byte or more");
  sunk += (int64_t)length;
  *answer = BOXRETRY_WRITE_TAKEN;
}

static void restart(void *context, int32_t *done) {
  (void)context;
  sunk = 0;
  *done = 1;
}

static void look_at_progress(void *context, const boxretry_progress *progress) {
  (void)context;
  REQUIRE(progress->received >= 0 && progress->sent >= 0, "what has moved is counted up");
  REQUIRE(progress->receive_total >= -1 && progress->send_total >= -1, "-1: unknown");
}

/* --- Calls --- */

static void check_headers(boxretry_response *response) {
  const size_t count = boxretry_response_header_count(response);
  REQUIRE(count <= HEADER_LINES, "no more lines than max_response_headers");
  for (size_t i = 0; i < count; i++) {
    boxretry_header header;
    REQUIRE(boxretry_response_header_at(response, i, &header) == BOXRETRY_OK, "each line is returned");
    REQUIRE(*header.name && !strpbrk(header.name, ":\r\n"), "a name is one, and no more");
    REQUIRE(!strpbrk(header.value, "\r\n"), "a value is one line");
    REQUIRE(boxretry_response_header(response, header.name), "a line that is there is found by its name");
  }
}

static void check_record(boxretry_response *response) {
  const size_t attempts = boxretry_response_attempt_count(response);
  REQUIRE(attempts <= 8, "B5, R1: as many retries as the strategy allows, and one replay");
  for (size_t i = 0; i < attempts; i++) {
    boxretry_attempt attempt = BOXRETRY_ATTEMPT_INIT;
    REQUIRE(boxretry_response_attempt(response, i, &attempt) == BOXRETRY_OK, "each attempt has its record");
    REQUIRE(attempt.redirects <= REDIRECTS, "no more redirects than max_redirects");
    REQUIRE(attempt.delay >= 0 && attempt.delay < 0.01, "B11: no wait is longer than the cap");
  }
  REQUIRE(boxretry_response_reconnect_count(response) <= 1, "B13: a reconnect comes once in a call");
  for (size_t i = 0; i < boxretry_response_redirect_count(response); i++) {
    boxretry_redirect redirect = BOXRETRY_REDIRECT_INIT;
    REQUIRE(boxretry_response_redirect(response, i, &redirect) == BOXRETRY_OK, "each redirect has its record");
    REQUIRE(strncmp(redirect.url, "http://", 7) == 0 || strncmp(redirect.url, "https://", 8) == 0,
            "only http and https are followed");
  }
}

static void check_file(int64_t length) {
  struct stat file;
  const bool is_there = stat(file_path, &file) == 0;
  REQUIRE(is_there ? file.st_size == length : length == 0, "B15: a file is whole");
  unlink(file_path);
}

static void check(boxretry_response *response, int destination, bool is_head) {
  size_t length;
  const boxretry_error error = boxretry_response_error(response);
  const int32_t status = boxretry_response_status(response);
  const char *body = boxretry_response_body(response, &length);
  const int64_t sink_length = boxretry_response_sink_length(response);
  REQUIRE(error != BOXRETRY_ERROR_CANCELLED && error != BOXRETRY_ERROR_DEADLINE, "each call comes to an end");
  REQUIRE(error != BOXRETRY_OK || (status >= 100 && status <= 999), "what is a response has a status");
  REQUIRE(length <= BODY_LIMIT && body[length] == '\0', "no body is longer than body_limit");
  REQUIRE(status / 100 == 2 || length <= ERROR_BODY_LIMIT, "B15: nor that of an error than error_body_limit");
  REQUIRE(!is_head || (length == 0 && sink_length == 0), "a HEAD has no body");
  REQUIRE(sink_length <= BODY_LIMIT || destination != TO_MEMORY, "without a sink, nothing goes to one");
  if (destination == TO_CALLBACK && error == BOXRETRY_OK) REQUIRE(sink_length <= sunk, "B15: the sink has it");
  if (destination >= TO_FILE) check_file(error == BOXRETRY_OK ? sink_length : 0);
  check_headers(response);
  check_record(response);
  boxretry_response_free(response);
}

static void call(uint8_t what, uint8_t how) {
  boxretry_request request = BOXRETRY_REQUEST_INIT;
  boxretry_sink sink = BOXRETRY_SINK_INIT;
  boxretry_response *response;
  const int destination = how % DESTINATIONS;
  const int kind = what >> 4 & 3;
  request.url = "http://127.0.0.1/one/two";
  request.method = kind == WITHOUT_CONTENT ? "HEAD" : kind == PLAIN ? "GET" : "POST";
  if (kind == WITH_BODY) {
    request.body = "of the request";
    request.body_length = 14;
  }
  boxretry_part part = {.name = "field", .data = "of the form", .data_length = 11};
  boxretry_body_source form = BOXRETRY_BODY_SOURCE_INIT;
  form.kind = BOXRETRY_SOURCE_MULTIPART;
  form.parts = &part;
  form.part_count = 1;
  if (kind == WITH_FORM) request.body_source = &form;
  request.compression = how & 4 ? BOXRETRY_SWITCH_ON : BOXRETRY_SWITCH_OFF;
  request.http_version = how & 8 ? BOXRETRY_HTTP_2_PRIOR_KNOWLEDGE : BOXRETRY_HTTP_1_1;
  request.deadline_ms = 8000;
  request.on_progress = look_at_progress;
  sunk = 0;
  sink.kind = destination == TO_CALLBACK ? BOXRETRY_SINK_CALLBACK : BOXRETRY_SINK_FILE;
  sink.path = file_path;
  sink.write = take_body;
  sink.restart = restart;
  sink.is_resumable = destination == TO_RESUMED_FILE;
  if (destination != TO_MEMORY) request.sink = &sink;
  boxretry_client *it = how & 16 ? client_with_token : client;
  REQUIRE(boxretry_client_perform(it, &request, &response) == BOXRETRY_OK, "the request is valid");
  check(response, destination, kind == WITHOUT_CONTENT);
}

/* --- Several at once --- */

/* W1, W3. Each request gets nothing that the server has said to another one. */
static void call_at_once(uint8_t how) {
  boxretry_call *calls[CROWD];
  for (int i = 0; i < CROWD; i++) {
    static const char body[] = "of one of several requests";
    boxretry_request request = BOXRETRY_REQUEST_INIT;
    char url[64];
    snprintf(url, sizeof url, "http://127.0.0.1" PEER_OWN_PATH "%d", i);
    request.url = url;
    request.deadline_ms = 8000;
    request.max_redirects = BOXRETRY_NO_REDIRECTS; /* one may lead to another request's path */
    request.http_version = how >> i & 1 ? BOXRETRY_HTTP_1_1 : BOXRETRY_HTTP_2;
    if (how >> (i + 4) & 1) {
      request.method = "POST";
      request.body = body;
      request.body_length = sizeof body - 1;
    }
    REQUIRE(boxretry_client_submit(client, &request, &calls[i]) == BOXRETRY_OK, "the request is valid");
  }
  for (int i = 0; i < CROWD; i++) {
    size_t length;
    REQUIRE(boxretry_call_wait(calls[i], BOXRETRY_NO_TIMEOUT) == BOXRETRY_OK, "each call comes to an end");
    boxretry_response *response = boxretry_call_take_response(calls[i]);
    const char *body = boxretry_response_body(response, &length);
    REQUIRE(!peer_names_another(body, length, i), "W1: an answer belongs to its request");
    for (size_t line = 0; line < boxretry_response_header_count(response); line++) {
      boxretry_header header;
      REQUIRE(boxretry_response_header_at(response, line, &header) == BOXRETRY_OK, "each line is returned");
      REQUIRE(!peer_names_another(header.value, strlen(header.value), i), "W1: and so do its headers");
    }
    check(response, TO_MEMORY, false);
    boxretry_call_free(calls[i]);
  }
}

/* --- The token endpoint --- */

static void on_refresh_token(void *context, const char *token) {
  (void)context;
  REQUIRE(*token, "T12: an empty refresh token replaces none");
}

static void get_token(void) {
  boxretry_token_endpoint_options options = BOXRETRY_TOKEN_ENDPOINT_OPTIONS_INIT;
  boxretry_token_retry_policy policy = BOXRETRY_TOKEN_RETRY_POLICY_INIT;
  boxretry_token_source *source;
  boxretry_token *token;
  char url[64];
  policy.maximum_attempts = 2;
  policy.initial_delay = 0;
  snprintf(url, sizeof url, "http://127.0.0.1:%d/token", peer_port());
  options.url = url;
  options.refresh_token = "first";
  options.on_refresh_token = on_refresh_token;
  options.policy = &policy;
  options.provider_timeout_ms = 4000;
  options.proxy_mode = BOXRETRY_PROXY_NONE;
  REQUIRE(boxretry_token_source_new_endpoint(&options, &source) == BOXRETRY_OK, "the options are valid");
  const boxretry_error error = boxretry_token_source_get(source, 9000, NULL, &token);
  if (error == BOXRETRY_OK) {
    const char *bytes = boxretry_token_bytes(token);
    const size_t length = boxretry_token_length(token);
    REQUIRE(length >= 1 && length <= 16384 && strlen(bytes) == length, "T6: a token has 1 to 16384 bytes");
    for (size_t i = 0; i < length; i++)
      REQUIRE(bytes[i] >= 0x21 && bytes[i] <= 0x7E, "T6: and none that a header may not have");
    REQUIRE(boxretry_token_expires_in(token) > 60, "T6: and a life");
    boxretry_token_free(token);
  } else {
    REQUIRE(error == BOXRETRY_ERROR_INVALID_CLIENT_TOKEN || error == BOXRETRY_ERROR_INVALID_CLIENT_TOKEN_EXPIRATION ||
                error == BOXRETRY_ERROR_CLIENT_TOKEN_PROVIDER_FAILED,
            "T6: what a provider has brought about");
  }
  boxretry_token_source_free(source);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  input in = {data, size};
  const uint8_t what = take_byte(&in), how = take_byte(&in);
  begin();
  peer_play(in.data, in.size, what & 1);
  if ((what & 0xE) == 0xE) {
    get_token();
  } else if ((what & 0xE) == 0xC) {
    call_at_once(how);
  } else {
    call(what, how);
  }
  peer_play(NULL, 0, false);
  return 0;
}
