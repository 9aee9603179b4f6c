#include "shim_curl.h"

#include "shim_system.h"

#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#if LIBCURL_VERSION_NUM < 0x075700
#error "libcurl 7.87 or newer is needed, for CURLOPT_QUICK_EXIT"
#endif

/* --- Set-up --- */

/* What the callbacks of a transfer are is the same for all of them. */
static shim_transfer_callbacks transfer_callbacks;

bool shim_curl_setup(const shim_transfer_callbacks *callbacks) {
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  static bool is_set_up, was_tried;
  pthread_mutex_lock(&mutex);
  if (!was_tried) {
    was_tried = true;
    transfer_callbacks = *callbacks;
    is_set_up = curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK &&
                curl_version_info(CURLVERSION_NOW)->version_num >= 0x075700;
  }
  pthread_mutex_unlock(&mutex);
  return is_set_up;
}

/* --- Multi --- */

struct shim_multi {
  CURLM *curl;
  shim_multi_callbacks callbacks;
  void *loop;
};

static void *transfer_of(CURL *easy) {
  char *transfer = NULL;
  curl_easy_getinfo(easy, CURLINFO_PRIVATE, &transfer);
  return transfer;
}

static int on_socket(CURL *easy, curl_socket_t socket, int action, void *user, void *known) {
  shim_multi *multi = user;
  int what = 0;
  (void)known;
  if (action == CURL_POLL_IN || action == CURL_POLL_INOUT) what |= SHIM_READABLE;
  if (action == CURL_POLL_OUT || action == CURL_POLL_INOUT) what |= SHIM_WRITABLE;
  multi->callbacks.watch(multi->loop, transfer_of(easy), socket, what);
  return 0;
}

static int on_timer(CURLM *curl, long timeout_ms, void *user) {
  shim_multi *multi = user;
  (void)curl;
  multi->callbacks.set_timer(multi->loop, timeout_ms);
  return 0;
}

shim_multi *shim_multi_new(const shim_multi_callbacks *callbacks, void *loop) {
  shim_multi *multi = malloc(sizeof *multi);
  CURLM *curl = curl_multi_init();
  if (!multi || !curl) {
    curl_multi_cleanup(curl);
    free(multi);
    return NULL;
  }
  *multi = (shim_multi){curl, *callbacks, loop};
  curl_multi_setopt(curl, CURLMOPT_SOCKETFUNCTION, on_socket);
  curl_multi_setopt(curl, CURLMOPT_SOCKETDATA, multi);
  curl_multi_setopt(curl, CURLMOPT_TIMERFUNCTION, on_timer);
  curl_multi_setopt(curl, CURLMOPT_TIMERDATA, multi);
  return multi;
}

void shim_multi_free(shim_multi *multi) {
  curl_multi_cleanup(multi->curl);
  free(multi);
}

bool shim_multi_add(shim_multi *multi, CURL *easy) {
  return curl_multi_add_handle(multi->curl, easy) == CURLM_OK;
}

void shim_multi_remove(shim_multi *multi, CURL *easy) {
  curl_multi_remove_handle(multi->curl, easy);
}

void shim_multi_ready(shim_multi *multi, int socket, int what) {
  int running;
  const int mask = (what & SHIM_READABLE ? CURL_CSELECT_IN : 0) | (what & SHIM_WRITABLE ? CURL_CSELECT_OUT : 0) |
                   (what & SHIM_FAILED ? CURL_CSELECT_ERR : 0);
  curl_multi_socket_action(multi->curl, socket, mask, &running);
}

void shim_multi_timeout(shim_multi *multi) {
  int running;
  curl_multi_socket_action(multi->curl, CURL_SOCKET_TIMEOUT, 0, &running);
}

void *shim_multi_next_ended(shim_multi *multi, CURLcode *code) {
  int left;
  CURLMsg *message;
  while ((message = curl_multi_info_read(multi->curl, &left)) != NULL) {
    if (message->msg != CURLMSG_DONE) continue;
    *code = message->data.result;
    return transfer_of(message->easy_handle);
  }
  return NULL;
}

/* --- Easy --- */

static int on_may_send(void *transfer, char *peer, char *local, int peer_port, int local_port) {
  (void)peer;
  (void)local;
  (void)peer_port;
  (void)local_port;
  return transfer_callbacks.may_send(transfer) ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT;
}

static size_t on_header(char *line, size_t size, size_t count, void *transfer) {
  return transfer_callbacks.header(transfer, line, size * count) ? size * count : 0;
}

static size_t on_body(char *data, size_t size, size_t count, void *transfer) {
  /* 0 would mean success for an empty piece. */
  return transfer_callbacks.body(transfer, data, size * count) ? size * count : CURL_WRITEFUNC_ERROR;
}

