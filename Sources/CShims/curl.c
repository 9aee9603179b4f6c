#include "shim_curl.h"

#include "shim_file.h"
#include "shim_memory.h"
#include "shim_system.h"

#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#if LIBCURL_VERSION_NUM < 0x075700
#error "libcurl 7.87 or newer is needed, for CURLOPT_QUICK_EXIT"
#endif

/* --- Set-up --- */

/* What the callbacks of a transfer are is the same for all of them. */
static shim_transfer_callbacks transfer_callbacks;

bool shim_curl_setup(const shim_transfer_callbacks *callbacks) {
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  static bool is_set_up;
  pthread_mutex_lock(&mutex);
  if (!is_set_up) { /* it may have been memory that was wanting, and that is there the next time */
    transfer_callbacks = *callbacks;
    is_set_up = curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK &&
                curl_version_info(CURLVERSION_NOW)->version_num >= 0x075700;
  }
  pthread_mutex_unlock(&mutex);
  return is_set_up;
}

struct shim_easy {
  CURL *curl;
  shim_multi *multi;
  void *transfer; /* NULL: none */
  curl_mime *mime;
  bool was_large;
};

/* --- Multi --- */

struct shim_multi {
  CURLM *curl;
  shim_multi_callbacks callbacks;
  void *loop;
  bool is_ending;
};

/* NULL for handles that libcurl has for itself, and for those of no transfer. */
static void *transfer_of(CURL *curl) {
  char *private = NULL;
  curl_easy_getinfo(curl, CURLINFO_PRIVATE, &private);
  return private ? ((shim_easy *)(void *)private)->transfer : NULL;
}

static int on_socket(CURL *easy, curl_socket_t socket, int action, void *user, void *known) {
  shim_multi *multi = user;
  if (multi->is_ending) return 0;
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
  if (multi->is_ending) return 0;
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
  *multi = (shim_multi){curl, *callbacks, loop, false};
  curl_multi_setopt(curl, CURLMOPT_SOCKETFUNCTION, on_socket);
  curl_multi_setopt(curl, CURLMOPT_SOCKETDATA, multi);
  curl_multi_setopt(curl, CURLMOPT_TIMERFUNCTION, on_timer);
  curl_multi_setopt(curl, CURLMOPT_TIMERDATA, multi);
  return multi;
}

void shim_multi_free(shim_multi *multi) {
  multi->is_ending = true;
  curl_multi_cleanup(multi->curl);
  free(multi);
}

CURLcode shim_multi_add(shim_multi *multi, shim_easy *easy) {
  const CURLMcode code = curl_multi_add_handle(multi->curl, easy->curl);
  return code == CURLM_OK ? CURLE_OK : code == CURLM_OUT_OF_MEMORY ? CURLE_OUT_OF_MEMORY : CURLE_FAILED_INIT;
}

