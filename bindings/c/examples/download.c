/* Downloads to a file, which appears only when it is complete, and shows the progress: download URL FILE
 *
 * An interrupted download is resumed where it stopped, if the server supports that.
 * Build: cc download.c $(pkg-config --cflags --libs boxretry) */
#include <boxretry.h>
#include <stdio.h>
#include <stdlib.h>

static void check(boxretry_error error) {
  if (error == BOXRETRY_OK) return;
  fprintf(stderr, "download: %s: %s\n", boxretry_error_text(error), boxretry_last_error_detail());
  exit(EXIT_FAILURE);
}

/* Runs on a thread of the library, a few times a second. */
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
    if (attempt.resumed_from > 0) printf(", resumed at byte %lld", (long long)attempt.resumed_from);
    printf("\n");
  }
}

/* Calls again only to set the error detail, which names the file and the reason. */
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
  sink.kind = BOXRETRY_SINK_FILE; /* written to a temporary file, and renamed when complete */
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
    fprintf(stderr, "download: status %d\n", status); /* the body of an error response is in memory, not in the file */
  }
  boxretry_response_free(response);
  boxretry_client_free(client);
  return is_there ? EXIT_SUCCESS : EXIT_FAILURE;
}