static int on_progress(void *transfer, curl_off_t down_total, curl_off_t down, curl_off_t up_total, curl_off_t up) {
  (void)down_total;
  (void)up_total;
  transfer_callbacks.moved(transfer, down, up);
  return 0;
}

static curl_socket_t on_open_socket(void *transfer, curlsocktype purpose, struct curl_sockaddr *address) {
  (void)purpose;
  const int result = socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
  transfer_callbacks.opening(transfer,
                             result < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM));
  return result < 0 ? CURL_SOCKET_BAD : result;
}

bool shim_easy_prepare(CURL *easy, const shim_attempt *attempt, void *transfer) {
  bool ok = true;
  curl_easy_reset(easy);
#define SET(option, value) (ok = curl_easy_setopt(easy, option, value) == CURLE_OK && ok)
  SET(CURLOPT_PRIVATE, transfer);
  SET(CURLOPT_URL, attempt->url);
  SET(CURLOPT_HTTPHEADER, attempt->headers);
  SET(CURLOPT_USERAGENT, attempt->user_agent);
  SET(CURLOPT_ERRORBUFFER, attempt->error_text);

  /* The method, and its body. The engine's requests are sent once each, as they are. */
  if (attempt->body || attempt->has_empty_body) {
    SET(CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)attempt->body_length);
    SET(CURLOPT_POSTFIELDS, attempt->body ? attempt->body : "");
  } else if (strcmp(attempt->method, "HEAD") == 0) {
    SET(CURLOPT_NOBODY, 1L);
  }
  if (strcmp(attempt->method, "GET") != 0 || attempt->body) SET(CURLOPT_CUSTOMREQUEST, attempt->method);

  SET(CURLOPT_PREREQFUNCTION, on_may_send);
  SET(CURLOPT_PREREQDATA, transfer);
  SET(CURLOPT_HEADERFUNCTION, on_header);
  SET(CURLOPT_HEADERDATA, transfer);
  SET(CURLOPT_WRITEFUNCTION, on_body);
  SET(CURLOPT_WRITEDATA, transfer);
  SET(CURLOPT_XFERINFOFUNCTION, on_progress);
  SET(CURLOPT_XFERINFODATA, transfer);
  SET(CURLOPT_NOPROGRESS, 0L);
  SET(CURLOPT_OPENSOCKETFUNCTION, on_open_socket);
  SET(CURLOPT_OPENSOCKETDATA, transfer);

  SET(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  SET(CURLOPT_PROTOCOLS_STR, "http,https");
  SET(CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
  SET(CURLOPT_FOLLOWLOCATION, 0L);
  SET(CURLOPT_NOSIGNAL, 1L);
  SET(CURLOPT_QUICK_EXIT, 1L);
  SET(CURLOPT_CONNECTTIMEOUT_MS, 2147483647L); /* the engine's own timers decide; 0 would be libcurl's default */
  SET(CURLOPT_FRESH_CONNECT, attempt->fresh ? 1L : 0L);
  SET(CURLOPT_SSL_VERIFYPEER, 1L);
  SET(CURLOPT_SSL_VERIFYHOST, 2L);
  if (attempt->ca_file) SET(CURLOPT_CAINFO, attempt->ca_file);
  if (attempt->proxy) SET(CURLOPT_PROXY, attempt->proxy);
#undef SET
  return ok;
}

long shim_easy_status(CURL *easy) {
  long status = 0;
  curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
  return status;
}

const char *shim_easy_text(CURLcode code) {
  return curl_easy_strerror(code);
}

/* --- URLs --- */

static uint64_t hash(uint64_t state, const char *text) {
  for (; *text; text++)
    state = (state ^ (unsigned char)*text) * 0x100000001B3U;
  return state;
}

static bool is_address(const char *host) {
  unsigned char bytes[sizeof(struct in6_addr)];
  return host[0] == '[' || inet_pton(AF_INET, host, bytes) == 1;
}

bool shim_url_check(const char *url, uint64_t *origin, bool *needs_lookup) {
  CURLU *parsed = curl_url();
  char *scheme = NULL, *host = NULL, *port = NULL;
  const bool ok = parsed && curl_url_set(parsed, CURLUPART_URL, url, 0) == CURLUE_OK &&
                  curl_url_get(parsed, CURLUPART_SCHEME, &scheme, 0) == CURLUE_OK &&
                  (strcmp(scheme, "http") == 0 || strcmp(scheme, "https") == 0) &&
                  curl_url_get(parsed, CURLUPART_HOST, &host, 0) == CURLUE_OK &&
                  curl_url_get(parsed, CURLUPART_PORT, &port, CURLU_DEFAULT_PORT) == CURLUE_OK;
  if (ok) {
    *origin = hash(hash(0xCBF29CE484222325U, host), port);
    *needs_lookup = !is_address(host);
  }
  curl_free(scheme);
  curl_free(host);
  curl_free(port);
  curl_url_cleanup(parsed);
  return ok;
}