void shim_multi_remove(shim_multi *multi, shim_easy *easy) {
  curl_multi_remove_handle(multi->curl, easy->curl);
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

/* --- Easy: what libcurl calls --- */

static int on_may_send(void *user, char *peer, char *local, int peer_port, int local_port) {
  shim_easy *easy = user;
  (void)peer;
  (void)local;
  (void)peer_port;
  (void)local_port;
  return easy->transfer && transfer_callbacks.may_send(easy->transfer) ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT;
}

static size_t on_header(char *line, size_t size, size_t count, void *user) {
  shim_easy *easy = user;
  return easy->transfer && transfer_callbacks.header(easy->transfer, line, size * count) ? size * count : 0;
}

static size_t on_body(char *data, size_t size, size_t count, void *user) {
  shim_easy *easy = user;
  switch (easy->transfer ? transfer_callbacks.body(easy->transfer, data, size * count) : SHIM_STOP) {
  case SHIM_GO_ON:
    return size * count;
  case SHIM_PAUSE:
    return CURL_WRITEFUNC_PAUSE;
  default:
    return CURL_WRITEFUNC_ERROR; /* 0 would mean success for an empty piece */
  }
}

static size_t on_read(char *buffer, size_t size, size_t count, void *user) {
  shim_easy *easy = user;
  const int64_t read =
      easy->transfer ? transfer_callbacks.read(easy->transfer, buffer, size * count) : SHIM_READ_FAILED;
  if (read == SHIM_READ_PAUSE) return CURL_READFUNC_PAUSE;
  return read < 0 ? CURL_READFUNC_ABORT : (size_t)read;
}

static int on_seek(void *user, curl_off_t offset, int origin) {
  shim_easy *easy = user;
  if (offset != 0 || origin != SEEK_SET || !easy->transfer) return CURL_SEEKFUNC_CANTSEEK;
  return transfer_callbacks.rewind(easy->transfer) ? CURL_SEEKFUNC_OK : CURL_SEEKFUNC_FAIL;
}

static int on_progress(void *user, curl_off_t down_total, curl_off_t down, curl_off_t up_total, curl_off_t up) {
  shim_easy *easy = user;
  const shim_progress progress = {down, down_total, up, up_total};
  if (easy->transfer) transfer_callbacks.moved(easy->transfer, &progress);
  return 0;
}

static curl_socket_t on_open_socket(void *user, curlsocktype purpose, struct curl_sockaddr *address) {
  shim_easy *easy = user;
  shim_multi *multi = easy->multi;
  (void)purpose;
  const int result = socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
  const bool exhausted = result < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM);
  if (easy->transfer) transfer_callbacks.opening(easy->transfer, exhausted);
  if (result >= 0) multi->callbacks.changed(multi->loop, result, true);
  return result < 0 ? CURL_SOCKET_BAD : result;
}

static int on_close_socket(void *user, curl_socket_t socket) {
  shim_multi *multi = user; /* connections live longer than the handles that opened them */
  if (!multi->is_ending) multi->callbacks.changed(multi->loop, socket, false);
  return close(socket);
}

/* --- Easy: handles --- */

static void keep_first(CURLcode *failure, CURLcode code) {
  if (*failure == CURLE_OK) *failure = code;
}

#define SET(option, value) keep_first(&failure, curl_easy_setopt(easy->curl, option, value))

