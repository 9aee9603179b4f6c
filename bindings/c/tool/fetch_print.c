/* The output of boxretry fetch. */
#include "fetch.h"
#include "output.h"

#include <string.h>

/* Gets the attempt with this index. Returns false if there is none. */
static bool attempt_at(const boxretry_response *response, size_t index, boxretry_attempt *attempt) {
  *attempt = (boxretry_attempt)BOXRETRY_ATTEMPT_INIT;
  return boxretry_response_attempt(response, index, attempt) == BOXRETRY_OK;
}

bool fetch_last_attempt(const boxretry_response *response, boxretry_attempt *attempt) {
  size_t count = boxretry_response_attempt_count(response);
  return count > 0 && attempt_at(response, count - 1, attempt);
}

bool fetch_is_unfollowed(const boxretry_response *response) {
  boxretry_attempt attempt;
  return fetch_last_attempt(response, &attempt) && attempt.reason == BOXRETRY_REASON_NOT_REPLAYABLE;
}

/* --- JSON --- */

static void json_name(const char *key, bool is_given, const char *name) {
  if (is_given) {
    json_string(key, name);
  } else {
    json_null(key);
  }
}

static void print_json_attempt(const boxretry_attempt *attempt) {
  json_begin(NULL, '{');
  json_integer("number", attempt->number);
  json_integer("exception_number", attempt->exception_number);
  json_integer("status", attempt->status);
  json_name("error", attempt->cause != BOXRETRY_CAUSE_NONE, boxretry_cause_name(attempt->cause));
  json_name("reason", attempt->reason >= 0, boxretry_reason_name(attempt->reason));
  json_number("delay", attempt->delay);
  json_string("delay_source", boxretry_delay_source_name(attempt->delay_source));
  json_number("started_ms", attempt->started_ms);
  json_number("ended_ms", attempt->ended_ms);
  json_integer("redirects", attempt->redirects);
  json_number("resumed_from", (double)attempt->resumed_from);
  json_integer("http_version", attempt->http_version);
  json_end('}');
}

static void print_json_redirect(const boxretry_redirect *redirect) {
  json_begin(NULL, '{');
  json_integer("attempt", redirect->attempt_number);
  json_integer("status", redirect->status);
  json_string("url", redirect->url);
  json_end('}');
}

/* The length of the body, in a sink or in memory. */
static double body_length(const boxretry_response *response) {
  size_t length;
  boxretry_response_body(response, &length);
  return (double)length + (double)boxretry_response_sink_length(response);
}

/* The URL as given, but without user and password. */
static void print_json_url(const char *given) {
  const char *host = strstr(given, "://");
  host = host ? host + 3 : given;
  const size_t scheme = (size_t)(host - given);
  const char *end = host + strcspn(host, "/?#");
  for (const char *at = host; at < end; at++)
    if (*at == '@') host = at + 1;
  char url[scheme + strlen(host) + 1];
  memcpy(url, given, scheme);
  strcpy(url + scheme, host);
  json_string("url", url);
}

void fetch_print_json(const fetch_job *job) {
  const fetch_result *result = &job->result;
  const boxretry_response *response = result->response;
  boxretry_attempt attempt;
  boxretry_redirect redirect = BOXRETRY_REDIRECT_INIT;
  json_begin(NULL, '{');
  if (job->query->urls.count > 1) print_json_url(job->url_given);
  json_integer("status", boxretry_response_status(response));
  json_name("error", result->error != BOXRETRY_OK, boxretry_error_name(result->error));
  if (result->token_error != BOXRETRY_OK) json_string("token_error", boxretry_error_name(result->token_error));
  json_number("body_bytes", body_length(response));
  json_begin("attempts", '[');
  for (size_t i = 0; attempt_at(response, i, &attempt); i++)
    print_json_attempt(&attempt);
  json_end(']');
  json_begin("redirects", '[');
  for (size_t i = 0; boxretry_response_redirect(response, i, &redirect) == BOXRETRY_OK; i++)
    print_json_redirect(&redirect);
  json_end(']');
  json_end('}');
  json_end_line();
}

/* --- Text and JSON --- */

void fetch_print_head(const boxretry_response *response) {
  boxretry_header header;
  printf("HTTP %ld\r\n", (long)boxretry_response_status(response));
  for (size_t i = 0; boxretry_response_header_at(response, i, &header) == BOXRETRY_OK; i++)
    printf("%s: %s\r\n", header.name, header.value);
  fputs("\r\n", stdout);
}

void fetch_print_body(const boxretry_response *response) {
  size_t length;
  const void *body = boxretry_response_body(response, &length);
  fwrite(body, 1, length, stdout);
}

/* --- Text --- */

static void print_error(FILE *stream, boxretry_error error, const char *detail) {
  fprintf(stream, "%s: %s", boxretry_error_name(error), boxretry_error_text(error));
  if (detail && *detail) fprintf(stream, ": %s", detail);
}

static void print_token_error(FILE *stream, const fetch_result *result) {
  const int32_t status = boxretry_response_status(result->response);
  const boxretry_error error = boxretry_response_token_error(result->response);
  print_error(stream, error, boxretry_last_error_detail());
  if (status != 0) fprintf(stream, "; status %ld", (long)status);
}

/* Whether this is the last attempt's failure and libcurl has a text for it. */
static bool is_told_by_curl(boxretry_error error) {
  return error >= BOXRETRY_ERROR_RESOLVE && error <= BOXRETRY_ERROR_PROTOCOL;
}

static void print_status(FILE *stream, const boxretry_response *response) {
  char buffer[QUOTED_SIZE];
  const char *phrase = boxretry_response_reason_phrase(response);
  fprintf(stream, "the server returned status %ld", (long)boxretry_response_status(response));
  if (*phrase) fprintf(stream, " %s", quoted(buffer, phrase));
}

void fetch_print_failure(FILE *stream, const fetch_result *result) {
  boxretry_attempt last;
  const size_t count = boxretry_response_attempt_count(result->response);
  const bool has_attempt = fetch_last_attempt(result->response, &last);
  if (result->output_errno != 0) {
    fprintf(stream, "the output file cannot be written: %s", strerror(result->output_errno));
  } else if (result->stdout_errno != 0) {
    fprintf(stream, "the output could not be written: %s", strerror(result->stdout_errno));
  } else if (result->token_error != BOXRETRY_OK) {
    print_token_error(stream, result);
  } else if (result->error != BOXRETRY_OK) {
    print_error(stream, result->error, result->detail);
    if (has_attempt && is_told_by_curl(result->error)) fprintf(stream, " (%s)", last.curl_text);
  } else {
    print_status(stream, result->response);
    if (count > 1) fprintf(stream, " after %zu attempts", count);
    if (has_attempt && last.reason >= 0) fprintf(stream, " (%s)", boxretry_reason_text(last.reason));
    return;
  }
  if (count > 1) fprintf(stream, "; %zu attempts", count);
}
