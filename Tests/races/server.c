#define _GNU_SOURCE /* strcasestr */
#include "server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MAXIMUM_DESCRIPTORS = 4096, REQUEST_SIZE = 2048 };

/* What has been read of a connection's next request, by descriptor. Of a body that is there only as much is kept as came
 * with the head, until the next bytes come. */
typedef struct connection {
  size_t length;
  size_t skipped; /* bytes of the body that are gone already */
  char text[REQUEST_SIZE + 1];
} connection;

static connection *connections[MAXIMUM_DESCRIPTORS];
static int listener, events, stop_pipe[2];
static pthread_t thread;
static unsigned flaky_requests, cut_requests;

#define HELLO "Content-Type: text/plain\r\nContent-Length: 6\r\n\r\nhello\n"
#define MISSING "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"
#define TOKEN                                                                                                          \
  "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 45\r\n\r\n"                                                 \
  "{\"access_token\":\"secret\",\"expires_in\":\"3600\"}"
#define REJECTED "HTTP/1.1 401 Unauthorized\r\nContent-Length: 24\r\n\r\n{\"code\":\"token_expired\"}"
#define MOVED "HTTP/1.1 307 Temporary Redirect\r\nLocation: /\r\nContent-Length: 0\r\n\r\n"
#define SEE_OTHER "HTTP/1.1 303 See Other\r\nLocation: #part\r\nContent-Length: 0\r\n\r\n"
#define CODED "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 26\r\n\r\n"
#define CODED_HELLO                                                                                                    \
  "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\xcb\x48\xcd"                                                               \
  "\xc9\xc9\xe7\x02\x00\x20\x30\x3a\x36\x06\x00\x00\x00" /* "hello\n", by gzip */
#define CUT "HTTP/1.1 200 OK\r\nETag: \"1\"\r\nContent-Length: 12\r\n\r\nhello\n"
#define LATER "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1000\r\nContent-Length: 0\r\n\r\n"
#define BUSY "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 0\r\nContent-Length: 5\r\n\r\nbusy\n"

static void fail(const char *what) {
  fprintf(stderr, "server: %s: %s\n", what, strerror(errno));
  exit(EXIT_FAILURE);
}

static void watch(int descriptor) {
  struct epoll_event event = {.events = EPOLLIN, .data.fd = descriptor};
  if (epoll_ctl(events, EPOLL_CTL_ADD, descriptor, &event) != 0) fail("epoll_ctl");
}

static void hang_up(int descriptor) {
  free(connections[descriptor]);
  connections[descriptor] = NULL;
  /* A child of fork() may have it, too: to close it would neither end the connection nor take it out of epoll. */
  epoll_ctl(events, EPOLL_CTL_DEL, descriptor, NULL);
  shutdown(descriptor, SHUT_RDWR);
  close(descriptor);
}

static bool asks_for(const connection *peer, const char *path) {
  const char *target = strchr(peer->text, ' ');
  return target && strncmp(target + 1, path, strlen(path)) == 0;
}

static bool send_all(int descriptor, const char *bytes, size_t length) {
  return send(descriptor, bytes, length, MSG_NOSIGNAL) == (ssize_t)length;
}

