/* What a handle of libcurl's is to us; for the files of this folder alone. */
#ifndef BOXRETRY_CURL_HANDLES_H
#define BOXRETRY_CURL_HANDLES_H

#include "shim_curl.h"

/* What the callbacks of a transfer are is the same for all of them. */
extern shim_transfer_callbacks shim_transfers;
extern unsigned shim_curl_version; /* of the libcurl that was found; asking for it is not cheap */

struct shim_multi {
  CURLM *curl;
  shim_multi_callbacks callbacks;
  void *loop;
  int group;
  bool is_ending;
  uint32_t openings; /* of sockets */
};

struct shim_easy {
  char message[CURL_ERROR_SIZE]; /* what libcurl says of a failure, beside its code; empty: nothing */
  CURL *curl;
  shim_multi *multi;
  void *transfer; /* NULL: none */
  curl_mime *mime;
  int part_count;
  struct part_data *file_parts; /* those that are read from files */
  shim_part_failure part_failure;
  bool was_used;
  bool is_in_head;     /* the body's function gets the lines of the head: see has_to_show_head() */
  bool expects_status; /* in the head: the next line is a status line */
  bool has_begun_line; /* in the head: a part of the next line has come */
  bool is_always_direct;
  const char *no_proxy; /* hosts for which no proxy is used; NULL: as the environment says */
  /* What is set at present; libcurl's own choice at first. */
  bool is_fresh, is_alone, is_direct, is_multiplexed, is_compressed, is_watched, is_tunneled, is_large,
      is_length_ignored, drops_addresses, listens;
  int refusal_bytes; /* that a proxy has sent after it refused CONNECT */
  bool has_method;   /* other than a GET without a body */
  long http_version;
};

/* Finds out once how to ask libcurl's TLS library. */
void shim_tls_find(void);

/* Why the TLS handshake failed: a static text; NULL if it did not, or if libcurl's message does not say. */
const char *shim_easy_tls_problem(const shim_easy *easy, bool *is_of_proxy);

/* The arguments are those of CURLOPT_PREREQFUNCTION. */
shim_connection shim_connection_of(const shim_easy *easy, const char *peer, const char *local, int peer_port,
                                   int local_port);

#endif
