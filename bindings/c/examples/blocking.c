/* Fetches URLs one after another and prints each result: blocking URL...
 *
 * Build: cc blocking.c $(pkg-config --cflags --libs boxretry) */
#include <boxretry.h>
#include <stdio.h>
#include <stdlib.h>

static void check(boxretry_error error) {
  if (error == BOXRETRY_OK) return;
  fprintf(stderr, "blocking: %s: %s\n", boxretry_error_text(error), boxretry_last_error_detail());
  exit(EXIT_FAILURE);
}

static void print_attempts(const boxretry_response *response) {
  for (size_t i = 0; i < boxretry_response_attempt_count(response); i++) {
    boxretry_attempt attempt = BOXRETRY_ATTEMPT_INIT;
    check(boxretry_response_attempt(response, i, &attempt));
    printf("  attempt %d: ", attempt.number);
    if (attempt.status != 0) {
      printf("status %d", attempt.status);
    } else {
      printf("%s (%s)", boxretry_cause_name(attempt.cause), attempt.curl_text);
    }
    printf(", %s\n", boxretry_reason_name(attempt.reason));
    if (attempt.action == BOXRETRY_ACTION_RETRY) printf("  wait %.3f s\n", attempt.delay);
  }
}

/* Whether the response is a success or a redirect. */
static int fetch(boxretry_client *client, const char *url) {
  boxretry_request request = BOXRETRY_REQUEST_INIT;
  boxretry_response *response;
  size_t length;
  request.url = url;
  check(boxretry_client_perform(client, &request, &response));

  const boxretry_error error = boxretry_response_error(response);
  const int32_t status = boxretry_response_status(response);
  printf("%s\n", url);
  print_attempts(response);
  if (error != BOXRETRY_OK) {
    printf("  failed: %s\n", boxretry_error_text(error));
  } else {
    boxretry_response_body(response, &length);
    printf("  status %d, %lu bytes\n", status, (unsigned long)length);
  }
  boxretry_response_free(response);
  return error == BOXRETRY_OK && status < 400;
}

int main(int argc, char **argv) {
  boxretry_client *client; /* keeps connections open: use one client for the whole program */
  int failed = 0;
  if (argc < 2) {
    fputs("usage: blocking URL...\n", stderr);
    return 2;
  }
  check(boxretry_client_new(NULL, &client));
  for (int i = 1; i < argc; i++) {
    if (!fetch(client, argv[i])) failed++;
  }
  boxretry_client_free(client);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