shim_easy *shim_easy_new(shim_multi *multi, const shim_easy_settings *settings) {
  shim_easy *easy = malloc(sizeof *easy);
  if (!easy) return NULL;
  *easy = (shim_easy){.curl = curl_easy_init(), .multi = multi};
  CURLcode failure = easy->curl ? CURLE_OK : CURLE_FAILED_INIT;
  if (easy->curl) {
    SET(CURLOPT_PRIVATE, easy);
    SET(CURLOPT_PREREQFUNCTION, on_may_send);
    SET(CURLOPT_PREREQDATA, easy);
    SET(CURLOPT_HEADERFUNCTION, on_header);
    SET(CURLOPT_HEADERDATA, easy);
    SET(CURLOPT_WRITEFUNCTION, on_body);
    SET(CURLOPT_WRITEDATA, easy);
    SET(CURLOPT_READFUNCTION, on_read);
    SET(CURLOPT_READDATA, easy);
    SET(CURLOPT_SEEKFUNCTION, on_seek);
    SET(CURLOPT_SEEKDATA, easy);
    SET(CURLOPT_XFERINFOFUNCTION, on_progress);
    SET(CURLOPT_XFERINFODATA, easy);
    SET(CURLOPT_NOPROGRESS, 0L);
    SET(CURLOPT_OPENSOCKETFUNCTION, on_open_socket);
    SET(CURLOPT_OPENSOCKETDATA, easy);
    SET(CURLOPT_CLOSESOCKETFUNCTION, on_close_socket);
    SET(CURLOPT_CLOSESOCKETDATA, multi);

    SET(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    SET(CURLOPT_PROTOCOLS_STR, "http,https");
    SET(CURLOPT_FOLLOWLOCATION, 0L); /* the engine follows */
    SET(CURLOPT_NOSIGNAL, 1L);
    SET(CURLOPT_QUICK_EXIT, 1L);
    SET(CURLOPT_CONNECTTIMEOUT_MS, 2147483647L); /* the engine's own timers decide; 0 would be libcurl's default */
    SET(CURLOPT_SSL_VERIFYPEER, 1L);
    SET(CURLOPT_SSL_VERIFYHOST, 2L);
    SET(CURLOPT_USERAGENT, settings->user_agent);
    if (settings->ca_file) SET(CURLOPT_CAINFO, settings->ca_file);
    if (settings->proxy) SET(CURLOPT_PROXY, settings->proxy);
    if (settings->client_certificate) SET(CURLOPT_SSLCERT, settings->client_certificate);
    if (settings->client_key) SET(CURLOPT_SSLKEY, settings->client_key);
    if (settings->client_key_password) SET(CURLOPT_KEYPASSWD, settings->client_key_password);
    if (settings->unix_socket) SET(CURLOPT_UNIX_SOCKET_PATH, settings->unix_socket);
  }
  if (failure == CURLE_OK) return easy;
  shim_easy_free(easy);
  return NULL;
}

void shim_easy_free(shim_easy *easy) {
  if (!easy) return;
  curl_easy_cleanup(easy->curl);
  curl_mime_free(easy->mime);
  free(easy);
}

CURLcode shim_easy_prepare(shim_easy *easy, const shim_attempt *attempt, void *transfer) {
  CURLcode failure = CURLE_OK;
  easy->transfer = transfer;
  SET(CURLOPT_URL, attempt->url);
  SET(CURLOPT_HTTPHEADER, attempt->headers);
  SET(CURLOPT_FRESH_CONNECT, attempt->fresh ? 1L : 0L);
  SET(CURLOPT_HTTP_VERSION, attempt->http_version);
  SET(CURLOPT_PIPEWAIT, attempt->multiplexed ? 1L : 0L);
  SET(CURLOPT_ACCEPT_ENCODING, attempt->compressed ? "" : NULL);
  if (attempt->large != easy->was_large) {
    SET(CURLOPT_BUFFERSIZE, attempt->large ? 131072L : (long)CURL_MAX_WRITE_SIZE);
    SET(CURLOPT_UPLOAD_BUFFERSIZE, attempt->large ? 262144L : 65536L);
    easy->was_large = attempt->large;
  }

  /* The method, and its body. First of all back to a GET, whatever there was before. */
  SET(CURLOPT_HTTPGET, 1L);
  SET(CURLOPT_CUSTOMREQUEST, strcmp(attempt->method, "GET") == 0 ? NULL : attempt->method);
  switch (attempt->body_kind) {
  case SHIM_BODY_NONE:
    if (strcmp(attempt->method, "HEAD") == 0) SET(CURLOPT_NOBODY, 1L);
    break;
  case SHIM_BODY_EMPTY:
  case SHIM_BODY_MEMORY:
    SET(CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)attempt->body_length);
    SET(CURLOPT_POSTFIELDS, attempt->body_kind == SHIM_BODY_MEMORY ? attempt->body : "");
    break;
  case SHIM_BODY_STREAM:
    SET(CURLOPT_UPLOAD, 1L);
    SET(CURLOPT_INFILESIZE_LARGE, (curl_off_t)attempt->body_length);
    break;
  case SHIM_BODY_MULTIPART:
    SET(CURLOPT_MIMEPOST, easy->mime);
    break;
  }
  /* A GET with a body says what it is. */
  if (attempt->body_kind != SHIM_BODY_NONE) SET(CURLOPT_CUSTOMREQUEST, attempt->method);
  return failure;
}

#undef SET

void shim_easy_forget(shim_easy *easy) {
  easy->transfer = NULL;
}

void shim_easy_resume(shim_easy *easy) {
  curl_easy_pause(easy->curl, CURLPAUSE_CONT);
}

bool shim_easy_is_reusable(void) {
  return curl_version_info(CURLVERSION_NOW)->version_num >= 0x080200;
}

void *shim_easy_handle(shim_easy *easy) {
  return easy->curl;
}

