/* Build: cc cancel.c -o cancel $(pkg-config --cflags --libs boxretry) */
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
  boxretry_call *call;
  boxretry_response *response;
  if (argc != 2) return 2;
  check(boxretry_client_new(NULL, &client));
  request.url = argv[1];
  check(boxretry_client_submit(client, &request, &call)); /* returns at once */
  if (boxretry_call_wait(call, 200) == BOXRETRY_ERROR_WAIT_TIMEOUT) {
    puts("no answer after 200 ms: canceling");
    boxretry_call_cancel(call);
  }
  check(boxretry_call_wait(call, BOXRETRY_NO_TIMEOUT)); /* a canceled call ends soon */
  response = boxretry_call_take_response(call);
  puts(boxretry_error_text(boxretry_response_error(response)));
  boxretry_response_free(response);
  boxretry_call_free(call);
  boxretry_client_free(client);
  return 0;
}
