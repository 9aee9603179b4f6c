/* How late idle timeouts are (M5): idle COUNT TIMEOUT_MS
 *
 * COUNT requests at once to a server that never answers. For each, the time from the moment at which the kernel gave
 * the request to the server, the last thing that moved (or from the beginning of its attempt, if it never came), to the
 * call's end, minus the timeout: below 0 it is early. Where the machine is so busy that the kernel itself is late in
 * handing on what has been sent, that is seen here as early, too. Prints how many were early, and the least, the median,
 * the 99th percentile and the most, in milliseconds. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <boxretry.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static void require(int condition, const char *what) {
  if (condition) return;
  fprintf(stderr, "idle: %s: %s\n", what, boxretry_last_error_detail());
  exit(EXIT_FAILURE);
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_REALTIME, &time); /* the kernel's time stamps are on this one */
  return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

/* When something last moved: when each request came, or, where none came, when its attempt began; and when its call ended.
 * The server is another process. */
static double *came, *began, *ended;
static long count;
static atomic_long calls_ended;

static void read_request(int descriptor) {
  char text[4096], control[256];
  struct iovec place = {text, sizeof text - 1};
  struct msghdr message = {
      .msg_iov = &place, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
  const ssize_t length = recvmsg(descriptor, &message, 0);
  if (length <= 0) {
    close(descriptor);
    return;
  }
  text[length] = '\0';
  const long number = strncmp(text, "GET /", 5) == 0 ? strtol(text + 5, NULL, 10) : -1;
  for (struct cmsghdr *it = CMSG_FIRSTHDR(&message); it; it = CMSG_NXTHDR(&message, it)) {
    if (it->cmsg_level != SOL_SOCKET || it->cmsg_type != SCM_TIMESTAMPNS || number < 0 || number >= count) continue;
    struct timespec time;
    memcpy(&time, CMSG_DATA(it), sizeof time);
    came[number] = (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
  }
}

static _Noreturn void serve(int listener) {
  const int events = epoll_create1(0);
  struct epoll_event event = {.events = EPOLLIN, .data.fd = listener}, ready[64];
  epoll_ctl(events, EPOLL_CTL_ADD, listener, &event);
  for (;;) {
    const int number = epoll_wait(events, ready, 64, -1);
    for (int i = 0; i < number; i++) {
      if (ready[i].data.fd != listener) {
        read_request(ready[i].data.fd);
        continue;
      }
      event.data.fd = accept(listener, NULL, NULL); /* the time stamp option is the listener's */
      if (event.data.fd >= 0) epoll_ctl(events, EPOLL_CTL_ADD, event.data.fd, &event);
    }
  }
}

static pid_t start_server(int *port) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t length = sizeof address;
  const int listener = socket(AF_INET, SOCK_STREAM, 0), on = 1;
  require(listener >= 0 && setsockopt(listener, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on) == 0 &&
              bind(listener, (struct sockaddr *)&address, length) == 0 && listen(listener, 16384) == 0 &&
              getsockname(listener, (struct sockaddr *)&address, &length) == 0,
          "listen");
  *port = ntohs(address.sin_port);
  const pid_t child = fork();
  require(child >= 0, "fork");
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    serve(listener);
  }
  close(listener);
  return child;
}

static void on_event(void *context, const boxretry_event *event) {
  (void)context;
  if (event->kind == BOXRETRY_EVENT_ATTEMPT_BEGAN) began[(double *)event->user_pointer - ended] = now();
}

static void on_end(void *context, boxretry_call *call) {
  boxretry_response *response = boxretry_call_take_response(call);
  require(boxretry_response_error(response) == BOXRETRY_ERROR_TIMEOUT_IDLE,
          boxretry_error_name(boxretry_response_error(response)));
  ended[(double *)context - ended] = now();
  boxretry_response_free(response);
  atomic_fetch_add(&calls_ended, 1);
}

static int in_order(const void *left, const void *right) {
  const double a = *(const double *)left, b = *(const double *)right;
  return (a > b) - (a < b);
}

int main(int argc, char **argv) {
  boxretry_retry_options retry = BOXRETRY_RETRY_OPTIONS_INIT;
  boxretry_client_options options = BOXRETRY_CLIENT_OPTIONS_INIT;
  boxretry_timeouts timeouts = BOXRETRY_TIMEOUTS_INIT;
  boxretry_request request = BOXRETRY_REQUEST_INIT;
  boxretry_strategy *strategy;
  boxretry_client *client;
  int port, early = 0;
  if (argc != 3) return fputs("usage: idle COUNT TIMEOUT_MS\n", stderr), 2;
  count = strtol(argv[1], NULL, 10);
  const size_t size = (size_t)count * sizeof(double);
  came = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  began = calloc(1, size);
  ended = calloc(1, size);
  require(came != MAP_FAILED && began && ended, "memory");
  const pid_t server = start_server(&port);

  retry.max_retries_on_exception = 0;
  timeouts.timeout_interval_for_request_ms = strtol(argv[2], NULL, 10);
  require(boxretry_strategy_new(&retry, &strategy) == BOXRETRY_OK, "boxretry_strategy_new");
  options.strategy = strategy;
  options.timeouts = &timeouts;
  options.on_event = on_event;
  options.max_transfers = (int32_t)count;
  require(boxretry_client_new(&options, &client) == BOXRETRY_OK, "boxretry_client_new");
  for (long i = 0; i < count; i++) {
    char url[64];
    snprintf(url, sizeof url, "http://127.0.0.1:%d/%ld", port, i);
    request.url = url;
    request.user_pointer = &ended[i];
    request.on_complete = on_end;
    request.on_complete_context = &ended[i];
    require(boxretry_client_submit(client, &request, NULL) == BOXRETRY_OK, "boxretry_client_submit");
  }
  while (atomic_load(&calls_ended) < count)
    nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
  boxretry_client_close(client, BOXRETRY_NO_TIMEOUT);
  boxretry_client_free(client);
  boxretry_strategy_free(strategy);
  kill(server, SIGKILL);

  for (long i = 0; i < count; i++) {
    came[i] = ended[i] - (came[i] > 0 ? came[i] : began[i]) - (double)timeouts.timeout_interval_for_request_ms;
    early += came[i] < 0;
  }
  qsort(came, (size_t)count, sizeof *came, in_order);
  printf("%d %.2f %.2f %.2f %.2f\n", early, came[0], came[count / 2], came[count * 99 / 100], came[count - 1]);
  return EXIT_SUCCESS;
}
