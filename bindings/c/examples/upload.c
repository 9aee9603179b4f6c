/* Uploads a file from the program's own body source, which can send it again for a retry: upload FILE URL
 *
 * The library can read files itself (BOXRETRY_SOURCE_FILE); a callback is for other sources, or for files that need
 * processing.
 * Build: cc upload.c $(pkg-config --cflags --libs boxretry) */
#include <boxretry.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check(boxretry_error error) {
  if (error == BOXRETRY_OK) return;
  fprintf(stderr, "upload: %s: %s\n", boxretry_error_text(error), boxretry_last_error_detail());
  exit(EXIT_FAILURE);
}

/* Runs on a thread of the library. *count is preset to "failed". */
static void read_more(void *context, boxretry_call *call, void *buffer, size_t capacity, int64_t *count) {
  FILE *file = context;
  const size_t length = fread(buffer, 1, capacity, file);
  (void)call;
  if (!ferror(file)) *count = (int64_t)length; /* 0 means the end of the body */
}

/* Called before the body is sent again. Without this function, it could be sent only once. */
static void go_back(void *context, int32_t *done) {
  FILE *file = context;
  printf("from the beginning\n");
  *done = fseek(file, 0, SEEK_SET) == 0;
}

/* Called after the last use of the source. */
static void close_file(void *context) {
  fclose(context);
}

static void print_attempts(const boxretry_response *response) {
  for (size_t i = 0; i < boxretry_response_attempt_count(response); i++) {
    boxretry_attempt attempt = BOXRETRY_ATTEMPT_INIT;
    check(boxretry_response_attempt(response, i, &attempt));
    printf("attempt %d: ", attempt.number);
    if (attempt.status != 0) {
      printf("status %d", attempt.status);
    } else {
      printf("%s", boxretry_cause_name(attempt.cause));
    }
    printf(", %s\n", boxretry_reason_name(attempt.reason));
  }
}

/* Calls again only to set the error detail, which names the file and the reason. */
static void print_failure(const boxretry_response *response) {
  const boxretry_error error = boxretry_response_error(response);
  const char *detail = boxretry_last_error_detail();
  fprintf(stderr, "upload: %s%s%s\n", boxretry_error_text(error), *detail ? ": " : "", detail);
}

int main(int argc, char **argv) {
  boxretry_client *client;
  boxretry_response *response;
  boxretry_request request = BOXRETRY_REQUEST_INIT;
  boxretry_body_source source = BOXRETRY_BODY_SOURCE_INIT;
  if (argc != 3) {
    fputs("usage: upload FILE URL\n", stderr);
    return 2;
  }
  FILE *file = fopen(argv[1], "rb");
  if (!file) {
    fprintf(stderr, "upload: %s: %s\n", argv[1], strerror(errno));
    return EXIT_FAILURE;
  }
  source.kind = BOXRETRY_SOURCE_CALLBACK;
  source.read = read_more;
  source.rewind = go_back;
  source.context_free = close_file;
  source.context = file;
  request.method = "PUT";
  request.url = argv[2];
  request.body_source = &source; /* its length is unknown, so it is sent in chunks */
  check(boxretry_client_new(NULL, &client));
  check(boxretry_client_perform(client, &request, &response));

  const boxretry_error error = boxretry_response_error(response);
  const int32_t status = boxretry_response_status(response);
  print_attempts(response);
  if (error != BOXRETRY_OK) print_failure(response);
  boxretry_response_free(response);
  boxretry_client_free(client);
  return error == BOXRETRY_OK && status < 400 ? EXIT_SUCCESS : EXIT_FAILURE;
}