long shim_easy_status(shim_easy *easy) {
  long status = 0;
  curl_easy_getinfo(easy->curl, CURLINFO_RESPONSE_CODE, &status);
  return status;
}

static int64_t off_info(shim_easy *easy, CURLINFO info) {
  curl_off_t value = 0;
  curl_easy_getinfo(easy->curl, info, &value);
  return value;
}

/* libcurl has microseconds, and 0 for what was not reached. */
static int64_t time_info(shim_easy *easy, CURLINFO info, bool is_reached) {
  return is_reached ? off_info(easy, info) * 1000 : -1;
}

void shim_easy_report(shim_easy *easy, shim_report *report) {
  long version = 0;
  curl_easy_getinfo(easy->curl, CURLINFO_HTTP_VERSION, &version);
  report->http_version = version == CURL_HTTP_VERSION_1_0   ? 10
                         : version == CURL_HTTP_VERSION_1_1 ? 11
                         : version == CURL_HTTP_VERSION_2_0 ? 20
                                                            : 0;
  report->sent = off_info(easy, CURLINFO_SIZE_UPLOAD_T);
  report->received = off_info(easy, CURLINFO_SIZE_DOWNLOAD_T);
  const int64_t sending = off_info(easy, CURLINFO_PRETRANSFER_TIME_T);
  const int64_t connect = off_info(easy, CURLINFO_CONNECT_TIME_T);
  const int64_t lookup = off_info(easy, CURLINFO_NAMELOOKUP_TIME_T);
  const int64_t first_byte = off_info(easy, CURLINFO_STARTTRANSFER_TIME_T);
  report->lookup = time_info(easy, CURLINFO_NAMELOOKUP_TIME_T, lookup > 0 || sending > 0);
  report->connect = time_info(easy, CURLINFO_CONNECT_TIME_T, connect > 0 || sending > 0);
  report->tls = time_info(easy, CURLINFO_APPCONNECT_TIME_T, sending > 0);
  report->first_byte = time_info(easy, CURLINFO_STARTTRANSFER_TIME_T, first_byte > 0);
}

/* --- Secret header lines --- */

struct curl_slist *shim_header_add_secret(const char *start, const char *secret, struct curl_slist *others) {
  const size_t length = strlen(start) + strlen(secret);
  struct curl_slist *first = malloc(sizeof *first);
  char *line = malloc(length + 1);
  if (!first || !line) {
    free(first);
    free(line);
    return NULL;
  }
  memcpy(line, start, strlen(start));
  memcpy(line + strlen(start), secret, strlen(secret) + 1);
  *first = (struct curl_slist){line, others};
  return first;
}

void shim_header_free_secret(struct curl_slist *first) {
  if (!first) return;
  shim_wipe(first->data, strlen(first->data));
  free(first->data);
  free(first);
}

bool shim_header_has_authorization(const struct curl_slist *lines) {
  for (; lines; lines = lines->next)
    if (strncasecmp(lines->data, "Authorization:", 14) == 0 || strncasecmp(lines->data, "Authorization;", 14) == 0)
      return true;
  return false;
}

/* --- Multipart: what a part consists of, in memory or in a file, is read while it is sent --- */

typedef struct part_data {
  const char *data; /* NULL: a file */
  int64_t length;
  int64_t position;
  int descriptor; /* of the file; -1: not open */
  char path[];
} part_data;

static void close_part(part_data *part) {
  if (part->descriptor >= 0) close(part->descriptor);
  part->descriptor = -1;
}

static void free_part(void *user) {
  close_part(user);
  free(user);
}

static size_t on_read_part(char *buffer, size_t size, size_t count, void *user) {
  part_data *part = user;
  const int64_t left = part->length - part->position, room = (int64_t)(size * count);
  int64_t taken = left < room ? left : room;
  if (taken <= 0) return 0;
  if (part->data) {
    memcpy(buffer, part->data + part->position, (size_t)taken);
  } else {
    if (part->descriptor < 0) part->descriptor = shim_file_open(part->path);
    /* One that is shorter than it was would leave the server waiting for the rest. */
    taken = part->descriptor < 0 ? -1 : shim_file_read(part->descriptor, buffer, (size_t)taken, part->position);
    if (taken <= 0) return CURL_READFUNC_ABORT;
  }
  part->position += taken;
  if (part->position == part->length) close_part(part);
  return (size_t)taken;
}

