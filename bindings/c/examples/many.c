/* Fetches all URLs in parallel, in the program's own event loop: many URL...
 *
 * The loop uses epoll; a queue's descriptor is watched like any other.
 * Build: cc many.c $(pkg-config --cflags --libs boxretry) */
#include <boxretry.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

static void check(boxretry_error error) {
  if (error == BOXRETRY_OK) return;
  fprintf(stderr, "many: %s: %s\n", boxretry_error_text(error), boxretry_last_error_detail());
  exit(EXIT_FAILURE);
}

static void check_system(int result, const char *what) {
  if (result >= 0) return;
  fprintf(stderr, "many: %s: %s\n", what, strerror(errno));
  exit(EXIT_FAILURE);
}

static void submit(boxretry_client *client, boxretry_queue *queue, const char *url) {
  boxretry_request request = BOXRETRY_REQUEST_INIT;
  request.url = url;
  request.queue = queue;
  check(boxretry_client_submit(client, &request, NULL)); /* the queue returns the call when it has ended */
}

/* Prints the result of a call, and frees it. Returns whether it succeeded. */
static int finish(boxretry_call *call) {
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
  boxretry_response_free(response);
  boxretry_call_free(call);
  return error == BOXRETRY_OK && status < 400;
}

int main(int argc, char **argv) {
  boxretry_client *client;
  boxretry_queue *queue;
  struct epoll_event event = {0};
  int failed = 0, left = argc - 1;
  if (argc < 2) {
    fputs("usage: many URL...\n", stderr);
    return 2;
  }
  check(boxretry_client_new(NULL, &client));
  check(boxretry_queue_new(&queue));
  const int loop = epoll_create1(EPOLL_CLOEXEC);
  check_system(loop, "epoll_create1");
  event.events = EPOLLIN;
  event.data.fd = boxretry_queue_fd(queue);
  check_system(epoll_ctl(loop, EPOLL_CTL_ADD, event.data.fd, &event), "epoll_ctl");

  for (int i = 1; i < argc; i++)
    submit(client, queue, argv[i]);
  while (left > 0) {
    boxretry_call *ended[16];
    const int ready = epoll_wait(loop, &event, 1, -1); /* a real program also watches its other descriptors here */
    if (ready < 0 && errno == EINTR) continue;
    check_system(ready, "epoll_wait");
    const size_t count = boxretry_queue_take(queue, ended, 16, 0);
    for (size_t i = 0; i < count; i++, left--) {
      if (!finish(ended[i])) failed++;
    }
  }
  close(loop);
  boxretry_queue_free(queue);
  boxretry_client_free(client);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
