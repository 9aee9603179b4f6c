/* Cancels a thread that drives the loop of a client (F104): cancels WAY URL
 *
 * The URL never answers. WAY is what the thread is in: perform, wait, or queue. Another call of the same client has a
 * deadline of 500 ms, and must end with it. */
#include <boxretry.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { PATIENCE = 60 /* seconds */, DEADLINE = 500 /* milliseconds */ };

static boxretry_client *client;
static boxretry_queue *queue;
static const char *url, *way;

static void ok(boxretry_error error) {
  if (error == BOXRETRY_OK) return;
  fprintf(stderr, "%s: %s\n", boxretry_error_name(error), boxretry_last_error_detail());
  _exit(EXIT_FAILURE);
}

static void *drive(void *cancel) {
  boxretry_request request = BOXRETRY_REQUEST_INIT;
  boxretry_response *response;
  boxretry_call *call;
  request.url = url;
  request.cancel = cancel;
  if (strcmp(way, "perform") == 0) {
    ok(boxretry_client_perform(client, &request, &response));
    boxretry_response_free(response);
  } else if (strcmp(way, "wait") == 0) {
    ok(boxretry_client_submit(client, &request, &call));
    ok(boxretry_call_wait(call, BOXRETRY_NO_TIMEOUT));
    boxretry_call_free(call);
  } else {
    request.queue = queue;
    ok(boxretry_client_submit(client, &request, NULL));
    if (boxretry_queue_take(queue, &call, 1, BOXRETRY_NO_TIMEOUT) == 1) boxretry_call_free(call);
  }
  pthread_testcancel();
  return NULL; /* PTHREAD_CANCELED instead, since the cancellation has been pending */
}

int main(int argc, char **argv) {
  boxretry_client_options options = BOXRETRY_CLIENT_OPTIONS_INIT;
  boxretry_request request = BOXRETRY_REQUEST_INIT;
  boxretry_cancel *cancel;
  boxretry_call *call;
  boxretry_response *response;
  boxretry_client_stats stats = BOXRETRY_CLIENT_STATS_INIT;
  const struct timespec moment = {0, 1000000};
  pthread_t thread;
  void *result;
  if (argc != 3) return 2;
  alarm(PATIENCE);
  way = argv[1];
  url = argv[2];
  options.proxy_mode = BOXRETRY_PROXY_NONE;
  ok(boxretry_client_new(&options, &client));
  ok(boxretry_queue_new(&queue));
  ok(boxretry_cancel_new(&cancel));
  if (pthread_create(&thread, NULL, drive, cancel) != 0) return 2;
  do {
    nanosleep(&moment, NULL);
    ok(boxretry_client_get_stats(client, &stats));
  } while (stats.attempts == 0);
  for (int i = 0; i < 20; i++)
    nanosleep(&moment, NULL); /* it is in epoll_wait() now, a cancellation point */
  pthread_cancel(thread);
  request.url = url;
  request.deadline_ms = DEADLINE;
  ok(boxretry_client_submit(client, &request, &call));
  ok(boxretry_call_wait(call, BOXRETRY_NO_TIMEOUT));
  response = boxretry_call_take_response(call);
  printf("%s, ", boxretry_error_name(boxretry_response_error(response)));
  boxretry_response_free(response);
  boxretry_call_free(call);
  boxretry_cancel_trigger(cancel);
  pthread_join(thread, &result);
  puts(result == PTHREAD_CANCELED ? "then the thread was cancelled" : "the thread was not cancelled");
  ok(boxretry_client_close(client, BOXRETRY_NO_TIMEOUT));
  boxretry_client_free(client);
  boxretry_queue_free(queue);
  boxretry_cancel_free(cancel);
  return 0;
}
