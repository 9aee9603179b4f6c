/* Sends a form with a title and a file exactly once: form URL TITLE FILE
 *
 * All attempts send the same idempotency key: a server that supports such keys does not process the form twice.
 * Build: cc form.c $(pkg-config --cflags --libs boxretry) */
#include <boxretry.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check(boxretry_error error) {
  if (error == BOXRETRY_OK) return;
  fprintf(stderr, "form: %s: %s\n", boxretry_error_text(error), boxretry_last_error_detail());
  exit(EXIT_FAILURE);
}

int main(int argc, char **argv) {
  boxretry_client *client;
  boxretry_response *response;
  boxretry_request request = BOXRETRY_REQUEST_INIT;
  boxretry_body_source source = BOXRETRY_BODY_SOURCE_INIT;
  boxretry_part parts[2] = {{0}, {0}};
  if (argc != 4) {
    fputs("usage: form URL TITLE FILE\n", stderr);
    return 2;
  }
  parts[0].name = "title";
  parts[0].data = argv[2];
  parts[0].data_length = strlen(argv[2]);
  parts[1].name = "file";
  parts[1].path = argv[3]; /* read while it is sent; the server gets its name */
  parts[1].content_type = "application/octet-stream";
  source.kind = BOXRETRY_SOURCE_MULTIPART;
  source.parts = parts;
  source.part_count = sizeof parts / sizeof parts[0];
  request.method = "POST";
  request.url = argv[1];
  request.body_source = &source;
  request.idempotency_key = BOXRETRY_IDEMPOTENCY_KEY_RANDOM;
  check(boxretry_client_new(NULL, &client));
  check(boxretry_client_perform(client, &request, &response));

  const boxretry_error error = boxretry_response_error(response);
  const int32_t status = boxretry_response_status(response);
  if (error != BOXRETRY_OK) {
    fprintf(stderr, "form: %s\n", boxretry_error_text(error));
  } else {
    size_t length;
    const char *body = boxretry_response_body(response, &length);
    printf("status %d, attempts: %lu\n", status, (unsigned long)boxretry_response_attempt_count(response));
    fwrite(body, 1, length, stdout);
  }
  boxretry_response_free(response);
  boxretry_client_free(client);
  return error == BOXRETRY_OK && status < 400 ? EXIT_SUCCESS : EXIT_FAILURE;
}
