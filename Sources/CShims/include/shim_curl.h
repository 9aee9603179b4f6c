/* libcurl without variadic functions: the functions that the engine calls, and the callbacks of the engine. */
#ifndef BOXRETRY_CURL_H
#define BOXRETRY_CURL_H

#include <curl/curl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The connection that libcurl has chosen for a transfer. */
typedef struct shim_connection {
  uint64_t key;        /* identifies an open connection; 0: libcurl does not know its addresses */
  int local_port;      /* 0: unknown */
  int alpn;            /* SHIM_ALPN_… */
  bool is_reused;      /* it was not opened for this transfer */
  bool has_unread_tls; /* the TLS library holds bytes that were not read yet */
} shim_connection;

/* The protocol selected by ALPN. UNKNOWN: no TLS, or a TLS library that cannot be queried. */
enum { SHIM_ALPN_UNKNOWN, SHIM_ALPN_NONE, SHIM_ALPN_HTTP2, SHIM_ALPN_OTHER };

/* Callbacks of a multi handle to the loop that drives it. `group` is the value given to shim_multi_new(). */
typedef struct shim_multi_callbacks {
  /* `what`: SHIM_READABLE, SHIM_WRITABLE, both, or 0: stop watching the socket. `transfer` uses it. */
  void (*watch)(void *loop, int group, void *transfer, int socket, int what);
  /* Call shim_multi_timeout after that number of milliseconds; -1: stop the timer. Not from inside this callback. */
  void (*set_timer)(void *loop, int group, long timeout_ms);
  /* A socket was opened, for a transfer or (NULL) for none, or is about to be closed. Not called for every watched
   * socket. */
  void (*changed)(void *loop, void *transfer, int socket, bool is_open);
  /* Called each time before a request is sent; false: do not send it, and drop the transfer. */
  bool (*may_send)(void *loop, void *transfer, const shim_connection *connection);
} shim_multi_callbacks;

typedef struct shim_multi shim_multi;
typedef struct shim_easy shim_easy; /* see below */

/* Keeps up to `connections` idle connections. Without `shares`, each connection carries one transfer at a time. NULL:
 * out of memory. */
shim_multi *shim_multi_new(const shim_multi_callbacks *callbacks, long connections, bool shares, int group, void *loop);
void shim_multi_free(shim_multi *multi); /* after all transfers have been removed; NULL is accepted */

/* Returns CURLE_OK, CURLE_OUT_OF_MEMORY, or another error if it cannot be added. */
CURLcode shim_multi_add(shim_multi *multi, shim_easy *easy);
void shim_multi_remove(shim_multi *multi, shim_easy *easy);

/* Tell libcurl that a socket is ready (SHIM_…), or that the timer has expired; libcurl then runs the callbacks. */
void shim_multi_ready(shim_multi *multi, int socket, int what);
void shim_multi_timeout(shim_multi *multi);

/* The next transfer that has ended, with its result; NULL if there is none. It must still be removed. */
void *shim_multi_next_ended(shim_multi *multi, CURLcode *code);

/* The answer of the body callback to a piece of a body. */
enum { SHIM_STOP = 0, SHIM_GO_ON = 1, SHIM_PAUSE = 2 };

/* The progress of a transfer, in bytes of bodies. A total of 0 means none or unknown. */
typedef struct shim_progress {
  int64_t received;
  int64_t receive_total;
  int64_t sent;
  int64_t send_total;
} shim_progress;

/* The callbacks of transfers. */
typedef struct shim_transfer_callbacks {
  bool (*header)(void *transfer, const char *line, size_t length); /* false: stop */
  int (*body)(void *transfer, const char *data, size_t length);    /* returns SHIM_… */
  int64_t (*read)(void *transfer, char *buffer,
                  size_t capacity); /* returns the number of bytes; 0: the end; below 0: see below */
  bool (*rewind)(void *transfer);   /* the request's body must be sent from its start */
  void (*moved)(void *transfer, const shim_progress *progress); /* progress; called often */
  void (*needs_http1)(void *transfer); /* the server requires HTTP/1.1 for this origin (HTTP_1_1_REQUIRED) */
  void (*opening)(void *transfer,
                  bool exhausted); /* look-up done; a socket is opened, or there are no descriptors left */
} shim_transfer_callbacks;

