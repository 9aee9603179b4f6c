#define _GNU_SOURCE /* memmem */
#include "curl_handles.h"

#include "shim_decoder.h"
#include "shim_process.h"
#include "trust.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
  ADDRESS_LIFE = 60,         /* seconds for which libcurl caches addresses; also its default */
  OPENINGS_REMEMBERED = 512, /* sockets after which all cached addresses are dropped */
};

/* False: it has that value already. */
static bool becomes(bool *present, bool wanted) {
  if (*present == wanted) return false;
  *present = wanted;
  return true;
}

static CURLcode set_address_life(shim_easy *easy, bool drops_addresses) {
  if (!becomes(&easy->drops_addresses, drops_addresses)) return CURLE_OK;
  return curl_easy_setopt(easy->curl, CURLOPT_DNS_CACHE_TIMEOUT, drops_addresses ? 0L : (long)ADDRESS_LIFE);
}

static CURLcode set_connect_timeout(shim_easy *easy, long milliseconds) {
  if (easy->connect_timeout_ms == milliseconds) return CURLE_OK;
  easy->connect_timeout_ms = milliseconds;
  return curl_easy_setopt(easy->curl, CURLOPT_CONNECTTIMEOUT_MS, milliseconds);
}

/* --- Callbacks for libcurl --- */

static int on_may_send(void *user, char *peer, char *local, int peer_port, int local_port) {
  shim_easy *easy = user;
  const shim_multi *multi = easy->multi;
  if (!easy->transfer) return CURL_PREREQFUNC_ABORT;
  const shim_connection connection = shim_connection_of(easy, peer, local, peer_port, local_port);
  return multi->callbacks.may_send(multi->loop, easy->transfer, &connection) ? CURL_PREREQFUNC_OK
                                                                             : CURL_PREREQFUNC_ABORT;
}

/* libcurl before 8.2 keeps a pointer to the last header of a handle's previous transfer, which it has freed, and reads
 * it when a response begins with a continuation line (curl/curl, pull request 11103). With CURLOPT_HEADER the body
 * callback gets each line of the head before libcurl stores it (long lines in pieces), and can end the transfer. The
 * header callback gets each complete line afterwards. */
static bool has_to_show_head(const shim_easy *easy) {
  return easy->was_used && shim_curl_version < 0x080200;
}

static void show_head(shim_easy *easy, bool is_shown) {
  easy->is_in_head = is_shown;
  curl_easy_setopt(easy->curl, CURLOPT_HEADER, (long)is_shown);
}

/* A piece of the head has arrived. False: it would continue a header of the previous transfer. */
static bool may_keep(shim_easy *easy, const char *piece, size_t length) {
  const bool begins = !easy->has_begun_line;
  if (length > 0) easy->has_begun_line = true;
  return !begins || length == 0 || easy->expects_status || (*piece != ' ' && *piece != '\t');
}

/* A line of the head has arrived. The first line of a message is always its status line, and an empty line ends it;
 * libcurl stores all others. A 101 is a final response, because no protocol upgrade was requested. */
static void came(shim_easy *easy, const char *line, size_t length) {
  const bool is_end = length > 0 && (*line == '\r' || *line == '\n');
  const long status = is_end ? shim_easy_status(easy) : 0;
  const bool is_hint = status >= 100 && status < 200 && status != 101;
  if (is_end ? !is_hint : !easy->expects_status) show_head(easy, false);
  easy->expects_status = is_end;
  easy->has_begun_line = false;
}

/* A carriage return may only precede a line feed (RFC 9112, 2.2). libcurl itself rejects others since 8.21; before, it
 * replaces some of them by spaces, but only later. */
static bool has_stray_cr(const char *line, size_t length) {
  return length > 2 && memchr(line, '\r', length - 2) != NULL;
}

static size_t on_header(char *line, size_t size, size_t count, void *user) {
  shim_easy *easy = user;
  if (has_stray_cr(line, size * count)) return 0;
  if (easy->is_in_head) came(easy, line, size * count);
  return easy->transfer && shim_transfers.header(easy->transfer, line, size * count) ? size * count : 0;
}

