/* libcurl without variadic functions: what the engine asks of it, and what it tells the engine. */
#ifndef BOXRETRY_CURL_H
#define BOXRETRY_CURL_H

#include <curl/curl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The connection that libcurl has chosen for a transfer. */
typedef struct shim_connection {
  uint64_t key;        /* identifies an open connection; 0: libcurl does not say its addresses */
  int local_port;      /* 0: unknown */
  int alpn;            /* SHIM_ALPN_… */
  bool is_reused;      /* it was not opened for this transfer */
  bool has_unread_tls; /* the TLS library holds bytes that nobody has read */
} shim_connection;

/* What ALPN selected on a connection. UNKNOWN: no TLS, or a TLS library that cannot be asked. */
enum { SHIM_ALPN_UNKNOWN, SHIM_ALPN_NONE, SHIM_ALPN_HTTP2, SHIM_ALPN_OTHER };

/* What a multi handle tells the loop that drives it. `group` is what the handle was made with. */
typedef struct shim_multi_callbacks {
  /* `what`: SHIM_READABLE, SHIM_WRITABLE, both, or 0: forget the socket. `transfer` uses it. */
  void (*watch)(void *loop, int group, void *transfer, int socket, int what);
  /* Call shim_multi_timeout in so many milliseconds; -1: not at all. Not from inside this callback. */
  void (*set_timer)(void *loop, int group, long timeout_ms);
  /* A socket was opened, for a transfer or (NULL) none, or is about to be closed. Not called for every watched socket. */
  void (*changed)(void *loop, void *transfer, int socket, bool is_open);
  /* Before each sending of a request; false: do not send it, and drop the transfer. */
  bool (*may_send)(void *loop, void *transfer, const shim_connection *connection);
} shim_multi_callbacks;

typedef struct shim_multi shim_multi;
typedef struct shim_easy shim_easy; /* see below */

/* Keeps so many connections for further requests. Without `shares`, each connection carries one transfer at a time. NULL: out
 * of memory. */
shim_multi *shim_multi_new(const shim_multi_callbacks *callbacks, long connections, bool shares, int group, void *loop);
void shim_multi_free(shim_multi *multi); /* all transfers have been removed; NULL is accepted */

/* CURLE_OK; CURLE_OUT_OF_MEMORY; else it cannot be added. */
CURLcode shim_multi_add(shim_multi *multi, shim_easy *easy);
void shim_multi_remove(shim_multi *multi, shim_easy *easy);

/* Tell libcurl that a socket is ready (SHIM_…), or that the time is up; it then calls back. */
void shim_multi_ready(shim_multi *multi, int socket, int what);
void shim_multi_timeout(shim_multi *multi);

/* The next transfer that has ended, and how; NULL if there is none. It is still to be removed. */
void *shim_multi_next_ended(shim_multi *multi, CURLcode *code);

/* What a transfer says to a piece of a body. */
enum { SHIM_STOP = 0, SHIM_GO_ON = 1, SHIM_PAUSE = 2 };

/* How far a transfer has come, in bytes of bodies. A total of 0 is none, or not known. */
typedef struct shim_progress {
  int64_t received;
  int64_t receive_total;
  int64_t sent;
  int64_t send_total;
} shim_progress;

/* What transfers tell their owners. */
typedef struct shim_transfer_callbacks {
  bool (*header)(void *transfer, const char *line, size_t length); /* false: stop */
  int (*body)(void *transfer, const char *data, size_t length);    /* SHIM_… */
  int64_t (*read)(void *transfer, char *buffer, size_t capacity);  /* so many bytes; 0: the end; below 0: see below */
  bool (*rewind)(void *transfer);                                  /* the request's body is wanted from its start */
  void (*moved)(void *transfer, const shim_progress *progress);    /* called often */
  void (*needs_http1)(void *transfer); /* the server has refused HTTP/2 for this origin (HTTP_1_1_REQUIRED) */
  void (*opening)(void *transfer, bool exhausted); /* look-up over; a socket is opened, or there are no descriptors */
} shim_transfer_callbacks;

enum { SHIM_READ_FAILED = -1, SHIM_READ_PAUSE = -2 };

/* What holds for all transfers of an engine. NULL and 0 are libcurl's defaults. */
typedef struct shim_easy_settings {
  const char *user_agent;
  const char *proxy;         /* NULL: as the environment says; "": none */
  bool environment_has_none; /* the environment names no proxy, so that libcurl need not look at each request */
  const char *ca_file;
  const char *ca_path;
  bool trusts_any_certificate;
  const char *client_certificate;
  const char *client_key;
  const char *client_key_password;
  const char *unix_socket;
} shim_easy_settings;

/* Whether the environment names a proxy, for whatever scheme. */
bool shim_environment_has_proxy(void);

/* The URL of the proxy that the environment names for http or https, as libcurl reads it; NULL: none. */
const char *shim_environment_proxy(bool has_tls);

/* Header lines of a request. */
typedef struct curl_slist shim_lines;