enum { SHIM_READ_FAILED = -1, SHIM_READ_PAUSE = -2 };

/* Settings for all transfers of an engine. NULL and 0 mean libcurl's defaults. */
typedef struct shim_easy_settings {
  const char *user_agent;
  const char *proxy;         /* NULL: from the environment; "": none */
  bool environment_has_none; /* no proxy in the environment, so libcurl does not have to check for each request */
  const char *ca_file;
  const char *ca_path;
  bool trusts_any_certificate;
  const char *client_certificate;
  const char *client_key;
  const char *client_key_password;
  const char *unix_socket;
} shim_easy_settings;

/* Whether the environment sets a proxy for any scheme. */
bool shim_environment_has_proxy(void);

/* The URL of the environment's proxy for http or https, as libcurl reads it; NULL: none. */
const char *shim_environment_proxy(bool has_tls);

/* Header lines of a request. */
typedef struct curl_slist shim_lines;

/* Appends a copy of a line; `lines` may be NULL. NULL: out of memory, and `lines` are unchanged. */
shim_lines *shim_lines_append(shim_lines *lines, const char *line);
void shim_lines_free(shim_lines *lines); /* NULL is accepted */

/* Adds a header line in front of `others`, which the caller still owns: `start` followed by `secret`. NULL: out of
 * memory. */
shim_lines *shim_header_add_secret(const char *start, const char *secret, shim_lines *others);
/* Overwrites and frees only that line. NULL is accepted. */
void shim_header_free_secret(shim_lines *first);
/* The header lines of a request without headers. They are shared and static: never append to them. */
shim_lines *shim_header_no_lines(void);
/* Frees header lines, except the static ones. NULL is accepted. */
void shim_header_free_lines(shim_lines *lines);
/* Whether the header lines contain Authorization. */
bool shim_header_has_authorization(const shim_lines *lines);

/* An easy handle is set up once, and used for one transfer after another. */

/* Its transfers run in `multi`. NULL: out of memory, or this libcurl lacks an option. */
shim_easy *shim_easy_new(shim_multi *multi, const shim_easy_settings *settings);
void shim_easy_free(shim_easy *easy); /* after it was removed from its multi handle; NULL is accepted */

/* The kind of body that an attempt sends. */
enum { SHIM_BODY_NONE, SHIM_BODY_EMPTY, SHIM_BODY_MEMORY, SHIM_BODY_STREAM, SHIM_BODY_MULTIPART };

/* The version of HTTP. */
enum { SHIM_HTTP_1_1, SHIM_HTTP_2_OVER_TLS, SHIM_HTTP_2_PRIOR_KNOWLEDGE };

/* Describes an attempt. The strings, headers and body must live as long as the transfer. */
typedef struct shim_attempt {
  const char *method;
  const char *url;
  shim_lines *headers;
  int body_kind;       /* SHIM_BODY_…; EMPTY: without a body, but with its length */
  const void *body;    /* for MEMORY */
  int64_t body_length; /* for MEMORY and STREAM; -1: unknown */
  int http_version;    /* SHIM_HTTP_… */
  bool multiplexed;    /* wait for a connection that is being made instead of opening another one */
  bool compressed;     /* request a compressed response; it is not decoded */
  bool fresh;          /* on a new connection */
  bool direct;         /* not through a proxy */
  bool alone;          /* on a new connection, which is closed afterwards */
  bool large;          /* the bodies need large buffers */
  bool watched;        /* `moved` reports the progress of the bodies */
  bool tunneled;       /* a proxy may be used with CONNECT */
  bool new_lookup;     /* look the host up again, even if its addresses are cached */
  bool same_place;     /* method and URL are those of the handle's previous attempt */
  long connect_timeout_ms;
} shim_attempt;