static size_t on_body(char *data, size_t size, size_t count, void *user) {
  shim_easy *easy = user;
  if (easy->is_in_head) return may_keep(easy, data, size * count) ? size * count : CURL_WRITEFUNC_ERROR;
  switch (easy->transfer ? shim_transfers.body(easy->transfer, data, size * count) : SHIM_STOP) {
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
  const int64_t read = easy->transfer ? shim_transfers.read(easy->transfer, buffer, size * count) : SHIM_READ_FAILED;
  if (read == SHIM_READ_PAUSE) return CURL_READFUNC_PAUSE;
  return read < 0 ? CURL_READFUNC_ABORT : (size_t)read;
}

static int on_seek(void *user, curl_off_t offset, int origin) {
  shim_easy *easy = user;
  if (offset != 0 || origin != SEEK_SET || !easy->transfer) return CURL_SEEKFUNC_CANTSEEK;
  return shim_transfers.rewind(easy->transfer) ? CURL_SEEKFUNC_OK : CURL_SEEKFUNC_FAIL;
}

/* After a proxy has answered CONNECT with 407, libcurl reads its response byte by byte as long as data is available,
 * and calls this after each byte; the event loop is blocked meanwhile. This limit stops it. */
static bool is_drowned(shim_easy *easy) {
  enum { LONGEST_REFUSAL = 65536 };
  const int32_t status = shim_easy_proxy_status(easy);
  return (status < 200 || status > 299) && status != 0 && ++easy->refusal_bytes > LONGEST_REFUSAL;
}

static int on_progress(void *user, curl_off_t down_total, curl_off_t down, curl_off_t up_total, curl_off_t up) {
  shim_easy *easy = user;
  const shim_progress progress = {down, down_total, up, up_total};
  if (easy->transfer) shim_transfers.moved(easy->transfer, &progress);
  return easy->is_tunneled && is_drowned(easy);
}

static bool says(const char *text, size_t length, const char *part) {
  return memmem(text, length, part, strlen(part)) != NULL;
}

/* 13 is HTTP_1_1_REQUIRED (RFC 9113, 7), from an RST_STREAM (with a different message since 8.19) or from a GOAWAY
 * (libcurl before 8.1 writes "recveived"). libcurl has no function that returns the error code of a stream. */
static int on_debug(CURL *curl, curl_infotype type, char *text, size_t length, void *user) {
  const shim_easy *easy = user;
  (void)curl;
  if (type == CURLINFO_TEXT && easy->transfer &&
      (says(text, length, "not closed cleanly: HTTP_1_1_REQUIRED (err 13)") ||
       says(text, length, "reset by server (error 0xd HTTP_1_1_REQUIRED)") ||
       says(text, length, "ived GOAWAY, error=13,")))
    shim_transfers.needs_http1(easy->transfer);
  return 0;
}

static curl_socket_t on_open_socket(void *user, curlsocktype purpose, struct curl_sockaddr *address) {
  shim_easy *easy = user;
  shim_multi *multi = easy->multi;
  (void)purpose;
  /* The look-up is over. When the transfer ends, libcurl drops all addresses that are older than the time set here. To
   * find them it scans its whole cache, so the cache must be emptied now and then: otherwise transfers would become
   * slower as the number of hosts grows. */
  set_address_life(easy, ++multi->openings % OPENINGS_REMEMBERED == 0);
  easy->has_opened = true;
  const int result = socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
  const bool exhausted = result < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM);
  if (easy->transfer) shim_transfers.opening(easy->transfer, exhausted);
  if (result >= 0) multi->callbacks.changed(multi->loop, easy->transfer, result, true);
  return result < 0 ? CURL_SOCKET_BAD : result;
}

static int on_close_socket(void *user, curl_socket_t socket) {
  shim_multi *multi = user; /* connections outlive the handles that opened them */
  if (!multi->is_ending) multi->callbacks.changed(multi->loop, NULL, socket, false);
  return close(socket);
}

/* --- Handles --- */

/* The variables in which libcurl looks for the proxy of a URL, in its order. HTTP_PROXY in capitals is ignored, because
 * clients of a CGI server can set it. */
