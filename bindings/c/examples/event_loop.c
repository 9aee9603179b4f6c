/* Fetches all URLs in parallel without a second thread, in an event loop of epoll: event_loop URL...
 *
 * The client has no thread: the loop watches the client's descriptor, and drives the client when it is readable.
 * Build: cc event_loop.c $(pkg-config --cflags --libs boxretry) */
#include <boxretry.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

static int left, failed;

static void check(boxretry_error error) {
  if (error == BOXRETRY_OK) return;
  fprintf(stderr, "event_loop: %s: %s\n", boxretry_error_text(error), boxretry_last_error_detail());
  exit(EXIT_FAILURE);
}

static void check_system(int result, const char *what) {
  if (result >= 0) return;
  fprintf(stderr, "event_loop: %s: %s\n", what, strerror(errno));
  exit(EXIT_FAILURE);
}

/* Runs inside boxretry_client_drive(). */
static void on_complete(void *context, boxretry_call *call) {
  boxretry_response *response = boxretry_call_take_response(call);
  const boxretry_error error = boxretry_response_error(response);
  const int32_t status = boxretry_response_status(response);
  (void)context;
  printf("%s: ", boxretry_response_url(response));
  if (error != BOXRETRY_OK) {
    printf("%s", boxretry_error_text(error));
  } else {
    printf("status %d", status);
  }
  printf(", attempts: %lu\n", (unsigned long)boxretry_response_attempt_count(response));
  if (error != BOXRETRY_OK || status >= 400) failed++;
  left--;
  boxretry_response_free(response);
}

int main(int argc, char **argv) {
  boxretry_client_options options = BOXRETRY_CLIENT_OPTIONS_INIT;
  boxretry_client *client;
  struct epoll_event event = {0};
  if (argc < 2) {
    fputs("usage: event_loop URL...\n", stderr);
    return 2;
  }
  options.threads = BOXRETRY_THREADS_NONE;
  check(boxretry_client_new(&options, &client));
  const int loop = epoll_create1(EPOLL_CLOEXEC);
  check_system(loop, "epoll_create1");
  event.events = EPOLLIN;
  event.data.fd = boxretry_client_fd(client);
  check_system(epoll_ctl(loop, EPOLL_CTL_ADD, event.data.fd, &event), "epoll_ctl");

  for (int i = 1; i < argc; i++) {
    boxretry_request request = BOXRETRY_REQUEST_INIT;
    request.url = argv[i];
    request.on_complete = on_complete;
    check(boxretry_client_submit(client, &request, NULL)); /* the call is freed after on_complete */
    left++;
  }
  while (left > 0) {
    /* A real program also watches its other descriptors here. The client needs no timeout: its timers make the
     * descriptor readable too. */
    const int ready = epoll_wait(loop, &event, 1, -1);
    if (ready < 0 && errno == EINTR) continue;
    check_system(ready, "epoll_wait");
    check(boxretry_client_drive(client, 0));
  }
  close(loop);
  boxretry_client_free(client);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
