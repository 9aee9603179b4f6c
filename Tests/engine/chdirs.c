/* Changes its folder while calls are under way (F102): chdirs WHAT WHEN URL
 *
 * It is started in a folder with the files `ca.pem` and `upload` and an empty folder `other`, to which it changes. WHAT is
 * download (to the file `download`), upload (of `upload`), form (with `upload`) or ca_file. WHEN is early, before anything is
 * sent, or late, in the middle of the body of a download. Prints the error and the status. */
#include <boxretry.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static void ok(boxretry_error error) {
  if (error == BOXRETRY_OK) return;
  fprintf(stderr, "%s: %s\n", boxretry_error_name(error), boxretry_last_error_detail());
  exit(EXIT_FAILURE);
}

static void wait_for_temporary_file(void) {
  const struct timespec moment = {0, 1000000};
  glob_t found;
  while (glob(".boxretry-*", 0, NULL, &found) != 0)
    nanosleep(&moment, NULL);
  globfree(&found);
}

int main(int argc, char **argv) {
  boxretry_retry_options retries = BOXRETRY_RETRY_OPTIONS_INIT;
  boxretry_client_options options = BOXRETRY_CLIENT_OPTIONS_INIT;
  boxretry_request request = BOXRETRY_REQUEST_INIT;
  boxretry_sink sink = BOXRETRY_SINK_INIT;
  boxretry_body_source source = BOXRETRY_BODY_SOURCE_INIT;
  const boxretry_part part = {.name = "field", .path = "upload"};
  boxretry_strategy *strategy;
  boxretry_client *client;
  boxretry_call *call;
  if (argc != 4) return 2;
  alarm(60);
  retries.retry_base_interval = 0.001;
  ok(boxretry_strategy_new(&retries, &strategy));
  options.strategy = strategy;
  options.proxy_mode = BOXRETRY_PROXY_NONE;
  options.ca_file = "ca.pem";
  ok(boxretry_client_new(&options, &client));
  request.url = argv[3];
  if (strcmp(argv[1], "download") == 0) {
    sink.kind = BOXRETRY_SINK_FILE;
    sink.path = "download";
    request.sink = &sink;
  } else if (strcmp(argv[1], "ca_file") != 0) {
    request.method = "PUT";
    request.body_source = &source;
    source.kind = strcmp(argv[1], "form") == 0 ? BOXRETRY_SOURCE_MULTIPART : BOXRETRY_SOURCE_FILE;
    source.path = "upload";
    source.parts = &part;
    source.part_count = 1;
  }
  ok(boxretry_client_submit(client, &request, &call));
  if (strcmp(argv[2], "late") == 0) wait_for_temporary_file();
  if (chdir("other") != 0) return 2;
  ok(boxretry_call_wait(call, BOXRETRY_NO_TIMEOUT));
  boxretry_response *response = boxretry_call_take_response(call);
  printf("%s %d\n", boxretry_error_name(boxretry_response_error(response)), boxretry_response_status(response));
  boxretry_response_free(response);
  boxretry_call_free(call);
  boxretry_client_free(client);
  boxretry_strategy_free(strategy);
  return 0;
}