static const struct {
  const char *name;
  bool for_http, for_https;
} proxy_variables[] = {
    {"http_proxy", true, false}, {"https_proxy", false, true}, {"HTTPS_PROXY", false, true},
    {"all_proxy", true, true},   {"ALL_PROXY", true, true},
};

enum { PROXY_VARIABLES = sizeof proxy_variables / sizeof *proxy_variables };

bool shim_environment_has_proxy(void) {
  for (int i = 0; i < PROXY_VARIABLES; i++)
    if (getenv(proxy_variables[i].name)) return true;
  return false;
}

const char *shim_environment_proxy(bool has_tls) {
  for (int i = 0; i < PROXY_VARIABLES; i++) {
    const bool counts = has_tls ? proxy_variables[i].for_https : proxy_variables[i].for_http;
    const char *url = counts ? getenv(proxy_variables[i].name) : NULL;
    if (url && *url) return url;
  }
  return NULL;
}

static void keep_first(CURLcode *failure, CURLcode code) {
  if (*failure == CURLE_OK) *failure = code;
}

/* If neither is set, libcurl uses its built-in file and directory. NULL cancels one of them; since 8.17 it cancels only
 * a value that was set before. */
static CURLcode set_authorities(CURL *curl, const shim_easy_settings *settings) {
  /* The file must have an entry, so this one has an empty revocation list whose issuer has no name. */
  static const char no_authority[] = "-----BEGIN X509 CRL-----\n"
                                     "MCQwGDAFBgMrZXAwABcNNzAwMTAxMDAwMDAwWjAFBgMrZXADAQA=\n"
                                     "-----END X509 CRL-----\n";
  struct curl_blob file = {(void *)(uintptr_t)no_authority, sizeof no_authority - 1, CURL_BLOB_NOCOPY};
  const bool needs_both = shim_curl_version >= 0x081100;
  CURLcode failure = CURLE_OK;
  keep_first(&failure, !settings->ca_file && needs_both ? curl_easy_setopt(curl, CURLOPT_CAINFO_BLOB, &file)
                                                        : curl_easy_setopt(curl, CURLOPT_CAINFO, settings->ca_file));
  const char *directory = !settings->ca_path && needs_both ? "/dev/null" : settings->ca_path;
  keep_first(&failure, curl_easy_setopt(curl, CURLOPT_CAPATH, directory));
  return failure;
}

#define SET(option, value) keep_first(&failure, curl_easy_setopt(easy->curl, option, value))