/* Adds a copy of a line; `lines` may be NULL. NULL: out of memory, and `lines` are as they were. */
shim_lines *shim_lines_append(shim_lines *lines, const char *line);
void shim_lines_free(shim_lines *lines); /* NULL is accepted */

/* Puts a header line before others, which stay theirs: `start` and then `secret`. NULL: out of memory. */
shim_lines *shim_header_add_secret(const char *start, const char *secret, shim_lines *others);
/* Frees and overwrites that one line. NULL is accepted. */
void shim_header_free_secret(shim_lines *first);
/* The header lines of a request that has none of its own. They are nobody's: nothing is to be put behind them. */
shim_lines *shim_header_no_lines(void);
/* Frees header lines, but for those. NULL is accepted. */
void shim_header_free_lines(shim_lines *lines);
/* Whether there is an Authorization among header lines. */
bool shim_header_has_authorization(const shim_lines *lines);

/* A handle of libcurl's is set up once, and used for one transfer after the other. */

/* Its transfers will run in `multi`. NULL: out of memory, or an option that is lacking. */
shim_easy *shim_easy_new(shim_multi *multi, const shim_easy_settings *settings);
void shim_easy_free(shim_easy *easy); /* in no multi handle any more; NULL is accepted */

/* What kind of body an attempt sends. */
enum { SHIM_BODY_NONE, SHIM_BODY_EMPTY, SHIM_BODY_MEMORY, SHIM_BODY_STREAM, SHIM_BODY_MULTIPART };

/* Which version of HTTP to speak. */
enum { SHIM_HTTP_1_1, SHIM_HTTP_2_OVER_TLS, SHIM_HTTP_2_PRIOR_KNOWLEDGE };

/* An attempt. The strings, headers and body must live as long as the transfer. */
typedef struct shim_attempt {
  const char *method;
  const char *url;
  shim_lines *headers;
  int body_kind;       /* SHIM_BODY_…; EMPTY: there is none, but its length is to be sent */
  const void *body;    /* for MEMORY */
  int64_t body_length; /* for MEMORY and STREAM; -1: unknown */
  int http_version;    /* SHIM_HTTP_… */
  bool multiplexed;    /* wait for a connection that is being made, rather than make another one */
  bool compressed;     /* ask for compressed responses; they come as they are */
  bool fresh;          /* on a new connection */
  bool direct;         /* not by way of a proxy */
  bool alone;          /* on a new connection, which is closed afterwards */
  bool large;          /* the bodies are worth large buffers */
  bool watched;        /* `moved` tells how far the bodies have come */
  bool tunneled;       /* a proxy may be asked to connect */
  bool new_lookup;     /* look the host up again, even if its addresses are known */
  long connect_timeout_ms;
} shim_attempt;

/* Prepares a handle for an attempt. CURLE_OK; CURLE_OUT_OF_MEMORY; else it is an option that this libcurl lacks. */
CURLcode shim_easy_prepare(shim_easy *easy, const shim_attempt *attempt, void *transfer);

/* The time after its start at which libcurl gives up connecting. It divides it among the addresses of a host. */
void shim_easy_set_connect_timeout(shim_easy *easy, long milliseconds);

/* Whether libcurl tries one address of a family after the other, each for its share of the time; newer ones try them side
 * by side. */
bool shim_curl_tries_one_address(void);

/* Whether libcurl waits to be called for some other reason before it tries the next address. */
bool shim_curl_forgets_next_address(void);

/* The status with which a proxy has answered CONNECT; 0: no CONNECT was sent for this transfer, or it was not answered. */
int32_t shim_easy_proxy_status(const shim_easy *easy);

/* The transfer is over: nobody is told of anything any more. */
void shim_easy_forget(shim_easy *easy);

/* Goes on with what a callback has paused, and has libcurl look at the transfer in any case. */
void shim_easy_resume(shim_easy *easy);

/* libcurl says more of a failure than its code. */
bool shim_easy_has_message(const shim_easy *easy);

/* The connection of a transfer that has ended is not used again, since libcurl finds that it is dead. */
void shim_easy_break_connection(const shim_easy *easy);

/* The connection of a transfer is closed when it and those that share the connection have ended. */
void shim_easy_close_connection(shim_easy *easy);

/* CURLE_TOO_LARGE, which headers before 8.6 lack. */
enum { SHIM_CURLE_TOO_LARGE = 100 };

/* libcurl's own handle. */
void *shim_easy_handle(shim_easy *easy);

/* The status of the last status line; 0 if there was none. */
long shim_easy_status(const shim_easy *easy);

/* The HTTP version that libcurl read in the last status line: 10, 11, 20; 0: none or another one. */
int32_t shim_easy_http_version(const shim_easy *easy);

/* How far the sending came: bytes of the head, and of the body. */
int64_t shim_easy_head_sent(shim_easy *easy);
int64_t shim_easy_body_sent(shim_easy *easy);

/* Bytes of the body that is sent; -1: not known. */
int64_t shim_easy_body_length(shim_easy *easy);

