/* Our data for libcurl's handles; only for the files of this folder. */
#ifndef BOXRETRY_CURL_HANDLES_H
#define BOXRETRY_CURL_HANDLES_H

#include "shim_curl.h"

/* The transfer callbacks are the same for all transfers. */
extern shim_transfer_callbacks shim_transfers;
extern unsigned shim_curl_version; /* of the libcurl in use; cached, because querying it is slow */

struct shim_multi {
  CURLM *curl;
  shim_multi_callbacks callbacks;
  void *loop;
  int group;
  bool is_ending;
  uint32_t openings;   /* number of sockets opened */
  shim_easy *last;     /* added last, or asked for last; NULL: none */
  bool may_have_ended; /* a transfer: libcurl has been called since it last said that none has */
};

/* As CURLOPT_PREREQFUNCTION gets it, with its NUL. */
enum { ADDRESS_SIZE = 48 };

struct shim_easy {
  char message[CURL_ERROR_SIZE]; /* libcurl's description of a failure, in addition to its code; empty: none */
  CURL *curl;
  shim_multi *multi;
  void *transfer; /* NULL: none */
  curl_mime *mime;
  int part_count;
  struct part_data *file_parts; /* parts that are read from files */
  shim_part_failure part_failure;
  bool was_used;
  bool is_in_head;     /* the body callback gets the lines of the head: see has_to_show_head() */
  bool expects_status; /* in the head: the next line is a status line */
  bool has_begun_line; /* in the head: a part of the next line has arrived */
  bool is_always_direct;
  const char *no_proxy; /* hosts that are reached without a proxy; NULL: from the environment */
  /* The current settings, initially libcurl's defaults. */
  bool is_fresh, is_alone, is_direct, is_multiplexed, is_compressed, is_watched, is_tunneled, is_large,
      is_length_ignored, drops_addresses, listens;
  bool has_opened;                /* a socket, for this transfer */
  int refusal_bytes;              /* sent by a proxy after it refused CONNECT */
  bool has_method;                /* not a GET without a body */
  bool may_have_tls;              /* its connection, to the server or to a proxy */
  bool is_reused;                 /* the connection that it was about to send on last */
  bool is_https, is_get, is_head; /* of the URL and the method */
  struct {
    char peer[ADDRESS_SIZE], local[ADDRESS_SIZE];
    int peer_port, local_port;
    uint64_t key; /* 0: none */
  } connection;   /* the one that it was about to send on last: most often the next one is the same */
  const shim_lines *lines;
  long connect_timeout_ms;
  long http_version;
};

/* Detects once how to query libcurl's TLS library. */
void shim_tls_find(void);

/* Why the TLS handshake failed: a static text; NULL if it did not, or if libcurl's message does not say. */
const char *shim_easy_tls_problem(const shim_easy *easy, bool *is_of_proxy);

/* The arguments are those of CURLOPT_PREREQFUNCTION. */
shim_connection shim_connection_of(shim_easy *easy, const char *peer, const char *local, int peer_port, int local_port);

#endif