static bool answer_large(int descriptor) {
  static char body[SERVER_LARGE];
  char head[64];
  memset(body, 'x', sizeof body);
  const int length = snprintf(head, sizeof head, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n", SERVER_LARGE);
  return send_all(descriptor, head, (size_t)length) && send_all(descriptor, body, sizeof body);
}

static bool answer_coded(int descriptor) {
  static const char response[] = CODED CODED_HELLO;
  return send_all(descriptor, response, sizeof response - 1);
}

/* Answers the request that stands at the beginning of the text. False: the connection is to end. */
static bool answer(int descriptor, const connection *peer) {
  const char *response = "HTTP/1.1 200 OK\r\n" HELLO;
  if (asks_for(peer, "/silent")) return true;
  if (asks_for(peer, "/broken")) return false;
  if (asks_for(peer, "/restart")) flaky_requests = cut_requests = 0;
  if (asks_for(peer, "/large")) return answer_large(descriptor);
  if (asks_for(peer, "/coded")) return answer_coded(descriptor);
  if (asks_for(peer, "/token")) response = TOKEN;
  if (asks_for(peer, "/missing")) response = MISSING;
  if (asks_for(peer, "/rejected")) response = REJECTED;
  if (asks_for(peer, "/moved")) response = MOVED;
  if (asks_for(peer, "/other") && strncmp(peer->text, "POST ", 5) == 0) response = SEE_OTHER;
  if (asks_for(peer, "/later")) response = LATER;
  const bool is_cut = asks_for(peer, "/cut") && cut_requests++ % 2 == 0;
  if (is_cut) response = CUT;
  if (asks_for(peer, "/busy") || (asks_for(peer, "/flaky") && flaky_requests++ % 2 == 0)) response = BUSY;
  return send_all(descriptor, response, strlen(response)) && !is_cut;
}

/* Of a request, by its head, which ends in an empty line. */
static size_t body_length(const char *head) {
  const char *field = strcasestr(head, "\r\nContent-Length:"), *end = strstr(head, "\r\n\r\n");
  return field && field < end ? strtoul(field + strlen("\r\nContent-Length:"), NULL, 10) : 0;
}

/* Reads what there is, and answers each request that is complete. False: the connection is to end. */
static bool serve(int descriptor, connection *peer) {
  const ssize_t count = recv(descriptor, peer->text + peer->length, REQUEST_SIZE - peer->length, 0);
  if (count <= 0) return false;
  peer->length += (size_t)count;
  peer->text[peer->length] = '\0';
  for (char *end; (end = strstr(peer->text, "\r\n\r\n")) != NULL;) {
    const size_t head = (size_t)(end + 4 - peer->text), body = peer->length - head;
    const size_t missing = body_length(peer->text) - peer->skipped;
    if (body < missing) {
      peer->skipped += body;
      peer->length = head;
      return true;
    }
    if (!answer(descriptor, peer)) return false;
    peer->length = body - missing;
    peer->skipped = 0;
    memmove(peer->text, peer->text + head + missing, peer->length);
    peer->text[peer->length] = '\0';
  }
  return peer->length < REQUEST_SIZE;
}

static void welcome(void) {
  const int descriptor = accept(listener, NULL, NULL);
  if (descriptor < 0) return; /* the peer has gone already */
  if (descriptor >= MAXIMUM_DESCRIPTORS) {
    close(descriptor);
    return;
  }
  connections[descriptor] = calloc(1, sizeof(connection));
  if (!connections[descriptor]) fail("calloc");
  watch(descriptor);
}

static void *run(void *unused) {
  struct epoll_event ready[64];
  for (;;) {
    const int count = epoll_wait(events, ready, 64, -1);
    for (int i = 0; i < count; i++) {
      const int descriptor = ready[i].data.fd;
      if (descriptor == stop_pipe[0]) return unused;
      if (descriptor == listener) {
        welcome();
      } else if (!serve(descriptor, connections[descriptor])) {
        hang_up(descriptor);
      }
    }
  }
}

int server_start(void) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t length = sizeof address;
  listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  events = epoll_create1(EPOLL_CLOEXEC);
  if (listener < 0 || events < 0 || pipe(stop_pipe) != 0) fail("descriptors");
  if (bind(listener, (struct sockaddr *)&address, length) != 0 || listen(listener, 4096) != 0 ||
      getsockname(listener, (struct sockaddr *)&address, &length) != 0) {
    fail("listen");
  }
  watch(listener);
  watch(stop_pipe[0]);
  if (pthread_create(&thread, NULL, run, NULL) != 0) fail("pthread_create");
  return ntohs(address.sin_port);
}

void server_stop(void) {
  if (write(stop_pipe[1], "", 1) != 1) fail("write");
  pthread_join(thread, NULL);
  for (int descriptor = 0; descriptor < MAXIMUM_DESCRIPTORS; descriptor++) {
    if (connections[descriptor]) hang_up(descriptor);
  }
  close(listener);
  close(events);
  close(stop_pipe[0]);
  close(stop_pipe[1]);
}