/* The response, which is about to begin, ends when the server ends it, whatever its Content-Length says. */
void shim_easy_ignore_length(shim_easy *easy);

/* Bytes of the response's body, as they came. */
int64_t shim_easy_body_received(shim_easy *easy);

/* From now on, or no longer, `needs_http1` may be called. It costs time, since libcurl says it in words alone. */
void shim_easy_listen(shim_easy *easy, bool listens);

/* No connection was made for it: there was one. */
bool shim_easy_is_reused(const shim_easy *easy);

/* How a transfer went. Times in nanoseconds from its start; -1: it did not come so far. */
typedef struct shim_report {
  int32_t http_version; /* 10, 11, 20; 0: none */
  int64_t sent;         /* bytes of bodies */
  int64_t received;
  int64_t lookup;
  int64_t connect;
  int64_t tls;
  int64_t first_byte;
  int32_t proxy_status;    /* see shim_easy_proxy_status() */
  const char *tls_problem; /* why the TLS handshake failed: a static text; NULL: it did not, or nobody knows */
  bool is_proxy_tls;       /* that handshake was with a proxy */
} shim_report;

void shim_easy_report(shim_easy *easy, shim_report *report);

/* A part of a multipart body. NULL is nothing. */
typedef struct shim_part {
  const char *name;
  const char *file_name;
  const char *content_type;
  shim_lines *headers; /* the handle takes it over */
  const void *data;
  size_t data_length;
  const char *path;
} shim_part;

enum { SHIM_PART_ADDED, SHIM_PART_NO_MEMORY, SHIM_PART_UNREADABLE };

/* Adds a part to the multipart body of a handle. Its data must live as long as the handle. SHIM_PART_…; UNREADABLE: there
 * is not a regular file at the path, or it cannot be read. */
int shim_easy_add_part(shim_easy *easy, const shim_part *part);

/* Before each attempt: false if a part's file cannot be read, or is not what it was in the attempt before. */
bool shim_easy_check_parts(shim_easy *easy);

/* The part whose file could not be read, from 0 (-1: none), and why: an error as of shim_file.h; 0: it has become
 * shorter. */
typedef struct shim_part_failure {
  int number;
  int error;
} shim_part_failure;

shim_part_failure shim_easy_part_failure(const shim_easy *easy);

/* What a code of libcurl means. Static. */
const char *shim_curl_code_text(int32_t code);

/* What has to be known of a URL. */
typedef struct shim_url {
  uint64_t origin;   /* a hash of host and port, different in each process: see keyed_hash.h */
  bool needs_lookup; /* the host is a name */
  bool has_tls;      /* https */
  bool is_local;     /* reaches this machine whatever a resolver answers: 127.0.0.0/8, ::1, localhost (T13) */
} shim_url;

/* What is said of a URL: it is one that we can fetch (http or https, with a host), it is not, or there is no memory. */
enum { SHIM_URL_GOOD, SHIM_URL_BAD, SHIM_URL_NO_MEMORY };

/* SHIM_URL_…; if it is BAD, *problem becomes what is wrong with it, else NULL. Static. */
int shim_url_check(const char *url, shim_url *out, const char **problem);

/* Whether libcurl would take it for a proxy. As above. */
int shim_url_check_proxy(const char *url, const char **problem);

/* Host and port of a proxy's URL, without a user or password, to be freed with shim_free. NULL: not a proxy's URL, or out of
 * memory. */
char *shim_url_proxy_name(const char *url);

/* Where a redirect leads from a URL, to be freed with shim_free. SHIM_URL_… */
int shim_url_follow(const char *url, const char *location, char **out);

/* A URL without the user and password in it, to be freed with shim_free; NULL if there are none. False: out of memory. */
bool shim_url_without_user(const char *url, char **out);

/* Whether two URLs have the same scheme, host and port. SHIM_URL_… */
int shim_url_same_origin(const char *url, const char *other, bool *is_same);

/* Whether the libcurl in use is of this version, as LIBCURL_VERSION_NUM has it, or newer; after shim_curl_setup(). */
bool shim_curl_is_at_least(unsigned version);

/* The version of the libcurl in use. Static. */
const char *shim_curl_version_text(void);

/* Whether SHIM_ALPN_UNKNOWN means that a connection has no TLS. */
bool shim_tls_is_readable(void);

/* The port of this end; 0: it has none. */
int shim_socket_local_port(int socket);

/* The peer has neither sent anything that is unread nor closed the connection, which has not failed either. */
bool shim_socket_is_quiet(int socket);

/* The peer has closed the connection, or it has failed, whatever is unread. */
bool shim_socket_is_closed(int socket);

/* Whether libcurl fails when it uses a connection again that was made with prior knowledge of HTTP/2 and without TLS: 7.88
 * does (fixed in 8.0, pull request 10643). */
bool shim_curl_breaks_h2c(void);

/* Before the first transfer; once it has worked, further calls do nothing. False if libcurl is too old or cannot be set up. */
bool shim_curl_setup(const shim_transfer_callbacks *callbacks);

#endif
