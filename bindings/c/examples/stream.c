/* Prints a response as it arrives, its head first: stream URL
 *
 * Build: cc stream.c $(pkg-config --cflags --libs boxretry) */
#include <boxretry.h>
#include <stdio.h>
#include <stdlib.h>

static void check(boxretry_error error) {
  if (error == BOXRETRY_OK) return;
  fprintf(stderr, "stream: %s: %s\n", boxretry_error_text(error), boxretry_last_error_detail());
  exit(EXIT_FAILURE);
}

/* The callbacks run on the thread that drives the call. An answer that is not set means "failed". */

static void print_head(void *context, boxretry_call *call, const boxretry_response_head *head, int32_t *done) {
  (void)context;
  (void)call;
  printf("status %d\n", head->status);
  for (size_t i = 0; i < head->header_count; i++)
    printf("%s: %s\n", head->headers[i].name, head->headers[i].value);
  printf("\n");
  *done = 1;
}

static void print_piece(void *context, boxretry_call *call, const void *data, size_t length, int32_t *answer) {
  (void)context;
  (void)call;
  if (fwrite(data, 1, length, stdout) == length) *answer = BOXRETRY_WRITE_TAKEN;
}

int main(int argc, char **argv) {
  boxretry_client *client;
  boxretry_response *response;
  boxretry_request request = BOXRETRY_REQUEST_INIT;
  boxretry_sink sink = BOXRETRY_SINK_INIT;
  if (argc != 2) {
    fputs("usage: stream URL\n", stderr);
    return 2;
  }
  sink.kind = BOXRETRY_SINK_CALLBACK; /* without `restart`, because printed output cannot be taken back */
  sink.begin = print_head;
  sink.write = print_piece;
  request.url = argv[1];
  request.sink = &sink;
  check(boxretry_client_new(NULL, &client));
  check(boxretry_client_perform(client, &request, &response));

  const boxretry_error error = boxretry_response_error(response);
  const int32_t status = boxretry_response_status(response);
  const int is_there = error == BOXRETRY_OK && status >= 200 && status < 300;
  if (error != BOXRETRY_OK) {
    fprintf(stderr, "stream: %s\n", boxretry_error_text(error));
  } else if (!is_there) {
    fprintf(stderr, "stream: status %d\n", status); /* the body of such a response is in memory, and is not printed */
  }
  boxretry_response_free(response);
  boxretry_client_free(client);
  return is_there ? EXIT_SUCCESS : EXIT_FAILURE;
}
