/* Calls that wait for their next attempt: waiting URL COUNT
 *
 * The URL answers with a 503 and a long Retry-After. When all calls wait, prints the bytes of memory that one takes, the
 * microseconds of processor time that it took to get so far, and those that it takes to cancel one. */
#include "costs.h"

#include <stdatomic.h>

static atomic_long waiting;

static void on_event(void *context, const boxretry_event *event) {
  (void)context;
  if (event->kind == BOXRETRY_EVENT_RETRY_SCHEDULED) atomic_fetch_add(&waiting, 1);
}

int main(int argc, char **argv) {
  if (argc != 3) return fputs("usage: waiting URL COUNT\n", stderr), 2;
  const long count = strtol(argv[2], NULL, 10);
  boxretry_client_options options = BOXRETRY_CLIENT_OPTIONS_INIT;
  boxretry_request request = BOXRETRY_REQUEST_INIT;
  boxretry_client *client;
  boxretry_queue *queue;
  options.on_event = on_event;
  options.max_transfers = 64;
  require(boxretry_client_new(&options, &client) == BOXRETRY_OK, "boxretry_client_new");
  require(boxretry_queue_new(&queue) == BOXRETRY_OK, "boxretry_queue_new");
  request.url = argv[1];
  request.queue = queue;

  const double kib = (double)memory_kib("VmRSS:"), began = processor_time();
  for (long i = 0; i < count; i++)
    require(boxretry_client_submit(client, &request, NULL) == BOXRETRY_OK, "boxretry_client_submit");
  const struct timespec moment = {0, 1000000};
  while (atomic_load(&waiting) < count)
    nanosleep(&moment, NULL);
  const double bytes = ((double)memory_kib("VmRSS:") - kib) * 1024 / (double)count;
  const double all_wait = processor_time();

  require(boxretry_client_close(client, BOXRETRY_NO_TIMEOUT) == BOXRETRY_OK, "boxretry_client_close");
  const double ended = processor_time();
  boxretry_queue_free(queue);
  boxretry_client_free(client);
  printf("%.0f %.3f %.3f\n", bytes, (all_wait - began) / (double)count * 1e6, (ended - all_wait) / (double)count * 1e6);
  return EXIT_SUCCESS;
}
