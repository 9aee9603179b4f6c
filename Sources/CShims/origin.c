#include "shim_origin.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <string.h>
#include <strings.h>

/* 127.0.0.0/8, ::1, and the name that always stands for them (RFC 6761). `host` as in a URL: IPv6 in brackets. */
static bool is_loopback(const char *host) {
  struct in_addr address;
  if (strcasecmp(host, "localhost") == 0 || strcasecmp(host, "localhost.") == 0) return true;
  if (inet_pton(AF_INET, host, &address) == 1) return ntohl(address.s_addr) >> 24 == 127;
  return strcmp(host, "[::1]") == 0;
}

bool shim_url_is_confidential(const char *url) {
  CURLU *parts = curl_url();
  char *scheme = NULL, *host = NULL;
  bool result = false;
  if (!parts) return false;
  if (curl_url_set(parts, CURLUPART_URL, url, 0) == CURLUE_OK &&
      curl_url_get(parts, CURLUPART_SCHEME, &scheme, 0) == CURLUE_OK &&
      curl_url_get(parts, CURLUPART_HOST, &host, 0) == CURLUE_OK)
    result = strcasecmp(scheme, "https") == 0 || is_loopback(host);
  curl_free(scheme);
  curl_free(host);
  curl_url_cleanup(parts);
  return result;
}