static int on_seek_part(void *user, curl_off_t offset, int origin) {
  part_data *part = user;
  if (origin != SEEK_SET || offset < 0 || offset > part->length) return CURL_SEEKFUNC_FAIL;
  part->position = offset;
  return CURL_SEEKFUNC_OK;
}

/* Where a part's bytes come from. NULL: no memory. A length below 0: the file cannot be read. */
static part_data *make_part_data(const shim_part *part) {
  const size_t path_size = part->path ? strlen(part->path) + 1 : 0;
  part_data *data = malloc(sizeof *data + path_size);
  if (!data) return NULL;
  *data = (part_data){part->data ? part->data : "", (int64_t)part->data_length, 0, -1};
  if (!part->path) return data;
  memcpy(data->path, part->path, path_size);
  data->data = NULL;
  data->descriptor = shim_file_open(part->path);
  data->length = data->descriptor < 0 ? -1 : shim_file_length(data->descriptor);
  close_part(data);
  return data;
}

int shim_easy_add_part(shim_easy *easy, const shim_part *part) {
  if (!easy->mime) easy->mime = curl_mime_init(easy->curl);
  curl_mimepart *added = easy->mime ? curl_mime_addpart(easy->mime) : NULL;
  part_data *data = added ? make_part_data(part) : NULL;
  if (!data || data->length < 0) {
    curl_slist_free_all(part->headers);
    const int why = data ? SHIM_PART_UNREADABLE : SHIM_PART_NO_MEMORY;
    free(data);
    return why;
  }
  const char *slash = part->path ? strrchr(part->path, '/') : NULL;
  const char *file_name = part->file_name ? part->file_name : slash ? slash + 1 : part->path;
  bool ok = curl_mime_headers(added, part->headers, 1) == CURLE_OK;
  ok = curl_mime_name(added, part->name) == CURLE_OK && ok;
  ok = curl_mime_data_cb(added, data->length, on_read_part, on_seek_part, free_part, data) == CURLE_OK && ok;
  if (file_name) ok = curl_mime_filename(added, file_name) == CURLE_OK && ok;
  if (part->content_type) ok = curl_mime_type(added, part->content_type) == CURLE_OK && ok;
  return ok ? SHIM_PART_ADDED : SHIM_PART_NO_MEMORY;
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

/* 127.0.0.0/8, ::1, and the name that always stands for them (RFC 6761). `host` as in a URL: IPv6 in brackets. */
static bool is_loopback(const char *host) {
  struct in_addr address;
  if (strcasecmp(host, "localhost") == 0 || strcasecmp(host, "localhost.") == 0) return true;
  if (inet_pton(AF_INET, host, &address) == 1) return ntohl(address.s_addr) >> 24 == 127;
  return strcmp(host, "[::1]") == 0;
}

/* The parts of a URL that say where a request goes. */
typedef struct url_origin {
  char *scheme, *host, *port;
} url_origin;

/* `code`: of the last step on the way to a URL that we can fetch. */
static int url_result(CURLUcode code) {
  return code == CURLUE_OK ? SHIM_URL_GOOD : code == CURLUE_OUT_OF_MEMORY ? SHIM_URL_NO_MEMORY : SHIM_URL_BAD;
}

static CURLUcode read_origin(CURLU *parsed, url_origin *out) {
  CURLUcode code = curl_url_get(parsed, CURLUPART_SCHEME, &out->scheme, 0);
  if (code == CURLUE_OK && strcmp(out->scheme, "http") != 0 && strcmp(out->scheme, "https") != 0)
    code = CURLUE_UNSUPPORTED_SCHEME;
  if (code == CURLUE_OK) code = curl_url_get(parsed, CURLUPART_HOST, &out->host, 0);
  if (code == CURLUE_OK) code = curl_url_get(parsed, CURLUPART_PORT, &out->port, CURLU_DEFAULT_PORT);
  return code;
}

static void free_origin(url_origin *origin) {
  curl_free(origin->scheme);
  curl_free(origin->host);
  curl_free(origin->port);
}

/* SHIM_URL_…. In any case `out` is to be freed. */
static int parse_origin(const char *url, url_origin *out) {
  CURLU *parsed = curl_url();
  *out = (url_origin){NULL, NULL, NULL};
  CURLUcode code = parsed ? curl_url_set(parsed, CURLUPART_URL, url, 0) : CURLUE_OUT_OF_MEMORY;
  if (code == CURLUE_OK) code = read_origin(parsed, out);
  curl_url_cleanup(parsed);
  return url_result(code);
}

int shim_url_check(const char *url, shim_url *out) {
  url_origin origin;
  const int result = parse_origin(url, &origin);
  if (result == SHIM_URL_GOOD) {
    const bool has_tls = strcmp(origin.scheme, "https") == 0;
    *out = (shim_url){.origin = hash(hash(0xCBF29CE484222325U, origin.host), origin.port),
                      .needs_lookup = !is_address(origin.host),
                      .has_tls = has_tls,
                      .is_confidential = has_tls || is_loopback(origin.host)};
  }
  free_origin(&origin);
  return result;
}

static CURLUcode follow(CURLU *parsed, const char *url, const char *location, char **followed) {
  url_origin origin = {NULL, NULL, NULL};
  CURLUcode code = parsed ? curl_url_set(parsed, CURLUPART_URL, url, 0) : CURLUE_OUT_OF_MEMORY;
  if (code == CURLUE_OK) code = curl_url_set(parsed, CURLUPART_URL, location, CURLU_URLENCODE | CURLU_ALLOW_SPACE);
  if (code == CURLUE_OK) code = read_origin(parsed, &origin);
  if (code == CURLUE_OK) code = curl_url_get(parsed, CURLUPART_URL, followed, 0);
  free_origin(&origin);
  return code;
}

int shim_url_follow(const char *url, const char *location, char **out) {
  *out = NULL;
  if (*location == '\0') return SHIM_URL_BAD;
  /* RFC 3986, 5.2.2: with nothing but a fragment it is the same document. libcurl would drop its last part. */
  if (*location == '#') {
    *out = strndup(url, strcspn(url, "#"));
    return *out ? SHIM_URL_GOOD : SHIM_URL_NO_MEMORY;
  }
  CURLU *parsed = curl_url();
  char *followed = NULL;
  const int result = url_result(follow(parsed, url, location, &followed));
  if (result == SHIM_URL_GOOD) *out = strdup(followed);
  curl_free(followed);
  curl_url_cleanup(parsed);
  return result == SHIM_URL_GOOD && !*out ? SHIM_URL_NO_MEMORY : result;
}

bool shim_url_without_user(const char *url, char **out) {
  *out = NULL;
  const char *host = strstr(url, "://");
  if (!host) return true;
  host += 3;
  const char *end = host + strcspn(host, "/?#"), *at = NULL;
  for (const char *c = host; c < end; c++)
    if (*c == '@') at = c;
  if (!at) return true;
  *out = malloc(strlen(url) + 1);
  if (!*out) return false;
  memcpy(*out, url, (size_t)(host - url));
  strcpy(*out + (host - url), at + 1);
  return true;
}

int shim_url_same_origin(const char *url, const char *other, bool *is_same) {
  url_origin one, two;
  const int result = parse_origin(url, &one), other_result = parse_origin(other, &two);
  const bool are_good = result == SHIM_URL_GOOD && other_result == SHIM_URL_GOOD;
  *is_same = are_good && strcmp(one.scheme, two.scheme) == 0 && strcasecmp(one.host, two.host) == 0 &&
             strcmp(one.port, two.port) == 0;
  free_origin(&one);
  free_origin(&two);
  return result == SHIM_URL_GOOD ? other_result : result;
}
