/* Build: cc timeouts.c -o timeouts $(pkg-config --cflags --libs boxretry) */
#include <boxretry.h>
#include <stdio.h>
#include <stdlib.h>

static void check(boxretry_error error) {
  if (error == BOXRETRY_OK) return;
  fprintf(stderr, "%s: %s\n", boxretry_error_text(error), boxretry_last_error_detail());
  exit(EXIT_FAILURE);
}

int main(int argc, char **argv) {
  boxretry_retry_options retries = BOXRETRY_RETRY_OPTIONS_INIT;
  boxretry_timeouts timeouts = BOXRETRY_TIMEOUTS_INIT;
  boxretry_client_options options = BOXRETRY_CLIENT_OPTIONS_INIT;
  boxretry_request request = BOXRETRY_REQUEST_INIT;
  boxretry_strategy *strategy;
  boxretry_client *client;
  boxretry_response *response;
  if (argc != 2) return 2;
  retries.max_retries_on_exception = 1; /* all other options keep their defaults */
  retries.retry_base_interval = 0.01;
  check(boxretry_strategy_new(&retries, &strategy));
  timeouts.timeout_interval_for_request_ms = 100; /* idle time */
  options.timeouts = &timeouts;
  options.strategy = strategy;
  check(boxretry_client_new(&options, &client));
  boxretry_strategy_free(strategy); /* the client keeps it */

  request.url = argv[1];
  request.deadline_ms = 10000; /* over all attempts and waits */
  check(boxretry_client_perform(client, &request, &response));
  printf("%s, attempts: %lu\n", boxretry_error_text(boxretry_response_error(response)),
         (unsigned long)boxretry_response_attempt_count(response));
  boxretry_response_free(response);
  boxretry_client_free(client);
  return 0;
}
