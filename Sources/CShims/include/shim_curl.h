/* libcurl without variadic functions: what the engine asks of it, and what it tells the engine. */
#ifndef BOXRETRY_CURL_H
#define BOXRETRY_CURL_H

#include <curl/curl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a multi handle tells the loop that drives it. */
typedef struct shim_multi_callbacks {
  /* `what`: SHIM_READABLE, SHIM_WRITABLE, both, or 0: forget the socket. `transfer` uses it. */
  void (*watch)(void *loop, void *transfer, int socket, int what);
  /* Call shim_multi_timeout in so many milliseconds; -1: not at all. Not from inside this callback. */
  void (*set_timer)(void *loop, long timeout_ms);
} shim_multi_callbacks;

typedef struct shim_multi shim_multi;

shim_multi *shim_multi_new(const shim_multi_callbacks *callbacks, void *loop); /* NULL: out of memory */
void shim_multi_free(shim_multi *multi);                                       /* all transfers have been removed */

bool shim_multi_add(shim_multi *multi, CURL *easy);
void shim_multi_remove(shim_multi *multi, CURL *easy);

/* Tell libcurl that a socket is ready (SHIM_…), or that the time is up; it then calls back. */
void shim_multi_ready(shim_multi *multi, int socket, int what);
void shim_multi_timeout(shim_multi *multi);

/* The next transfer that has ended, and how; NULL if there is none. It is still to be removed. */
void *shim_multi_next_ended(shim_multi *multi, CURLcode *code);

/* What transfers tell their owners. */
typedef struct shim_transfer_callbacks {
  bool (*may_send)(void *transfer); /* before each sending of the request; false: do not */
  bool (*header)(void *transfer, const char *line, size_t length); /* false: stop */
  bool (*body)(void *transfer, const char *data, size_t length);   /* false: stop */
  void (*moved)(void *transfer, int64_t down, int64_t up);         /* so many bytes of bodies, so far; called often */
  void (*opening)(void *transfer, bool exhausted); /* look-up over; a socket is opened, or there are no descriptors */
} shim_transfer_callbacks;

/* An attempt. The strings, headers and body must live as long as the transfer. */
typedef struct shim_attempt {
  const char *method;
  const char *url;
  struct curl_slist *headers;
  const void *body; /* NULL: none */
  int64_t body_length;
  bool has_empty_body; /* there is none, but its length is to be sent */
  const char *user_agent;
  const char *proxy;   /* NULL: as the environment says; "": none */
  const char *ca_file; /* NULL: the system's */
  char *error_text;    /* CURL_ERROR_SIZE bytes */
  bool fresh;          /* on a new connection */
} shim_attempt;

/* Sets up a handle (new, or used before) for an attempt. False: out of memory, or an option that this libcurl lacks. */
bool shim_easy_prepare(CURL *easy, const shim_attempt *attempt, void *transfer);

/* The status of the last status line; 0 if there was none. */
long shim_easy_status(CURL *easy);

/* What a code means. Static. */
const char *shim_easy_text(CURLcode code);

/* Whether a URL is one that we can fetch: http or https, with a host. On success the FNV-1a hash of host and port, and
 * whether the host is a name that has to be looked up. */
bool shim_url_check(const char *url, uint64_t *origin, bool *needs_lookup);

/* Before the first transfer; only the first call counts. False if libcurl is too old or cannot be set up. */
bool shim_curl_setup(const shim_transfer_callbacks *callbacks);

#endif