/* Prepares a handle for an attempt. Returns CURLE_OK, CURLE_OUT_OF_MEMORY, or another error if this libcurl lacks an
 * option. */
CURLcode shim_easy_prepare(shim_easy *easy, const shim_attempt *attempt, void *transfer);

/* The time from the start at which libcurl gives up connecting. libcurl divides it among the addresses of a host. */
void shim_easy_set_connect_timeout(shim_easy *easy, long milliseconds);

/* Whether libcurl tries the addresses of a family one after another, each for its share of the time; newer versions try
 * them in parallel. */
bool shim_curl_tries_one_address(void);

/* Whether libcurl tries the next address only when it is called for another reason. */
bool shim_curl_forgets_next_address(void);

/* The status of a proxy's answer to CONNECT; 0: no CONNECT was sent for this transfer, or it was not answered. */
int32_t shim_easy_proxy_status(const shim_easy *easy);

/* The transfer is over: no callback of it is called any more. */
void shim_easy_forget(shim_easy *easy);

/* Resumes a transfer that a callback has paused, and makes libcurl check it in any case. */
void shim_easy_resume(shim_easy *easy);

/* Whether libcurl has described a failure in addition to its code. */
bool shim_easy_has_message(const shim_easy *easy);

/* After CURLE_RECV_ERROR: whether a trailer was longer than libcurl accepts. Newer versions report CURLE_TOO_LARGE. */
bool shim_easy_has_long_trailer(const shim_easy *easy);

/* Prevents further use of the connection of a transfer that has ended: libcurl will find it dead. */
void shim_easy_break_connection(const shim_easy *easy);

/* Closes the connection of a transfer when all transfers that share it have ended. */
void shim_easy_close_connection(shim_easy *easy);

/* CURLE_TOO_LARGE, which is missing in headers before 8.6. */
enum { SHIM_CURLE_TOO_LARGE = 100 };

/* The underlying libcurl handle. */
void *shim_easy_handle(shim_easy *easy);

/* The status of the last status line; 0 if there was none. */
long shim_easy_status(const shim_easy *easy);

/* The HTTP version in the last status line, according to libcurl: 10, 11, 20; 0: none or another one. */
int32_t shim_easy_http_version(const shim_easy *easy);

/* Bytes sent so far, of the head and of the body. */
int64_t shim_easy_head_sent(shim_easy *easy);
int64_t shim_easy_body_sent(shim_easy *easy);

/* Length of the body that is sent; -1: unknown. */
int64_t shim_easy_body_length(shim_easy *easy);

/* The response that is about to begin ends when the server ends it; its Content-Length is ignored. */
void shim_easy_ignore_length(shim_easy *easy);

/* Bytes received of the response's body, before decoding. */
int64_t shim_easy_body_received(shim_easy *easy);

/* Turns calls of `needs_http1` on or off. They cost time, because libcurl reports the reason only as text. */
void shim_easy_listen(shim_easy *easy, bool listens);

/* It used an existing connection. */
bool shim_easy_is_reused(const shim_easy *easy);

/* Statistics of a transfer. Times are in nanoseconds from its start; -1: not reached. */
typedef struct shim_report {
  int32_t http_version; /* 10, 11, 20; 0: none */
  int64_t sent;         /* bytes of bodies */
  int64_t received;
  int64_t lookup;
  int64_t connect;
  int64_t tls;
  int64_t first_byte;
  int32_t proxy_status;    /* see shim_easy_proxy_status() */
  const char *tls_problem; /* why the TLS handshake failed: a static text; NULL: it did not, or the reason is unknown */
  bool is_proxy_tls;       /* the handshake was with a proxy */
  bool has_bad_framing;    /* libcurl has rejected a Content-Length or Transfer-Encoding of the response */
  int32_t system_error;    /* the system's last error, of a connection that failed; 0: none */
} shim_report;

/* `is_whole`: the transfer ended without an error. `has_body`: of the request. `report->http_version`: of the last status
 * line, or 0. libcurl is asked only for what follows from none of these. */
