#include "shim_curl.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

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
  if (strncmp(host, "127.", 4) == 0) return is_address(host);
  return strcasecmp(host, "localhost") == 0 || strcasecmp(host, "localhost.") == 0 || strcmp(host, "[::1]") == 0;
}

/* The parts of a URL that say where a request goes. */
typedef struct url_origin {
  char *scheme, *host, *port;
} url_origin;

static bool read_origin(CURLU *parsed, url_origin *out) {
  return curl_url_get(parsed, CURLUPART_SCHEME, &out->scheme, 0) == CURLUE_OK &&
         (strcmp(out->scheme, "http") == 0 || strcmp(out->scheme, "https") == 0) &&
         curl_url_get(parsed, CURLUPART_HOST, &out->host, 0) == CURLUE_OK &&
         curl_url_get(parsed, CURLUPART_PORT, &out->port, CURLU_DEFAULT_PORT) == CURLUE_OK;
}

static void free_origin(url_origin *origin) {
  curl_free(origin->scheme);
  curl_free(origin->host);
  curl_free(origin->port);
}

/* False: it is no URL that we can fetch. In any case `out` is to be freed. */
static bool parse_origin(const char *url, url_origin *out) {
  CURLU *parsed = curl_url();
  *out = (url_origin){NULL, NULL, NULL};
  const bool ok = parsed && curl_url_set(parsed, CURLUPART_URL, url, 0) == CURLUE_OK && read_origin(parsed, out);
  curl_url_cleanup(parsed);
  return ok;
}

/* What is known of a URL by its scheme, host and port, each as libcurl writes it. */
static shim_url facts(bool has_tls, const char *host, const char *port) {
  return (shim_url){.origin = hash(hash(0xCBF29CE484222325U, host), port),
                    .needs_lookup = !is_address(host),
                    .has_tls = has_tls,
                    .is_confidential = has_tls || is_loopback(host)};
}

/* Most URLs are of one plain form: a scheme, a name in small letters or an IPv4 address, perhaps a port, a path. It is
 * told here, since libcurl, which will parse the URL once more when it sends the request, takes an eighth of a request's
 * time for that. False: libcurl is to say what it is. */
static bool check_plain(const char *url, shim_url *out) {
  char host[64], port[6];
  const bool has_tls = strncmp(url, "https://", 8) == 0;
  if (!has_tls && strncmp(url, "http://", 7) != 0) return false;
  url += has_tls ? 8 : 7;
  size_t length = 0;
  for (; (*url >= 'a' && *url <= 'z') || (*url >= '0' && *url <= '9') || *url == '.' || *url == '-'; url++) {
    if (length == sizeof host - 1) return false;
    host[length++] = *url;
  }
  host[length] = '\0';
  /* libcurl takes other numbers for addresses as well. */
  if (!(host[0] >= 'a' && host[0] <= 'z') && !is_address(host)) return false;
  length = 0;
  if (*url == ':') {
    if (*++url == '0') return false;
    for (; *url >= '0' && *url <= '9'; url++) {
      if (length == sizeof port - 1) return false;
      port[length++] = *url;
    }
    port[length] = '\0';
    if (length == 0 || atoi(port) > 65535) return false;
  } else {
    strcpy(port, has_tls ? "443" : "80");
  }
  if (*url != '\0' && *url != '/' && *url != '?' && *url != '#') return false;
  *out = facts(has_tls, host, port);
  return true;
}

bool shim_url_check(const char *url, shim_url *out) {
  url_origin origin;
  if (check_plain(url, out)) return true;
  const bool ok = parse_origin(url, &origin);
  if (ok) *out = facts(strcmp(origin.scheme, "https") == 0, origin.host, origin.port);
  free_origin(&origin);
  return ok;
}

char *shim_url_follow(const char *url, const char *location) {
  /* RFC 3986, 5.2.2: with nothing but a fragment it is the same document. libcurl would drop its last part. */
  if (*location == '#') return strndup(url, strcspn(url, "#"));
  if (*location == '\0') return NULL;
  CURLU *parsed = curl_url();
  url_origin origin = {NULL, NULL, NULL};
  char *followed = NULL, *copy = NULL;
  if (parsed && curl_url_set(parsed, CURLUPART_URL, url, 0) == CURLUE_OK &&
      curl_url_set(parsed, CURLUPART_URL, location, CURLU_URLENCODE | CURLU_ALLOW_SPACE) == CURLUE_OK &&
      read_origin(parsed, &origin) && curl_url_get(parsed, CURLUPART_URL, &followed, 0) == CURLUE_OK) {
    copy = strdup(followed);
  }
  curl_free(followed);
  free_origin(&origin);
  curl_url_cleanup(parsed);
  return copy;
}

char *shim_url_without_user(const char *url) {
  const char *host = strchr(url, '@') ? strstr(url, "://") : NULL;
  if (!host) return NULL;
  host += 3;
  const char *end = host + strcspn(host, "/?#"), *at = NULL;
  for (const char *c = host; c < end; c++)
    if (*c == '@') at = c;
  if (!at) return NULL;
  char *copy = malloc(strlen(url) + 1);
  if (!copy) return NULL;
  memcpy(copy, url, (size_t)(host - url));
  strcpy(copy + (host - url), at + 1);
  return copy;
}

bool shim_url_same_origin(const char *url, const char *other) {
  url_origin one, two;
  const bool ok = parse_origin(url, &one), also_ok = parse_origin(other, &two);
  const bool same = ok && also_ok && strcmp(one.scheme, two.scheme) == 0 && strcasecmp(one.host, two.host) == 0 &&
                    strcmp(one.port, two.port) == 0;
  free_origin(&one);
  free_origin(&two);
  return same;
}
