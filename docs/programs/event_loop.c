/* Build: cc event_loop.c -o event_loop $(pkg-config --cflags --libs boxretry) */
#include <boxretry.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

static void check(boxretry_error error) {
  if (error == BOXRETRY_OK) return;
  fprintf(stderr, "%s: %s\n", boxretry_error_text(error), boxretry_last_error_detail());
  exit(EXIT_FAILURE);
}

int main(int argc, char **argv) {
  boxretry_client *client;
  boxretry_queue *queue;
  struct pollfd sources[1] = {{0}}; /* add those of your program here */
  int left = argc - 1, successes = 0;
  check(boxretry_client_new(NULL, &client));
  check(boxretry_queue_new(&queue));
  for (int i = 1; i < argc; i++) {
    boxretry_request request = BOXRETRY_REQUEST_INIT;
    request.url = argv[i];
    request.queue = queue;
    check(boxretry_client_submit(client, &request, NULL)); /* the queue returns it when it ends */
  }
  sources[0].fd = boxretry_queue_fd(queue);
  sources[0].events = POLLIN;
  while (left > 0 && poll(sources, 1, -1) > 0) {
    boxretry_call *ended[16];
    const size_t count = boxretry_queue_take(queue, ended, 16, 0); /* 0: does not wait */
    for (size_t i = 0; i < count; i++, left--) {
      boxretry_response *response = boxretry_call_take_response(ended[i]);
      successes += boxretry_response_error(response) == BOXRETRY_OK && boxretry_response_status(response) == 200;
      boxretry_response_free(response);
      boxretry_call_free(ended[i]);
    }
  }
  printf("%d of %d\n", successes, argc - 1);
  boxretry_queue_free(queue);
  boxretry_client_free(client);
  return left == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
