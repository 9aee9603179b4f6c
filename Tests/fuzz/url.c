/*
 * What is known of URLs, without libcurl's parser where a URL is plain, with it else: the two must agree.
 *
 * The input is two texts with a NUL between them: a URL; and another one, a proxy's URL, or a Location.
 */
#include "fuzz.h"

#include <arpa/inet.h>
#include <strings.h>

#include "../../Sources/CShims/keyed_hash.h"
#include "shim_curl.h"

typedef struct parts {
  char *scheme, *host, *port;
} parts;

/* Whether libcurl takes it for a URL of http or https. In any case `out` is to be freed. */
static bool parse(const char *url, parts *out) {
  CURLU *parsed = curl_url();
  *out = (parts){NULL, NULL, NULL};
  const bool is_good = curl_url_set(parsed, CURLUPART_URL, url, 0) == CURLUE_OK &&
                       curl_url_get(parsed, CURLUPART_SCHEME, &out->scheme, 0) == CURLUE_OK &&
                       strncmp(out->scheme, "http", 4) == 0 &&
                       curl_url_get(parsed, CURLUPART_HOST, &out->host, 0) == CURLUE_OK &&
                       curl_url_get(parsed, CURLUPART_PORT, &out->port, CURLU_DEFAULT_PORT) == CURLUE_OK;
  curl_url_cleanup(parsed);
  return is_good;
}

static void free_parts(parts *it) {
  curl_free(it->scheme);
  curl_free(it->host);
  curl_free(it->port);
}

/* What the library does not even look at further: RequestChecks.urlProblem. */
static bool has_forbidden(const char *text) {
  for (; *text; text++)
    if ((unsigned char)*text <= 0x20 || *text == 0x7F) return true;
  return false;
}

static bool is_ascii(const char *text) {
  for (; *text; text++)
    if (*text & 0x80) return false;
  return true;
}

static bool check(const char *url) {
  shim_url known;
  const char *problem;
  parts its;
  const bool is_good = shim_url_check(url, &known, &problem) == SHIM_URL_GOOD;
  REQUIRE(is_good == (problem == NULL), "what is wrong has words");
  /* The library refuses some international hosts that libcurl accepts: those that IDNA converts to a delimiter. */
  const bool is_known = parse(url, &its);
  REQUIRE(is_good ? is_known : !is_known || !is_ascii(its.host), "a URL is one that libcurl can fetch");
  if (is_good) {
    struct in_addr address;
    const bool is_address = its.host[0] == '[' || inet_pton(AF_INET, its.host, &address) == 1;
    REQUIRE(known.has_tls == (strcmp(its.scheme, "https") == 0), "the scheme is libcurl's");
    REQUIRE(known.origin == keyed_hash(its.host, its.port, 0), "host and port are libcurl's");
    REQUIRE(!known.is_local || strcasecmp(its.host, "localhost") == 0 || strcmp(its.host, "[::1]") == 0 ||
                (is_address && strncmp(its.host, "127.", 4) == 0),
            "T13: this machine, for any answer of a resolver");
    REQUIRE(known.needs_lookup == !is_address, "an address needs no look-up");
  }
  free_parts(&its);
  return is_good;
}

static void check_without_user(const char *url) {
  char *without;
  parts before, after;
  REQUIRE(shim_url_without_user(url, &without), "there is memory");
  if (without) {
    REQUIRE(parse(url, &before) && parse(without, &after), "it stays a URL");
    REQUIRE(strcmp(before.host, after.host) == 0 && strcmp(before.port, after.port) == 0, "of the same place");
    free_parts(&before);
    free_parts(&after);
  }
  CURLU *parsed = curl_url();
  char *user = NULL;
  REQUIRE(curl_url_set(parsed, CURLUPART_URL, without ? without : url, 0) == CURLUE_OK, "it stays a URL");
  REQUIRE(curl_url_get(parsed, CURLUPART_USER, &user, 0) == CURLUE_NO_USER, "T1: nothing of a user is left");
  curl_free(user);
  curl_url_cleanup(parsed);
  free(without);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const uint8_t *end = size > 0 ? memchr(data, '\0', size) : NULL;
  const size_t length = end ? (size_t)(end - data) : size;
  char *url = new_string(data, length);
  char *other = end ? new_string(end + 1, size - length - 1) : new_string("", 0);
  const char *problem;
  bool is_same;
  if (!has_forbidden(other)) {
    const int proxy = shim_url_check_proxy(other, &problem);
    REQUIRE((proxy == SHIM_URL_GOOD) == (problem == NULL), "what is wrong with a proxy has words");
  }
  if (!has_forbidden(url) && check(url)) {
    char *followed;
    check_without_user(url);
    REQUIRE(shim_url_same_origin(url, url, &is_same) == SHIM_URL_GOOD && is_same, "a URL is of its own origin");
    if (shim_url_follow(url, other, &followed) == SHIM_URL_GOOD) {
      if (!has_forbidden(followed)) REQUIRE(check(followed), "what is followed can be fetched");
      if (*other == '#') REQUIRE(strncmp(url, followed, strlen(followed)) == 0, "a fragment is of the same document");
    }
    free(followed);
  }
  free(url);
  free(other);
  return 0;
}
