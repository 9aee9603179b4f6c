/* Build: cc upload.c -o upload $(pkg-config --cflags --libs boxretry) */
#include <boxretry.h>
#include <stdio.h>
#include <stdlib.h>

static void check(boxretry_error error) {
  if (error == BOXRETRY_OK) return;
  fprintf(stderr, "%s: %s\n", boxretry_error_text(error), boxretry_last_error_detail());
  exit(EXIT_FAILURE);
}

/* *count is preset to "failed". */
static void read_more(void *context, boxretry_call *call, void *buffer, size_t capacity, int64_t *count) {
  FILE *file = context;
  const size_t length = fread(buffer, 1, capacity, file);
  (void)call;
  if (!ferror(file)) *count = (int64_t)length; /* 0: end of the body */
}

/* Runs before the body is sent again. Without this function, the body can be sent only once. */
static void go_back(void *context, int32_t *done) {
  *done = fseek(context, 0, SEEK_SET) == 0;
}

int main(int argc, char **argv) {
  boxretry_request request = BOXRETRY_REQUEST_INIT;
  boxretry_body_source source = BOXRETRY_BODY_SOURCE_INIT;
  boxretry_client *client;
  boxretry_response *response;
  FILE *file = tmpfile();
  if (argc != 2 || file == NULL) return 2;
  for (int i = 0; i < 10000; i++)
    fprintf(file, "line %d\n", i);
  rewind(file);
  source.kind = BOXRETRY_SOURCE_CALLBACK; /* BOXRETRY_SOURCE_FILE and a path: the library reads the file */
  source.read = read_more;
  source.rewind = go_back;
  source.context = file;
  request.method = "PUT";
  request.url = argv[1];
  request.body_source = &source;
  check(boxretry_client_new(NULL, &client));
  check(boxretry_client_perform(client, &request, &response));
  for (size_t i = 0; i < boxretry_response_attempt_count(response); i++) {
    boxretry_attempt attempt = BOXRETRY_ATTEMPT_INIT;
    check(boxretry_response_attempt(response, i, &attempt));
    printf("attempt %d: status %d, %s\n", attempt.number, attempt.status, boxretry_reason_name(attempt.reason));
  }
  boxretry_response_free(response);
  boxretry_client_free(client);
  fclose(file);
  return EXIT_SUCCESS;
}
