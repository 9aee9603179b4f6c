/* Forks at the worst moment: forks KIND ROUNDS URL CA_FILE
 *
 *     first_client  another thread is in the first boxretry_client_new() of the process
 *     busy          other threads connect, over TLS, to the URL, which answers at once
 *
 * In each round, the child makes a client, and sends a request if the URL is not empty. It exits with 1 if that fails; a
 * child that hangs is killed by SIGALRM. */
#include <boxretry.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PATIENCE = 50 /* seconds for a child: less than the 60 of a timeout */ };

static const char *url, *ca_file;
static boxretry_client *shared;
static atomic_int is_over;

/* Up to that many nanoseconds. */
static void dawdle(long most) {
  const struct timespec time = {0, rand() % most};
  nanosleep(&time, NULL);
}

static boxretry_client *new_client(void) {
  boxretry_client_options options = BOXRETRY_CLIENT_OPTIONS_INIT;
  boxretry_client *client;
  options.ca_file = ca_file;
  options.proxy_mode = BOXRETRY_PROXY_NONE;
  if (boxretry_client_new(&options, &client) == BOXRETRY_OK) return client;
  fprintf(stderr, "%s\n", boxretry_last_error_detail());
  _exit(1);
}

/* 0 if all is well. */
static int send_request(boxretry_client *client) {
  boxretry_request request = BOXRETRY_REQUEST_INIT;
  boxretry_response *response;
  request.url = url;
  if (boxretry_client_perform(client, &request, &response) != BOXRETRY_OK) return 1;
  const int32_t status = boxretry_response_status(response);
  boxretry_response_free(response);
  return status != 200;
}

static int run_child(void) {
  alarm(PATIENCE);
  boxretry_client *client = new_client();
  const int failed = *url ? send_request(client) : 0;
  boxretry_client_free(client);
  return failed;
}

/* The status of a child that is forked now; 1 if it was killed. */
static int fork_now(void) {
  int status;
  const pid_t child = fork();
  if (child == 0) _exit(run_child());
  if (child < 0 || waitpid(child, &status, 0) != child) return 1;
  if (WIFSIGNALED(status)) fprintf(stderr, "killed by signal %d\n", WTERMSIG(status));
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

static void *make_first_client(void *unused) {
  (void)unused;
  boxretry_client_free(new_client());
  return NULL;
}

/* In a process that has not used the library yet. */
static int first_client(void) {
  int status;
  const pid_t fresh = fork();
  if (fresh == 0) {
    pthread_t thread;
    srand((unsigned)getpid());
    alarm(2 * PATIENCE);
    if (pthread_create(&thread, NULL, make_first_client, NULL) != 0) _exit(1);
    dawdle(6000000);
    const int failed = fork_now();
    pthread_join(thread, NULL);
    _exit(failed);
  }
  if (fresh < 0 || waitpid(fresh, &status, 0) != fresh) return 1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

static void *connect_again_and_again(void *unused) {
  (void)unused;
  while (!atomic_load(&is_over)) {
    boxretry_client *client = new_client(); /* a new one has no connections */
    send_request(client);
    boxretry_client_free(client);
    send_request(shared);
  }
  return NULL;
}

static int busy(void) {
  dawdle(2000000);
  return fork_now();
}

int main(int argc, char **argv) {
  if (argc != 5) return 2;
  const int is_busy = strcmp(argv[1], "busy") == 0;
  const long rounds = strtol(argv[2], NULL, 10);
  pthread_t threads[3];
  int failed = 0;
  url = argv[3];
  ca_file = *argv[4] ? argv[4] : NULL;
  if (is_busy) shared = new_client();
  for (int i = 0; i < 3 && is_busy; i++)
    if (pthread_create(&threads[i], NULL, connect_again_and_again, NULL) != 0) return 2;
  for (long i = 0; i < rounds; i++)
    failed += (is_busy ? busy() : first_client()) != 0;
  atomic_store(&is_over, 1);
  for (int i = 0; i < 3 && is_busy; i++)
    pthread_join(threads[i], NULL);
  boxretry_client_free(shared);
  printf("%ld rounds, %d failed\n", rounds, failed);
  return failed != 0;
}
