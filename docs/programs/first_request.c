/* Build: cc first_request.c -o first_request $(pkg-config --cflags --libs boxretry) */
#include <boxretry.h>
#include <stdio.h>
#include <stdlib.h>

static void check(boxretry_error error) {
  if (error == BOXRETRY_OK) return;
  fprintf(stderr, "%s: %s\n", boxretry_error_text(error), boxretry_last_error_detail());
  exit(EXIT_FAILURE);
}

int main(int argc, char **argv) {
  boxretry_request request = BOXRETRY_REQUEST_INIT;
  boxretry_client *client;
  boxretry_response *response;
  boxretry_error error;
  if (argc != 2) return 2;
  check(boxretry_client_new(NULL, &client)); /* NULL: the documented defaults */
  request.url = argv[1];
  check(boxretry_client_perform(client, &request, &response)); /* the response says how it ended */
  error = boxretry_response_error(response);
  printf("%s, status %d, attempts: %lu\n", boxretry_error_name(error), boxretry_response_status(response),
         (unsigned long)boxretry_response_attempt_count(response));
  boxretry_response_free(response);
  boxretry_client_free(client);
  return error == BOXRETRY_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
