/* Forks while a call waits on a manual clock: fork_clocks KIND URL OTHER_URL
 *
 *     told       the clock moves when told, and the call waits for its retry
 *     by_itself  the clock advances by itself, and the call has just begun
 *
 * In the child, the clock and the client of the parent are refused, and freed; those that it makes itself reach OTHER_URL.
 * Then the call of the parent ends. Prints the status of both, and the seconds on each clock. */
#include "cases.h"
#include <sys/wait.h>
#include <unistd.h>

enum { PATIENCE = 50 /* seconds for a child: less than the 60 of a timeout */ };
static const double hour = 3600;

static boxretry_client *client_on(boxretry_clock *clock) {
  boxretry_client_options options = BOXRETRY_CLIENT_OPTIONS_INIT;
  boxretry_timeouts timeouts = BOXRETRY_TIMEOUTS_INIT;
  timeouts.timeout_interval_for_request_ms = BOXRETRY_NO_TIMEOUT; /* so that only a retry waits on the clock */
  timeouts.timeout_interval_for_resource_ms = BOXRETRY_NO_TIMEOUT;
  options.timeouts = &timeouts;
  options.clock = clock;
  return new_client(options, 5);
}

static void show(const char *who, boxretry_response *response, boxretry_clock *clock) {
  double seconds;
  ok(boxretry_clock_now(clock, BOXRETRY_TIMELINE_MONOTONIC, &seconds));
  printf("%s: %d, %.0f s\n", who, boxretry_response_status(response), seconds);
  boxretry_response_free(response);
}

static void refuses(boxretry_error error) {
  must(error == BOXRETRY_ERROR_FORKED, "an object of the parent is refused");
}

static void in_child(boxretry_clock *clock, boxretry_client *client, boxretry_call *call, boxretry_request request) {
  boxretry_response *response;
  boxretry_call *other;
  double seconds;
  alarm(PATIENCE);
  refuses(boxretry_client_perform(client, &request, &response));
  refuses(boxretry_client_submit(client, &request, &other));
  refuses(boxretry_call_wait(call, 0));
  refuses(boxretry_clock_now(clock, BOXRETRY_TIMELINE_MONOTONIC, &seconds));
  refuses(boxretry_clock_advance(clock, hour));
  refuses(boxretry_clock_set_auto_advance(clock, 1));
  boxretry_call_free(call);
  boxretry_client_free(client);
  boxretry_clock_free(clock);

  ok(boxretry_clock_new_manual(&clock));
  ok(boxretry_clock_set_auto_advance(clock, 1));
  client = client_on(clock);
  ok(boxretry_client_perform(client, &request, &response));
  show("child", response, clock);
  boxretry_client_free(client);
  boxretry_clock_free(clock);
}

int main(int count, char **arguments) {
  boxretry_request request = BOXRETRY_REQUEST_INIT;
  boxretry_clock *clock;
  boxretry_call *call;
  int status;
  must(count == 4, "fork_clocks KIND URL OTHER_URL");
  const bool is_told = strcmp(arguments[1], "told") == 0;
  ok(boxretry_clock_new_manual(&clock));
  if (!is_told) ok(boxretry_clock_set_auto_advance(clock, 1));
  boxretry_client *client = client_on(clock);
  request.url = arguments[2];
  ok(boxretry_client_submit(client, &request, &call));
  if (is_told) ok(boxretry_clock_wait_for_timer(clock, BOXRETRY_NO_TIMEOUT));
  const pid_t child = fork();
  must(child >= 0, "fork()");
  if (child == 0) {
    request.url = arguments[3];
    in_child(clock, client, call, request);
    fflush(stdout);
    _exit(0);
  }
  must(waitpid(child, &status, 0) == child && status == 0, "the child ends well");
  if (is_told) ok(boxretry_clock_advance(clock, hour));
  ok(boxretry_call_wait(call, BOXRETRY_NO_TIMEOUT));
  show("parent", boxretry_call_take_response(call), clock);
  boxretry_call_free(call);
  boxretry_client_free(client);
  boxretry_clock_free(clock);
  return 0;
}
