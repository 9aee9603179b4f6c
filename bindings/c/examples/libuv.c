/* Fetches all URLs in parallel without a second thread, in an event loop of libuv: libuv URL...
 *
 * The client has no thread: a uv_poll_t watches the client's descriptor, and its callback drives the client.
 * Build: cc libuv.c $(pkg-config --cflags --libs boxretry libuv) */
#define _POSIX_C_SOURCE 200809L /* uv.h needs it */
#include <boxretry.h>
#include <stdio.h>
#include <stdlib.h>
#include <uv.h>

/* What the callbacks need. */
typedef struct fetches {
  boxretry_client *client;
  uv_poll_t poll;
  int left, failed;
} fetches;

static void check(boxretry_error error) {
  if (error == BOXRETRY_OK) return;
  fprintf(stderr, "libuv: %s: %s\n", boxretry_error_text(error), boxretry_last_error_detail());
  exit(EXIT_FAILURE);
}

static void check_uv(int result, const char *what) {
  if (result >= 0) return;
  fprintf(stderr, "libuv: %s: %s\n", what, uv_strerror(result));
  exit(EXIT_FAILURE);
}

/* Runs inside boxretry_client_drive(). */
static void on_complete(void *context, boxretry_call *call) {
  fetches *all = context;
  boxretry_response *response = boxretry_call_take_response(call);
  const boxretry_error error = boxretry_response_error(response);
  const int32_t status = boxretry_response_status(response);
  printf("%s: ", boxretry_response_url(response));
  if (error != BOXRETRY_OK) {
    printf("%s", boxretry_error_text(error));
  } else {
    printf("status %d", status);
  }
  printf(", attempts: %lu\n", (unsigned long)boxretry_response_attempt_count(response));
  if (error != BOXRETRY_OK || status >= 400) all->failed++;
  if (--all->left == 0) uv_close((uv_handle_t *)&all->poll, NULL); /* ends the loop */
  boxretry_response_free(response);
}

static void on_readable(uv_poll_t *poll, int status, int events) {
  fetches *all = poll->data;
  (void)events;
  check_uv(status, "uv_poll");
  check(boxretry_client_drive(all->client, 0));
}

int main(int argc, char **argv) {
  boxretry_client_options options = BOXRETRY_CLIENT_OPTIONS_INIT;
  fetches all = {0};
  uv_loop_t loop;
  if (argc < 2) {
    fputs("usage: libuv URL...\n", stderr);
    return 2;
  }
  options.threads = BOXRETRY_THREADS_NONE;
  check(boxretry_client_new(&options, &all.client));
  check_uv(uv_loop_init(&loop), "uv_loop_init");
  check_uv(uv_poll_init(&loop, &all.poll, boxretry_client_fd(all.client)), "uv_poll_init");
  all.poll.data = &all;
  check_uv(uv_poll_start(&all.poll, UV_READABLE, on_readable), "uv_poll_start");

  for (int i = 1; i < argc; i++) {
    boxretry_request request = BOXRETRY_REQUEST_INIT;
    request.url = argv[i];
    request.on_complete = on_complete;
    request.on_complete_context = &all;
    check(boxretry_client_submit(all.client, &request, NULL)); /* the call is freed after on_complete */
    all.left++;
  }
  check_uv(uv_run(&loop, UV_RUN_DEFAULT), "uv_run"); /* a real program has other handles in the loop too */
  boxretry_client_free(all.client);                  /* after the uv_poll_t has been closed */
  check_uv(uv_loop_close(&loop), "uv_loop_close");
  return all.failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
