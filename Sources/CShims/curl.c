#include "shim_curl.h"

#include "shim_file.h"
#include "shim_memory.h"
#include "shim_system.h"

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
static unsigned curl_version_number; /* of the libcurl that was found; asking for it is not cheap */

bool shim_curl_setup(const shim_transfer_callbacks *callbacks) {
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  static bool is_set_up;
  pthread_mutex_lock(&mutex);
  if (!is_set_up) { /* it may have been memory that was wanting, and that is there the next time */
    transfer_callbacks = *callbacks;
    curl_version_number = curl_version_info(CURLVERSION_NOW)->version_num;
    is_set_up = curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK && curl_version_number >= 0x075700;
  }
  pthread_mutex_unlock(&mutex);
  return is_set_up;
}

struct shim_easy {
  CURL *curl;
  shim_multi *multi;
  void *transfer; /* NULL: none */
  curl_mime *mime;
  int part_count;
  shim_part_failure part_failure;
  bool was_used;
  bool is_in_head;     /* the body's function gets the lines of the head: see has_to_show_head() */
  bool expects_status; /* in the head: the next line is a status line */
  bool has_begun_line; /* in the head: a part of the next line has come */
  bool is_always_direct;
  /* What is set at present; libcurl's own choice at first. */
  bool is_fresh, is_alone, is_direct, is_multiplexed, is_compressed, is_watched, is_large, is_length_ignored;
  bool has_method; /* other than a GET without a body */
  long http_version;
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

shim_multi *shim_multi_new(const shim_multi_callbacks *callbacks, long connections, void *loop) {
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
  /* libcurl by itself would close those of a burst when it ebbs. */
  curl_multi_setopt(curl, CURLMOPT_MAXCONNECTS, connections);
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

/* libcurl before 8.2 keeps a pointer to the last header of a handle's transfer before, which it has freed, and reads it
 * when a response begins with a line that goes on with the one before it (curl/curl, pull request 11103). With
 * CURLOPT_HEADER the body's function gets each line of the head before libcurl keeps it, a long one in pieces, and can end
 * the transfer. The header's function gets each whole line afterwards. */
static bool has_to_show_head(const shim_easy *easy) {
  return easy->was_used && curl_version_number < 0x080200;
}

static void show_head(shim_easy *easy, bool is_shown) {
  easy->is_in_head = is_shown;
  curl_easy_setopt(easy->curl, CURLOPT_HEADER, (long)is_shown);
}

/* A piece of the head comes. False: it would go on with a header of the transfer before. */
static bool may_keep(shim_easy *easy, const char *piece, size_t length) {
  const bool begins = !easy->has_begun_line;
  if (length > 0) easy->has_begun_line = true;
  return !begins || length == 0 || easy->expects_status || (*piece != ' ' && *piece != '\t');
}

/* A line of the head has come. The first one of a message is its status, whatever it looks like, and the empty one its end;
 * libcurl has kept any other. A 101 is a final response, since nobody has asked for another protocol. */
static void came(shim_easy *easy, const char *line, size_t length) {
  const bool is_end = length > 0 && (*line == '\r' || *line == '\n');
  const long status = is_end ? shim_easy_status(easy) : 0;
  const bool is_hint = status >= 100 && status < 200 && status != 101;
  if (is_end ? !is_hint : !easy->expects_status) show_head(easy, false);
  easy->expects_status = is_end;
  easy->has_begun_line = false;
}

static size_t on_header(char *line, size_t size, size_t count, void *user) {
  shim_easy *easy = user;
  if (easy->is_in_head) came(easy, line, size * count);
  return easy->transfer && transfer_callbacks.header(easy->transfer, line, size * count) ? size * count : 0;
}

static size_t on_body(char *data, size_t size, size_t count, void *user) {
  shim_easy *easy = user;
  if (easy->is_in_head) return may_keep(easy, data, size * count) ? size * count : CURL_WRITEFUNC_ERROR;
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

bool shim_environment_has_proxy(void) {
  /* http_proxy in capitals is not looked at: a server that runs a program could set it (CGI). */
  static const char *const names[] = {"http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (getenv(names[i])) return true;
  return false;
}

static void keep_first(CURLcode *failure, CURLcode code) {
  if (*failure == CURLE_OK) *failure = code;
}

#define SET(option, value) keep_first(&failure, curl_easy_setopt(easy->curl, option, value))

shim_easy *shim_easy_new(shim_multi *multi, const shim_easy_settings *settings) {
  shim_easy *easy = malloc(sizeof *easy);
  if (!easy) return NULL;
  *easy = (shim_easy){.curl = curl_easy_init(), .multi = multi, .part_failure = {-1, 0}};
  CURLcode failure = easy->curl ? CURLE_OK : CURLE_FAILED_INIT;
  if (easy->curl) {
    SET(CURLOPT_PRIVATE, easy);
    SET(CURLOPT_PREREQFUNCTION, on_may_send);
    SET(CURLOPT_PREREQDATA, easy);
    SET(CURLOPT_HEADERFUNCTION, on_header);
    SET(CURLOPT_HEADERDATA, easy);
    SET(CURLOPT_WRITEFUNCTION, on_body);
    SET(CURLOPT_WRITEDATA, easy);
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
    if (!settings->proxy && settings->environment_has_none) {
      SET(CURLOPT_NOPROXY, "*");
      easy->is_always_direct = true;
    }
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

/* libcurl 7.88 fails when it uses a connection without TLS again that was made with prior knowledge of HTTP/2 (mended in 8.0,
   by its pull request 10643): then each request gets one of its own. */
static bool needs_own_connection(const shim_attempt *attempt) {
  return attempt->http_version == CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE && curl_version_number >= 0x075800 &&
         curl_version_number < 0x080000 && strncasecmp(attempt->url, "http:", 5) == 0;
}

/* False: it is so already. */
static bool becomes(bool *present, bool wanted) {
  if (*present == wanted) return false;
  *present = wanted;
  return true;
}

/* The method, and the request's body. */
static void set_method(shim_easy *easy, const shim_attempt *attempt, CURLcode *failed) {
  const bool is_plain = attempt->body_kind == SHIM_BODY_NONE && strcmp(attempt->method, "GET") == 0;
  CURLcode failure = CURLE_OK;
  if (!becomes(&easy->has_method, !is_plain) && is_plain) return;
  /* First of all back to a GET, whatever there was before. */
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
    SET(CURLOPT_READFUNCTION, on_read);
    SET(CURLOPT_READDATA, easy);
    SET(CURLOPT_SEEKFUNCTION, on_seek);
    SET(CURLOPT_SEEKDATA, easy);
    SET(CURLOPT_INFILESIZE_LARGE, (curl_off_t)attempt->body_length);
    break;
  case SHIM_BODY_MULTIPART:
    SET(CURLOPT_MIMEPOST, easy->mime);
    break;
  }
  /* A GET with a body says what it is. */
  if (attempt->body_kind != SHIM_BODY_NONE) SET(CURLOPT_CUSTOMREQUEST, attempt->method);
  keep_first(failed, failure);
}

CURLcode shim_easy_prepare(shim_easy *easy, const shim_attempt *attempt, void *transfer) {
  const bool is_alone = needs_own_connection(attempt);
  CURLcode failure = CURLE_OK;
  easy->transfer = transfer;
  if (easy->is_in_head != has_to_show_head(easy)) show_head(easy, !easy->is_in_head);
  easy->expects_status = true;
  easy->has_begun_line = false;
  easy->was_used = true;
  SET(CURLOPT_URL, attempt->url);
  SET(CURLOPT_HTTPHEADER, attempt->headers);
  if (attempt->http_version != easy->http_version) {
    easy->http_version = attempt->http_version;
    SET(CURLOPT_HTTP_VERSION, attempt->http_version);
  }
  if (becomes(&easy->is_fresh, attempt->fresh || is_alone)) SET(CURLOPT_FRESH_CONNECT, (long)easy->is_fresh);
  if (becomes(&easy->is_alone, is_alone)) SET(CURLOPT_FORBID_REUSE, (long)is_alone);
  if (!easy->is_always_direct && becomes(&easy->is_direct, attempt->direct))
    SET(CURLOPT_NOPROXY, attempt->direct ? "*" : NULL);
  if (becomes(&easy->is_multiplexed, attempt->multiplexed)) SET(CURLOPT_PIPEWAIT, (long)attempt->multiplexed);
  if (becomes(&easy->is_compressed, attempt->compressed)) SET(CURLOPT_ACCEPT_ENCODING, attempt->compressed ? "" : NULL);
  if (becomes(&easy->is_length_ignored, false)) SET(CURLOPT_IGNORE_CONTENT_LENGTH, 0L);
  if (becomes(&easy->is_watched, attempt->watched)) {
    SET(CURLOPT_NOPROGRESS, (long)!attempt->watched);
    SET(CURLOPT_XFERINFOFUNCTION, on_progress);
    SET(CURLOPT_XFERINFODATA, easy);
  }
  if (becomes(&easy->is_large, attempt->large)) {
    SET(CURLOPT_BUFFERSIZE, attempt->large ? 131072L : (long)CURL_MAX_WRITE_SIZE);
    SET(CURLOPT_UPLOAD_BUFFERSIZE, attempt->large ? 262144L : 65536L);
  }
  set_method(easy, attempt, &failure);
  return failure;
}
#undef SET

void shim_easy_forget(shim_easy *easy) {
  easy->transfer = NULL;
}

void shim_easy_resume(shim_easy *easy) {
  curl_easy_pause(easy->curl, CURLPAUSE_RECV); /* where nothing changes, libcurl does not look */
  curl_easy_pause(easy->curl, CURLPAUSE_CONT);
}

void *shim_easy_handle(shim_easy *easy) {
  return easy->curl;
}

static long long_info(const shim_easy *easy, CURLINFO info) {
  long value = 0;
  curl_easy_getinfo(easy->curl, info, &value);
  return value;
}

static int64_t off_info(shim_easy *easy, CURLINFO info) {
  curl_off_t value = 0;
  curl_easy_getinfo(easy->curl, info, &value);
  return value;
}

long shim_easy_status(const shim_easy *easy) {
  return long_info(easy, CURLINFO_RESPONSE_CODE);
}

int64_t shim_easy_head_sent(shim_easy *easy) {
  return long_info(easy, CURLINFO_REQUEST_SIZE);
}

int64_t shim_easy_body_sent(shim_easy *easy) {
  return off_info(easy, CURLINFO_SIZE_UPLOAD_T);
}

int64_t shim_easy_body_length(shim_easy *easy) {
  return off_info(easy, CURLINFO_CONTENT_LENGTH_UPLOAD_T);
}

void shim_easy_ignore_length(shim_easy *easy) {
  easy->is_length_ignored = true;
  curl_easy_setopt(easy->curl, CURLOPT_IGNORE_CONTENT_LENGTH, 1L);
}

int64_t shim_easy_body_received(shim_easy *easy) {
  return off_info(easy, CURLINFO_SIZE_DOWNLOAD_T);
}

bool shim_easy_is_reused(shim_easy *easy) {
  return long_info(easy, CURLINFO_NUM_CONNECTS) == 0;
}

/* libcurl has microseconds, and 0 for what was not reached. */
static int64_t nanoseconds(int64_t microseconds, bool is_reached) {
  return is_reached ? microseconds * 1000 : -1;
}

void shim_easy_report(shim_easy *easy, shim_report *report) {
  const long version = long_info(easy, CURLINFO_HTTP_VERSION);
  report->http_version = version == CURL_HTTP_VERSION_1_0   ? 10
                         : version == CURL_HTTP_VERSION_1_1 ? 11
                         : version == CURL_HTTP_VERSION_2_0 ? 20
                                                            : 0;
  report->sent = shim_easy_body_sent(easy);
  report->received = shim_easy_body_received(easy);
  const int64_t sending = off_info(easy, CURLINFO_PRETRANSFER_TIME_T);
  const int64_t connect = off_info(easy, CURLINFO_CONNECT_TIME_T);
  const int64_t lookup = off_info(easy, CURLINFO_NAMELOOKUP_TIME_T);
  const int64_t first_byte = off_info(easy, CURLINFO_STARTTRANSFER_TIME_T);
  report->lookup = nanoseconds(lookup, lookup > 0 || sending > 0);
  report->connect = nanoseconds(connect, connect > 0 || sending > 0);
  report->tls = nanoseconds(off_info(easy, CURLINFO_APPCONNECT_TIME_T), sending > 0);
  report->first_byte = nanoseconds(first_byte, first_byte > 0);
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

/* Not to be told about a 100 that does not come; it is nothing to libcurl where there is no body. */
static struct curl_slist no_lines = {(char[]){"Expect:"}, NULL};

struct curl_slist *shim_header_no_lines(void) {
  return &no_lines;
}

void shim_header_free_lines(struct curl_slist *lines) {
  if (lines != &no_lines) curl_slist_free_all(lines);
}

bool shim_header_has_authorization(const struct curl_slist *lines) {
  for (; lines; lines = lines->next)
    if (strncasecmp(lines->data, "Authorization:", 14) == 0 || strncasecmp(lines->data, "Authorization;", 14) == 0)
      return true;
  return false;
}

/* --- Multipart: what a part consists of, in memory or in a file, is read while it is sent --- */

typedef struct part_data {
  shim_easy *easy;  /* whose body it is a part of */
  int number;       /* from 0 */
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

/* The part's file cannot be read. */
static size_t part_failed(const part_data *part, int error) {
  part->easy->part_failure = (shim_part_failure){part->number, error};
  return CURL_READFUNC_ABORT;
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
    if (part->descriptor < 0) return part_failed(part, -part->descriptor);
    taken = shim_file_read(part->descriptor, buffer, (size_t)taken, part->position);
    /* One that is shorter than it was would leave the server waiting for the rest. */
    if (taken <= 0) return part_failed(part, (int)-taken);
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

/* Where a part's bytes come from. NULL: no memory. If its file cannot be read, its descriptor is an error, negated. */
static part_data *make_part_data(shim_easy *easy, const shim_part *part) {
  const size_t path_size = part->path ? strlen(part->path) + 1 : 0;
  part_data *data = malloc(sizeof *data + path_size);
  if (!data) return NULL;
  *data = (part_data){easy, easy->part_count, part->data ? part->data : "", (int64_t)part->data_length, 0, -1};
  if (!part->path) return data;
  memcpy(data->path, part->path, path_size);
  data->data = NULL;
  data->length = -1;
  data->descriptor = shim_file_open(part->path);
  if (data->descriptor < 0) return data;
  data->length = shim_file_length(data->descriptor);
  close_part(data);
  return data;
}

int shim_easy_add_part(shim_easy *easy, const shim_part *part) {
  if (!easy->mime) easy->mime = curl_mime_init(easy->curl);
  curl_mimepart *added = easy->mime ? curl_mime_addpart(easy->mime) : NULL;
  part_data *data = added ? make_part_data(easy, part) : NULL;
  const bool is_unreadable = data && !data->data && data->length < 0;
  if (!data || is_unreadable) {
    curl_slist_free_all(part->headers);
    if (is_unreadable) part_failed(data, -data->descriptor);
    free(data);
    return is_unreadable ? SHIM_PART_UNREADABLE : SHIM_PART_NO_MEMORY;
  }
  easy->part_count++;
  const char *slash = part->path ? strrchr(part->path, '/') : NULL;
  const char *file_name = part->file_name ? part->file_name : slash ? slash + 1 : part->path;
  bool ok = curl_mime_headers(added, part->headers, 1) == CURLE_OK;
  ok = curl_mime_name(added, part->name) == CURLE_OK && ok;
  ok = curl_mime_data_cb(added, data->length, on_read_part, on_seek_part, free_part, data) == CURLE_OK && ok;
  if (file_name) ok = curl_mime_filename(added, file_name) == CURLE_OK && ok;
  if (part->content_type) ok = curl_mime_type(added, part->content_type) == CURLE_OK && ok;
  return ok ? SHIM_PART_ADDED : SHIM_PART_NO_MEMORY;
}

shim_part_failure shim_easy_part_failure(const shim_easy *easy) {
  return easy->part_failure;
}

const char *shim_easy_text(CURLcode code) {
  return curl_easy_strerror(code);
}
