/* What the programs of cases from the field share: checks, clients, and what is printed of a call. */
#ifndef CASES_H
#define CASES_H
#include <boxretry.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct scene {
  const char *name;
  void (*play)(const char *url, const char *other); /* two arguments of the command line; "" if there is none */
} scene;

/* Plays the scene that the command line names. */
static inline int play(const scene *scenes, int count, char **arguments) {
  for (const scene *each = scenes; count >= 3 && each->name; each++) {
    if (strcmp(each->name, arguments[1]) != 0) continue;
    each->play(arguments[2], count > 3 ? arguments[3] : "");
    return 0;
  }
  fprintf(stderr, "%s SCENE URL [OTHER]\n", arguments[0]);
  return 2;
}

static inline void ok(boxretry_error error) {
  if (error == BOXRETRY_OK) return;
  fprintf(stderr, "%s: %s\n", boxretry_error_name(error), boxretry_last_error_detail());
  exit(1);
}

static inline void must(bool condition, const char *what) {
  if (condition) return;
  fprintf(stderr, "not so: %s\n", what);
  exit(1);
}

/* A client that waits for milliseconds where Box's strategy waits for seconds. */
static inline boxretry_client *new_client(boxretry_client_options options, int32_t max_attempts) {
  boxretry_retry_options retries = BOXRETRY_RETRY_OPTIONS_INIT;
  boxretry_strategy *strategy;
  boxretry_client *client;
  retries.max_attempts = max_attempts;
  retries.retry_base_interval = 0.001;
  retries.backoff_cap = 0.01;
  ok(boxretry_strategy_new(&retries, &strategy));
  if (options.preset == BOXRETRY_PRESET_BOX) options.strategy = strategy;
  options.proxy_mode = BOXRETRY_PROXY_NONE;
  ok(boxretry_client_new(&options, &client));
  boxretry_strategy_free(strategy);
  return client;
}

/* Prints how a call ended, and frees its response: the error, status and body; of each attempt its status or cause, an s if
 * something of it was sent, an r for each reconnect, and > for each redirect. */
static inline void print(boxretry_response *response) {
  size_t length, count = boxretry_response_attempt_count(response);
  const char *body = boxretry_response_body(response, &length);
  printf("%s %d %.*s:", boxretry_error_name(boxretry_response_error(response)), boxretry_response_status(response),
         length > 20 ? 0 : (int)length, body);
  for (size_t i = 0; i < count; i++) {
    boxretry_attempt attempt = BOXRETRY_ATTEMPT_INIT;
    ok(boxretry_response_attempt(response, i, &attempt));
    if (count > 10 && i > 0 && i + 1 < count) continue;
    if (attempt.status)
      printf(" %d", attempt.status);
    else
      printf(" %s", boxretry_cause_name(attempt.cause));
    if (attempt.request_sent == BOXRETRY_SENT_SOME) putchar('s');
    for (int32_t j = 0; j < attempt.reconnects; j++)
      putchar('r');
    for (int32_t j = 0; j < attempt.redirects; j++)
      putchar('>');
  }
  printf(" (%zu)\n", count);
  boxretry_response_free(response);
}

static inline void perform(boxretry_client *client, boxretry_request request) {
  boxretry_response *response;
  ok(boxretry_client_perform(client, &request, &response));
  print(response);
}

static inline void get(boxretry_client *client, const char *url) {
  boxretry_request request = BOXRETRY_REQUEST_INIT;
  request.url = url;
  perform(client, request);
}
#endif