void shim_easy_report(shim_easy *easy, bool is_whole, bool has_body, shim_report *report);

/* A part of a multipart body. NULL means not set. */
typedef struct shim_part {
  const char *name;
  const char *file_name;
  const char *content_type;
  shim_lines *headers; /* owned by the handle */
  const void *data;
  size_t data_length;
  const char *path;
} shim_part;

enum { SHIM_PART_ADDED, SHIM_PART_NO_MEMORY, SHIM_PART_UNREADABLE };

/* Adds a part to the multipart body of a handle. Its data must live as long as the handle. Returns SHIM_PART_…;
 * UNREADABLE: the path is not a regular file, or cannot be read. */
int shim_easy_add_part(shim_easy *easy, const shim_part *part);

/* Call before each attempt. False if a part's file cannot be read, or has changed since the previous attempt. */
bool shim_easy_check_parts(shim_easy *easy);

/* The part whose file could not be read, from 0 (-1: none), and the reason: an error of shim_file.h; 0: the file has
 * become shorter. */
typedef struct shim_part_failure {
  int number;
  int error;
} shim_part_failure;

shim_part_failure shim_easy_part_failure(const shim_easy *easy);

/* The text for a code of libcurl. Static. */
const char *shim_curl_code_text(int32_t code);

/* The properties of a URL. */
typedef struct shim_url {
  uint64_t origin;   /* a hash of host and port, different in each process: see keyed_hash.h */
  bool needs_lookup; /* the host is a name */
  bool has_tls;      /* https */
  bool is_local;     /* always reaches this machine, with any resolver: 127.0.0.0/8, ::1, localhost (T13) */
} shim_url;

/* The result for a URL: it can be fetched (http or https, with a host), it cannot, or out of memory. */
enum { SHIM_URL_GOOD, SHIM_URL_BAD, SHIM_URL_NO_MEMORY };

/* Returns SHIM_URL_…. For BAD, *problem is set to what is wrong with the URL, else to NULL. Static. */
int shim_url_check(const char *url, shim_url *out, const char **problem);

/* Whether libcurl would accept the URL as a proxy. As above. */
int shim_url_check_proxy(const char *url, const char **problem);

/* Host and port of a proxy's URL, without user and password; free with shim_free. NULL: not a proxy's URL, or out of
 * memory. */
char *shim_url_proxy_name(const char *url);

/* The target of a redirect from a URL; free with shim_free. Returns SHIM_URL_…. */
int shim_url_follow(const char *url, const char *location, char **out);

/* A URL without its user and password; free with shim_free; NULL if it has neither. False: out of memory. */
bool shim_url_without_user(const char *url, char **out);

/* Whether two URLs have the same scheme, host and port. Returns SHIM_URL_…. */
int shim_url_same_origin(const char *url, const char *other, bool *is_same);

/* Whether the libcurl in use is this version (in the format of LIBCURL_VERSION_NUM) or newer. Call after
 * shim_curl_setup(). */
bool shim_curl_is_at_least(unsigned version);

/* The version of the libcurl in use. Static. */
const char *shim_curl_version_text(void);

/* Whether SHIM_ALPN_UNKNOWN means that a connection has no TLS. */
bool shim_tls_is_readable(void);

/* The local port; 0: none. */
int shim_socket_local_port(int socket);

/* Whether the connection is open and without errors, and has no unread data. */
bool shim_socket_is_quiet(int socket);

/* Whether the peer has closed the connection, or it has failed, even if there is unread data. */
bool shim_socket_is_closed(int socket);

/* Whether libcurl fails when it reuses a connection made with prior knowledge of HTTP/2 and without TLS: 7.88 does
 * (fixed in 8.0, pull request 10643). */
bool shim_curl_breaks_h2c(void);

/* Call before the first transfer; after it has succeeded once, further calls do nothing. False if libcurl is too old or
 * cannot be initialized. */
bool shim_curl_setup(const shim_transfer_callbacks *callbacks);

#endif
