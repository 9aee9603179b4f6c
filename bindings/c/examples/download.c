/* Downloads into a file, which is there when it is whole, and shows how far it is: download URL FILE
 *
 * If it breaks off, it goes on where it was, provided that the server can do so. Build: cc download.c $(pkg-config
 * --cflags --libs boxretry) */
#include <boxretry.h>
#include <stdio.h>
#include <stdlib.h>

static void check(boxretry_error error) {
  if (error == BOXRETRY_OK) return;
  fprintf(stderr, "download: %s: %s\n", boxretry_error_text(error), boxretry_last_error_detail());
  exit(EXIT_FAILURE);
}

/* Runs on the library's thread, some times a second. */
static void show_progress(void *context, const boxretry_progress *progress) {
  (void)context;
  fprintf(stderr, "\r%lld bytes", (long long)progress->received);
  if (progress->receive_total > 0) fprintf(stderr, " of %lld", (long long)progress->receive_total);
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
    printf(", %s", boxretry_reason_name(attempt.reason));
    if (attempt.resumed_from > 0) printf(", went on at byte %lld", (long long)attempt.resumed_from);
    printf("\n");
  }
}

/* Asked once more: the detail is that of the last call. It says which file it was, and why. */
static void print_failure(const boxretry_response *response) {
  const boxretry_error error = boxretry_response_error(response);
  const char *detail = boxretry_last_error_detail();
  fprintf(stderr, "download: %s%s%s\n", boxretry_error_text(error), *detail ? ": " : "", detail);
}

int main(int argc, char **argv) {
  boxretry_client *client;
  boxretry_response *response;
  boxretry_request request = BOXRETRY_REQUEST_INIT;
  boxretry_sink sink = BOXRETRY_SINK_INIT;
  if (argc != 3) {
    fputs("usage: download URL FILE\n", stderr);
    return 2;
  }
  sink.kind = BOXRETRY_SINK_FILE; /* written beside its place, and renamed when it is whole */
  sink.path = argv[2];
  sink.is_resumable = 1;
  request.url = argv[1];
  request.sink = &sink;
  request.on_progress = show_progress;
  check(boxretry_client_new(NULL, &client));
  check(boxretry_client_perform(client, &request, &response));
  fputs("\n", stderr);

  const boxretry_error error = boxretry_response_error(response);
  const int32_t status = boxretry_response_status(response);
  const int is_there = error == BOXRETRY_OK && status >= 200 && status < 300;
  print_attempts(response);
  if (is_there) {
    printf("%s: %lld bytes\n", argv[2], (long long)boxretry_response_sink_length(response));
  } else if (error != BOXRETRY_OK) {
    print_failure(response);
  } else {
    fprintf(stderr, "download: status %d\n", status); /* the body of an error is in the response, not in the file */
  }
  boxretry_response_free(response);
  boxretry_client_free(client);
  return is_there ? EXIT_SUCCESS : EXIT_FAILURE;
}
