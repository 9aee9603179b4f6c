/*
 * A token provider that answers asynchronously, in a program with an event loop.
 *
 * The provider and the token callbacks run on threads of the library. Both only send a message to the loop, here
 * through a pipe, and return; the loop does the work. Two callers need a token, but the provider is called once.
 * Build: cc token_provider.c $(pkg-config --cflags --libs boxretry)
 */
#include <boxretry.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct message {
  boxretry_token_request *request; /* the request to answer; if NULL: */
  boxretry_error error;
  boxretry_token *token;
  char detail[240];
} message;

static int to_loop[2]; /* a pipe: the messages are shorter than PIPE_BUF, so each is written atomically */

static void send_to_loop(const message *sent) {
  if (write(to_loop[1], sent, sizeof *sent) != (ssize_t)sizeof *sent) abort();
}

static void provide(void *context, boxretry_token_request *request) {
  message sent = {0};
  (void)context;
  boxretry_token_request_retain(request); /* keeps it valid after this function has returned */
  sent.request = request;
  send_to_loop(&sent);
}

static void on_token(void *context, boxretry_error error, boxretry_token *token) {
  message sent = {0};
  (void)context;
  sent.error = error;
  sent.token = token;
  snprintf(sent.detail, sizeof sent.detail, "%s", error == BOXRETRY_OK ? "" : boxretry_last_error_detail());
  send_to_loop(&sent);
}

static void check(boxretry_error error) {
  if (error == BOXRETRY_OK) return;
  fprintf(stderr, "%s: %s\n", boxretry_error_text(error), boxretry_last_error_detail());
  exit(EXIT_FAILURE);
}

/* A real provider asks a backend here, and answers when the response arrives. */
static void answer(boxretry_token_request *request) {
  static const char token[] = "a-secret-from-the-backend";
  puts("the provider is called");
  check(boxretry_token_request_succeed(request, token, sizeof token - 1, 3600));
  boxretry_token_request_release(request);
}

static void use(const message *received) {
  if (received->error != BOXRETRY_OK) {
    printf("no token: %s\n", received->detail);
    return;
  }
  printf("a token of generation %d, for %.0f s\n", (int)boxretry_token_generation(received->token),
         boxretry_token_expires_in(received->token));
  boxretry_token_free(received->token);
}

int main(void) {
  boxretry_token_options options = BOXRETRY_TOKEN_OPTIONS_INIT;
  boxretry_token_source *source;
  int callers = 2;
  if (pipe(to_loop) != 0) return EXIT_FAILURE;
  options.provider = provide;
  check(boxretry_token_source_new(&options, &source));
  for (int i = 0; i < callers; i++)
    check(boxretry_token_source_get_async(source, NULL, on_token, NULL));
  while (callers > 0) { /* the event loop */
    message received;
    if (read(to_loop[0], &received, sizeof received) != (ssize_t)sizeof received) return EXIT_FAILURE;
    if (received.request) {
      answer(received.request);
    } else {
      use(&received);
      callers--;
    }
  }
  boxretry_token_source_free(source);
  return EXIT_SUCCESS;
}