shim_easy *shim_easy_new(shim_multi *multi, const shim_easy_settings *settings) {
  shim_easy *easy = malloc(sizeof *easy);
  if (!easy) return NULL;
  shim_global_lock_take(); /* libcurl takes a lock of its own here */
  CURL *curl = curl_easy_init();
  shim_global_lock_release();
  *easy = (shim_easy){.curl = curl, .multi = multi, .part_failure = {-1, 0}};
  CURLcode failure = easy->curl ? CURLE_OK : CURLE_FAILED_INIT;
  if (easy->curl) {
    SET(CURLOPT_PRIVATE, easy);
    SET(CURLOPT_ERRORBUFFER, easy->message);
    SET(CURLOPT_PREREQFUNCTION, on_may_send);
    SET(CURLOPT_PREREQDATA, easy);
    SET(CURLOPT_HEADERFUNCTION, on_header);
    SET(CURLOPT_HEADERDATA, easy);
    SET(CURLOPT_WRITEFUNCTION, on_body);
    SET(CURLOPT_WRITEDATA, easy);
    SET(CURLOPT_DEBUGFUNCTION, on_debug);
    SET(CURLOPT_DEBUGDATA, easy);
    SET(CURLOPT_OPENSOCKETFUNCTION, on_open_socket);
    SET(CURLOPT_OPENSOCKETDATA, easy);
    SET(CURLOPT_CLOSESOCKETFUNCTION, on_close_socket);
    SET(CURLOPT_CLOSESOCKETDATA, multi);

    SET(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    SET(CURLOPT_PROTOCOLS_STR, "http,https");
    SET(CURLOPT_PATH_AS_IS, 1L);            /* the server interprets "/a/../b" */
    SET(CURLOPT_FOLLOWLOCATION, 0L);        /* the engine follows redirects */
    SET(CURLOPT_HTTP_CONTENT_DECODING, 0L); /* the engine decodes: see shim_decoder.h */
    SET(CURLOPT_NOSIGNAL, 1L);
    SET(CURLOPT_QUICK_EXIT, 1L);
    SET(CURLOPT_SSL_VERIFYPEER, settings->trusts_any_certificate ? 0L : 1L);
    SET(CURLOPT_SSL_VERIFYHOST, settings->trusts_any_certificate ? 0L : 2L);
    SET(CURLOPT_USERAGENT, settings->user_agent);
#ifdef BOXRETRY_STATIC_CURL
    const shim_trust trust = shim_trust_find(shim_trust_places);
    SET(CURLOPT_CAINFO, trust.file);
    SET(CURLOPT_CAPATH, trust.path);
    SET(CURLOPT_PROXY_CAINFO, trust.file);
    SET(CURLOPT_PROXY_CAPATH, trust.path);
#endif
    if (settings->ca_file || settings->ca_path) keep_first(&failure, set_authorities(easy->curl, settings));
    if (settings->proxy) {
      SET(CURLOPT_PROXY, settings->proxy);
      easy->no_proxy = ""; /* an explicit proxy is used even if no_proxy is set in the environment */
      SET(CURLOPT_NOPROXY, easy->no_proxy);
    } else if (settings->environment_has_none) {
      SET(CURLOPT_NOPROXY, "*");
      easy->is_always_direct = true;
    }
    if (settings->client_certificate) SET(CURLOPT_SSLCERT, settings->client_certificate);
    if (settings->client_key) SET(CURLOPT_SSLKEY, settings->client_key);
    /* Without a password, OpenSSL would ask for one on the terminal. */
    if (settings->client_certificate || settings->client_key)
      SET(CURLOPT_KEYPASSWD, settings->client_key_password ? settings->client_key_password : "");
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

bool shim_curl_breaks_h2c(void) {
  return shim_curl_version >= 0x075800 && shim_curl_version < 0x080000;
}

/* With TLS, the handshake negotiates the version. Since 8.10, libcurl with prior knowledge sends HTTP/2 even to servers
 * that have not agreed to it. */
static long http_version(const shim_attempt *attempt, bool is_https) {
  switch (attempt->http_version) {
  case SHIM_HTTP_2_OVER_TLS:
    return CURL_HTTP_VERSION_2TLS;
  case SHIM_HTTP_2_PRIOR_KNOWLEDGE:
    return is_https ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE;
  default:
    return CURL_HTTP_VERSION_1_1;
  }
}

/* The method and the request's body. */
static void set_method(shim_easy *easy, const shim_attempt *attempt, CURLcode *failed) {
  const bool is_plain = attempt->body_kind == SHIM_BODY_NONE && easy->is_get;
  CURLcode failure = CURLE_OK;
  if (!becomes(&easy->has_method, !is_plain) && is_plain) return;
  /* First resets the handle to a GET. */
  SET(CURLOPT_HTTPGET, 1L);
  SET(CURLOPT_CUSTOMREQUEST, easy->is_get ? NULL : attempt->method);
  switch (attempt->body_kind) {
  case SHIM_BODY_NONE:
    if (easy->is_head) SET(CURLOPT_NOBODY, 1L);
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
  /* Sets the method, also for a GET with a body. */
  if (attempt->body_kind != SHIM_BODY_NONE) SET(CURLOPT_CUSTOMREQUEST, attempt->method);
  keep_first(failed, failure);
}

/* libcurl before 8.7 rejects another size if the handle still has the buffer of its previous transfer: it keeps the buffer if
 * other transfers continued to use the connection (multi_done in lib/multi.c). Either size works. */
static void set_buffers(shim_easy *easy, bool large) {
  if (curl_easy_setopt(easy->curl, CURLOPT_BUFFERSIZE, large ? 131072L : (long)CURL_MAX_WRITE_SIZE) != CURLE_OK) return;
  easy->is_large = large;
  curl_easy_setopt(easy->curl, CURLOPT_UPLOAD_BUFFERSIZE, large ? 262144L : 65536L);
}

static CURLcode set_place(shim_easy *easy, const shim_attempt *attempt) {
  if (attempt->same_place) return CURLE_OK;
  easy->is_https = strncasecmp(attempt->url, "https:", 6) == 0;
  easy->is_get = strcmp(attempt->method, "GET") == 0;
  easy->is_head = strcmp(attempt->method, "HEAD") == 0;
  return curl_easy_setopt(easy->curl, CURLOPT_URL, attempt->url);
}

CURLcode shim_easy_prepare(shim_easy *easy, const shim_attempt *attempt, void *transfer) {
  CURLcode failure = CURLE_OK;
  easy->transfer = transfer;
  if (easy->is_in_head != has_to_show_head(easy)) show_head(easy, !easy->is_in_head);
  easy->expects_status = true;
  easy->refusal_bytes = 0;
  easy->has_begun_line = false;
  easy->has_opened = false;
  easy->was_used = true;
  easy->message[0] = '\0';
  keep_first(&failure, set_place(easy, attempt));
  if (easy->lines != attempt->headers) { /* libcurl has the pointer, not a copy */
    easy->lines = attempt->headers;
    SET(CURLOPT_HTTPHEADER, attempt->headers);
  }
  keep_first(&failure, set_connect_timeout(easy, attempt->connect_timeout_ms));
  keep_first(&failure, set_address_life(easy, attempt->new_lookup));
  const long version = http_version(attempt, easy->is_https);
  if (version != easy->http_version) {
    easy->http_version = version;
    SET(CURLOPT_HTTP_VERSION, version);
  }
  if (becomes(&easy->is_fresh, attempt->fresh || attempt->alone)) SET(CURLOPT_FRESH_CONNECT, (long)easy->is_fresh);
  if (becomes(&easy->is_alone, attempt->alone)) SET(CURLOPT_FORBID_REUSE, (long)easy->is_alone);
  if (!easy->is_always_direct && becomes(&easy->is_direct, attempt->direct))
    SET(CURLOPT_NOPROXY, attempt->direct ? "*" : easy->no_proxy);
  if (becomes(&easy->is_multiplexed, attempt->multiplexed)) SET(CURLOPT_PIPEWAIT, (long)attempt->multiplexed);
  if (becomes(&easy->is_compressed, attempt->compressed))
    SET(CURLOPT_ACCEPT_ENCODING, attempt->compressed ? shim_decoder_codings() : NULL);
  /* Since 8.17, libcurl also rejects contradicting lengths if no body follows. */
  const bool ignores_length = easy->is_head && shim_curl_version >= 0x081100;
  if (becomes(&easy->is_length_ignored, ignores_length)) SET(CURLOPT_IGNORE_CONTENT_LENGTH, (long)ignores_length);
  easy->is_tunneled = attempt->tunneled;
  easy->may_have_tls = easy->is_https || !(easy->is_always_direct || attempt->direct);
  easy->is_reused = false;
  if (becomes(&easy->is_watched, attempt->watched || attempt->tunneled)) {
    SET(CURLOPT_NOPROGRESS, (long)!easy->is_watched);
    SET(CURLOPT_XFERINFOFUNCTION, on_progress);
    SET(CURLOPT_XFERINFODATA, easy);
  }
  if (easy->is_large != attempt->large) set_buffers(easy, attempt->large);
  set_method(easy, attempt, &failure);
  return failure;
}
#undef SET

void shim_easy_set_connect_timeout(shim_easy *easy, long milliseconds) {
  set_connect_timeout(easy, milliseconds);
}

bool shim_curl_tries_one_address(void) {
  return shim_curl_version < 0x081000;
}

bool shim_curl_forgets_next_address(void) {
  return shim_curl_version < 0x080400;
}

void shim_easy_forget(shim_easy *easy) {
  shim_easy_listen(easy, false);
  easy->transfer = NULL;
}

void shim_easy_resume(shim_easy *easy) {
  curl_easy_pause(easy->curl, CURLPAUSE_RECV); /* without a change, libcurl does nothing */
  curl_easy_pause(easy->curl, CURLPAUSE_CONT);
  easy->multi->may_have_ended = true;
}

bool shim_easy_has_message(const shim_easy *easy) {
  return easy->message[0] != '\0';
}

bool shim_easy_has_long_trailer(const shim_easy *easy) {
  return strstr(easy->message, "Out of memory in chunked-encoding") != NULL;
}

void shim_easy_break_connection(const shim_easy *easy) {
  curl_socket_t socket = CURL_SOCKET_BAD;
  curl_easy_getinfo(easy->curl, CURLINFO_ACTIVESOCKET, &socket);
  if (socket != CURL_SOCKET_BAD) shutdown(socket, SHUT_RDWR);
}

void shim_easy_close_connection(shim_easy *easy) {
  easy->is_alone = true;
  curl_easy_setopt(easy->curl, CURLOPT_FORBID_REUSE, 1L);
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

static int32_t http_version_number(long version) {
  return version == CURL_HTTP_VERSION_1_0   ? 10
         : version == CURL_HTTP_VERSION_1_1 ? 11
         : version == CURL_HTTP_VERSION_2_0 ? 20
                                            : 0;
}

int32_t shim_easy_http_version(const shim_easy *easy) {
  return http_version_number(long_info(easy, CURLINFO_HTTP_VERSION));
}

int32_t shim_easy_proxy_status(const shim_easy *easy) {
  return (int32_t)long_info(easy, CURLINFO_HTTP_CONNECTCODE);
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

void shim_easy_listen(shim_easy *easy, bool listens) {
  if (becomes(&easy->listens, listens)) curl_easy_setopt(easy->curl, CURLOPT_VERBOSE, (long)listens);
}

bool shim_easy_is_reused(const shim_easy *easy) {
  return !easy->has_opened || long_info(easy, CURLINFO_NUM_CONNECTS) == 0;
}

/* libcurl has microseconds, and 0 for phases that were not reached. */
static int64_t nanoseconds(int64_t microseconds, bool is_reached) {
  return is_reached ? microseconds * 1000 : -1;
}

void shim_easy_report(shim_easy *easy, bool is_whole, bool has_body, shim_report *report) {
  const int32_t known = report->http_version;
  if (known != 10 && known != 11 && known != 20) report->http_version = shim_easy_http_version(easy);
  report->sent = has_body ? shim_easy_body_sent(easy) : 0;
  report->received = shim_easy_body_received(easy);
  if (is_whole && easy->is_reused) { /* there was no connect, no handshake and no CONNECT */
    report->lookup = nanoseconds(off_info(easy, CURLINFO_NAMELOOKUP_TIME_T), true);
    report->connect = report->tls = 0;
    report->first_byte = nanoseconds(off_info(easy, CURLINFO_STARTTRANSFER_TIME_T), true);
    report->proxy_status = 0;
    return;
  }
  const int64_t sending = off_info(easy, CURLINFO_PRETRANSFER_TIME_T);
  const int64_t connect = off_info(easy, CURLINFO_CONNECT_TIME_T);
  const int64_t lookup = off_info(easy, CURLINFO_NAMELOOKUP_TIME_T);
  const int64_t first_byte = off_info(easy, CURLINFO_STARTTRANSFER_TIME_T);
  report->lookup = nanoseconds(lookup, lookup > 0 || sending > 0);
  report->connect = nanoseconds(connect, connect > 0 || sending > 0);
  report->tls = nanoseconds(off_info(easy, CURLINFO_APPCONNECT_TIME_T), sending > 0);
  report->first_byte = nanoseconds(first_byte, first_byte > 0);
  report->proxy_status = shim_easy_proxy_status(easy);
  report->system_error = (int32_t)long_info(easy, CURLINFO_OS_ERRNO);
  if (shim_easy_has_message(easy)) report->tls_problem = shim_easy_tls_problem(easy, &report->is_proxy_tls);
  report->has_bad_framing = says(easy->message, strlen(easy->message), "Content-Length") ||
                            says(easy->message, strlen(easy->message), "Transfer-Encoding");
}
