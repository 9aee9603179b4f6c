/* Information about the connection that libcurl has chosen for a transfer. */
#define _GNU_SOURCE /* dladdr, POLLRDHUP */
#include "curl_handles.h"
#include "keyed_hash.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

/* --- TLS --- */

#ifdef BOXRETRY_STATIC_CURL
/* A static libcurl includes OpenSSL. */
extern void SSL_get0_alpn_selected(const void *ssl, const unsigned char **name, unsigned *length);
extern int SSL_has_pending(const void *ssl);
extern const char *X509_verify_cert_error_string(long result);
#endif

static void (*get_alpn)(const void *ssl, const unsigned char **name, unsigned *length);
static int (*has_pending)(const void *ssl);
static const char *(*verify_text)(long result); /* static texts */

void shim_tls_find(void) {
#ifdef BOXRETRY_STATIC_CURL
  get_alpn = SSL_get0_alpn_selected;
  has_pending = SSL_has_pending;
  verify_text = X509_verify_cert_error_string;
#else
  /* Looks in libcurl and the libraries that it was linked with: the process may have loaded another OpenSSL as well. */
  Dl_info libcurl;
  void *const init = (void *)(uintptr_t)curl_easy_init;
  void *const handle = dladdr(init, &libcurl) ? dlopen(libcurl.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : NULL;
  if (!handle) return;
  void *const alpn = dlsym(handle, "SSL_get0_alpn_selected");
  void *const pending = dlsym(handle, "SSL_has_pending");
  void *const text = dlsym(handle, "X509_verify_cert_error_string");
  if (text) memcpy(&verify_text, &text, sizeof text);
  if (alpn && pending) {
    memcpy(&get_alpn, &alpn,
           sizeof alpn); /* ISO C does not allow a cast from an object pointer to a function pointer */
    memcpy(&has_pending, &pending, sizeof pending);
  }
  dlclose(handle); /* libcurl stays loaded: this library depends on it */
#endif
}

bool shim_tls_is_readable(void) {
  return get_alpn != NULL;
}

/* The OpenSSL session of the transfer's connection; NULL: the connection does not use TLS, or uses another TLS
 * library. */
static const void *tls_session(const shim_easy *easy) {
  struct curl_tlssessioninfo *info = NULL;
  if (!get_alpn || curl_easy_getinfo(easy->curl, CURLINFO_TLS_SSL_PTR, &info) != CURLE_OK || !info) return NULL;
  return info->backend == CURLSSLBACKEND_OPENSSL ? info->internals : NULL;
}

static int selected_protocol(const void *ssl) {
  const unsigned char *name = NULL;
  unsigned length = 0;
  get_alpn(ssl, &name, &length);
  if (!name || length == 0) return SHIM_ALPN_NONE;
  return length == 2 && memcmp(name, "h2", 2) == 0 ? SHIM_ALPN_HTTP2 : SHIM_ALPN_OTHER;
}

/* OpenSSL's text for the result of its certificate check. libcurl's message contains it if the handshake failed for that
 * reason. */
static const char *verify_problem(const char *message, long result) {
  const char *text = verify_text && result != 0 ? verify_text(result) : NULL;
  return text && strstr(message, text) ? text : NULL;
}

const char *shim_easy_tls_problem(const shim_easy *easy, bool *is_of_proxy) {
  /* libcurl sets a result to 1 before a handshake, and to 0 after it has succeeded. */
  long of_proxy = 0, of_server = 0;
  curl_easy_getinfo(easy->curl, CURLINFO_PROXY_SSL_VERIFYRESULT, &of_proxy);
  curl_easy_getinfo(easy->curl, CURLINFO_SSL_VERIFYRESULT, &of_server);
  *is_of_proxy = of_proxy != 0;
  const char *problem = verify_problem(easy->message, of_proxy != 0 ? of_proxy : of_server);
  if (problem) return problem;
  /* libcurl compares the names itself. */
  if (strstr(easy->message, "subject name")) return "hostname mismatch";
  if (strstr(easy->message, "alert protocol version")) return "no TLS version in common";
  return strstr(easy->message, "wrong version number") ? "the peer does not use TLS" : NULL;
}

/* --- The identity of a connection --- */

static bool is_last_connection(const shim_easy *easy, const char *peer, const char *local, int peer_port,
                               int local_port) {
  return easy->connection.local_port == local_port && easy->connection.peer_port == peer_port &&
         strcmp(easy->connection.local, local) == 0 && strcmp(easy->connection.peer, peer) == 0;
}

/* Hashing two addresses takes longer than comparing them with those of the connection before. */
static uint64_t connection_key(shim_easy *easy, const char *peer, const char *local, int peer_port, int local_port) {
  if (is_last_connection(easy, peer, local, peer_port, local_port)) return easy->connection.key;
  const uint64_t key = keyed_hash(local, peer, (uint64_t)local_port << 32 | (uint32_t)peer_port) | 1; /* 0: none */
  if (strlen(peer) >= ADDRESS_SIZE || strlen(local) >= ADDRESS_SIZE) return key;
  strcpy(easy->connection.peer, peer);
  strcpy(easy->connection.local, local);
  easy->connection.peer_port = peer_port;
  easy->connection.local_port = local_port;
  return easy->connection.key = key;
}

shim_connection shim_connection_of(shim_easy *easy, const char *peer, const char *local, int peer_port,
                                   int local_port) {
  shim_connection connection = {.local_port = local_port, .alpn = SHIM_ALPN_UNKNOWN};
  if (local_port > 0 && local && peer) connection.key = connection_key(easy, peer, local, peer_port, local_port);
  connection.is_reused = easy->is_reused = shim_easy_is_reused(easy);
  const void *ssl = easy->may_have_tls ? tls_session(easy) : NULL;
  if (ssl) {
    connection.alpn = selected_protocol(ssl);
    connection.has_unread_tls = has_pending(ssl) != 0;
  }
  return connection;
}

int shim_socket_local_port(int socket) {
  union {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
  } address;
  socklen_t size = sizeof address;
  if (getsockname(socket, &address.any, &size) != 0) return 0;
  return address.any.sa_family == AF_INET    ? ntohs(address.v4.sin_port)
         : address.any.sa_family == AF_INET6 ? ntohs(address.v6.sin6_port)
                                             : 0;
}

bool shim_socket_is_closed(int socket) {
  struct pollfd state = {socket, POLLRDHUP, 0};
  return poll(&state, 1, 0) > 0;
}

bool shim_socket_is_quiet(int socket) {
  char byte;
  ssize_t count;
  do
    count = recv(socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  while (count < 0 && errno == EINTR);
  return count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
}
