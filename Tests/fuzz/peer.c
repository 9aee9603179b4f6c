#include "peer.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { PATIENCE = 2 /* milliseconds for another request on a connection */, HEARD = 8192 };

static int listeners[2];
static int port;
static char path[64];

/* What is being said; guarded by the lock. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const uint8_t *script;
static size_t left;
static bool keeps_connections;

const char *peer_socket(void) {
  return path;
}

int peer_port(void) {
  return port;
}

void peer_play(const uint8_t *bytes, size_t size, bool keeps) {
  pthread_mutex_lock(&lock);
  script = bytes;
  left = size;
  keeps_connections = keeps;
  pthread_mutex_unlock(&lock);
}

/* --- Whose answer it is --- */

enum { OWN_LENGTH = sizeof PEER_OWN - 1, SECRET_LENGTH = OWN_LENGTH - 1 };

/* What no input knows. */
static char secret[SECRET_LENGTH + 1];

static void name_request(char *part, size_t length, const char *heard) {
  const char *path = strstr(heard, PEER_OWN_PATH);
  if (!path || !path[sizeof PEER_OWN_PATH - 1]) return;
  for (size_t i = 0; i + OWN_LENGTH <= length; i++) {
    if (memcmp(part + i, PEER_OWN, OWN_LENGTH) != 0) continue;
    memcpy(part + i, secret, SECRET_LENGTH);
    part[i + SECRET_LENGTH] = path[sizeof PEER_OWN_PATH - 1];
  }
}

bool peer_names_another(const char *bytes, size_t length, int digit) {
  for (size_t i = 0; i + OWN_LENGTH <= length; i++)
    if (memcmp(bytes + i, secret, SECRET_LENGTH) == 0 && bytes[i + SECRET_LENGTH] != '0' + digit) return true;
  return false;
}

/* --- What it says --- */

/* Takes the next part: a copy, since the input goes when the target returns. */
static char *next_part(size_t *length, bool *keeps) {
  pthread_mutex_lock(&lock);
  *keeps = keeps_connections && left > 0;
  const size_t separator = sizeof PEER_SEPARATOR - 1;
  size_t end = 0;
  while (end < left && (left - end < separator || memcmp(script + end, PEER_SEPARATOR, separator) != 0))
    end++;
  char *part;
  if (left == 0) {
    *length = sizeof PEER_ANSWER - 1;
    part = new_string(PEER_ANSWER, *length);
  } else {
    *length = end;
    part = new_string(script, end);
    const size_t used = end < left ? end + separator : end;
    script += used;
    left -= used;
  }
  pthread_mutex_unlock(&lock);
  return part;
}

/* The head of a request has come, or the beginning of HTTP/2. False: nothing more comes. */
static bool hear(int connection, int timeout, char text[HEARD]) {
  size_t length = 0;
  text[0] = '\0';
  while (length < HEARD - 1) {
    struct pollfd readable = {connection, POLLIN, 0};
    if (poll(&readable, 1, timeout) <= 0) return false;
    const ssize_t count = recv(connection, text + length, HEARD - 1 - length, 0);
    if (count <= 0) return false;
    length += (size_t)count;
    text[length] = '\0';
    if (strstr(text, "\r\n\r\n")) return true;
  }
  return true; /* a large body */
}

/* Ends the connection before this one, whose peer has read the answer: at once, so that the kernel does not keep the port
 * for a minute, of which there are not enough. */
static void end_previous(int connection) {
  static int previous = -1;
  const struct linger now = {1, 0};
  if (previous >= 0) {
    setsockopt(previous, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    close(previous);
  }
  previous = connection;
}

static void talk(int connection) {
  bool keeps = true;
  char heard[HEARD];
  for (int timeout = 1000; keeps && hear(connection, timeout, heard); timeout = PATIENCE) {
    size_t length;
    char *part = next_part(&length, &keeps);
    name_request(part, length, heard);
    if (send(connection, part, length, MSG_NOSIGNAL) != (ssize_t)length) keeps = false;
    free(part);
  }
  shutdown(connection, SHUT_WR);
}

static void *run(void *unused) {
  for (;;) {
    struct pollfd ready[] = {{listeners[0], POLLIN, 0}, {listeners[1], POLLIN, 0}};
    if (poll(ready, 2, -1) < 0) continue;
    for (int i = 0; i < 2; i++) {
      const int connection = ready[i].revents ? accept(listeners[i], NULL, NULL) : -1;
      if (connection < 0) continue;
      talk(connection);
      end_previous(connection);
    }
  }
  return unused;
}

static void remove_socket(void) {
  unlink(path);
}

void peer_start(void) {
  static bool is_started;
  struct sockaddr_un local = {.sun_family = AF_UNIX};
  struct sockaddr_in host = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t length = sizeof host;
  pthread_t thread;
  if (is_started) return;
  is_started = true;
  snprintf(secret, sizeof secret, "%08lx%07lx", (unsigned long)time(NULL) & 0xffffffff,
           (unsigned long)getpid() & 0xfffffff);
  snprintf(path, sizeof path, "/tmp/boxretry-peer-%ld", (long)getpid());
  memcpy(local.sun_path, path, strlen(path) + 1);
  listeners[0] = socket(AF_UNIX, SOCK_STREAM, 0);
  listeners[1] = socket(AF_INET, SOCK_STREAM, 0);
  unlink(path);
  REQUIRE(bind(listeners[0], (struct sockaddr *)&local, sizeof local) == 0, "there is a place for a socket");
  REQUIRE(bind(listeners[1], (struct sockaddr *)&host, sizeof host) == 0, "there is a port");
  REQUIRE(listen(listeners[0], 64) == 0 && listen(listeners[1], 64) == 0, "they can be listened at");
  REQUIRE(getsockname(listeners[1], (struct sockaddr *)&host, &length) == 0, "the port has a number");
  port = ntohs(host.sin_port);
  atexit(remove_socket);
  REQUIRE(pthread_create(&thread, NULL, run, NULL) == 0, "there is a thread");
  pthread_detach(thread);
}
