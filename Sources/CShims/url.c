#include "keyed_hash.h"
#include "shim_curl.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* What the notation of a host in a URL tells about it. IPv6 addresses are in brackets. */
typedef struct url_host {
  bool is_address;
  bool is_loopback;
} url_host;

/* Only hosts that reach this machine with any resolver count as loopback (T13): 127.0.0.0/8 and ::1, whose packets the
 * kernel never sends out, and the name "localhost", which every libcurl since 7.78 resolves itself. "localhost." does
 * not count: libcurl before 8.12 asks the resolver for it. libcurl has decoded the host and converted other forms of an
 * IPv4 address (127.1, 0x7f000001) to four decimal numbers, and does the same again when it connects. */
static url_host read_host(const char *host) {
  struct in_addr address;
  if (host[0] == '[') return (url_host){true, strcmp(host, "[::1]") == 0};
  if (host[0] >= '0' && host[0] <= '9' && inet_pton(AF_INET, host, &address) == 1)
    return (url_host){true, ntohl(address.s_addr) >> 24 == 127};
  return (url_host){false, strcasecmp(host, "localhost") == 0};
}

/* The parts of a URL that determine where a request goes. */
typedef struct url_origin {
  char *scheme, *host, *port;
} url_origin;

/* Converts the code of the last step in parsing a URL. */
static int url_result(CURLUcode code) {
  return code == CURLUE_OK ? SHIM_URL_GOOD : code == CURLUE_OUT_OF_MEMORY ? SHIM_URL_NO_MEMORY : SHIM_URL_BAD;
}

static bool is_ascii(const char *text) {
  for (; *text; text++)
    if (*text & 0x80) return false;
  return true;
}

/* libcurl sends an international host name as IDNA converts it. The conversion maps some characters to delimiters of a
 * URL, such as the full-width slash to "/". libcurl would notice that only in its request for a proxy; it would send
 * other requests with such a host. `host`: decoded. */
static CURLUcode check_converted(CURLU *parsed, const char *host) {
#ifdef CURLU_PUNYCODE /* missing in headers before 7.88 */
  if (is_ascii(host)) return CURLUE_OK;
  char *converted = NULL;
  CURLUcode code = curl_url_get(parsed, CURLUPART_HOST, &converted, CURLU_PUNYCODE);
  if (code == CURLUE_LACKS_IDN) return CURLUE_OK; /* sent as it is */
  if (code == CURLUE_OK && converted) {
    CURLU *other = curl_url();
    code = other ? curl_url_set(other, CURLUPART_HOST, converted, 0) : CURLUE_OUT_OF_MEMORY;
    curl_url_cleanup(other);
    if (code == CURLUE_OK && strchr(converted, '%')) code = CURLUE_BAD_HOSTNAME; /* libcurl would encode it again */
  } else if (!shim_curl_is_at_least(0x080800)) {
    code = CURLUE_BAD_HOSTNAME; /* these versions report CURLUE_OUT_OF_MEMORY */
  }
  curl_free(converted);
  return code;
#else
  (void)parsed, (void)host;
  return CURLUE_OK;
#endif
}

static CURLUcode read_origin(CURLU *parsed, url_origin *out) {
  CURLUcode code = curl_url_get(parsed, CURLUPART_SCHEME, &out->scheme, 0);
  if (code == CURLUE_OK && strcmp(out->scheme, "http") != 0 && strcmp(out->scheme, "https") != 0)
    code = CURLUE_UNSUPPORTED_SCHEME;
  if (code == CURLUE_OK) code = curl_url_get(parsed, CURLUPART_HOST, &out->host, 0);
  if (code == CURLUE_OK) code = check_converted(parsed, out->host);
  if (code == CURLUE_OK) code = curl_url_get(parsed, CURLUPART_PORT, &out->port, CURLU_DEFAULT_PORT);
  return code;
}

static void free_origin(url_origin *origin) {
  curl_free(origin->scheme);
  curl_free(origin->host);
  curl_free(origin->port);
}

/* Free `out` in any case. */
static CURLUcode parse_origin(const char *url, url_origin *out) {
  CURLU *parsed = curl_url();
  *out = (url_origin){NULL, NULL, NULL};
  CURLUcode code = parsed ? curl_url_set(parsed, CURLUPART_URL, url, 0) : CURLUE_OUT_OF_MEMORY;
  if (code == CURLUE_OK) code = read_origin(parsed, out);
  curl_url_cleanup(parsed);
  return code;
}

/* The properties of a URL, from its scheme, host and port in libcurl's notation. */
static shim_url facts(bool has_tls, const char *host, url_host known, const char *port) {
  return (shim_url){.origin = keyed_hash(host, port, 0),
                    .needs_lookup = !known.is_address,
                    .has_tls = has_tls,
                    .is_local = known.is_loopback};
}

/* Most URLs have a simple form: a scheme, a name in lower case or an IPv4 address, optionally a port, and a path. They
 * are parsed here because parsing with libcurl takes an eighth of a request's time, and libcurl parses the URL again
 * when it sends the request. False: use libcurl. */
static bool check_plain(const char *url, shim_url *out) {
  char host[64], port[6];
  int number = 0; /* of the port */
  const bool has_tls = strncmp(url, "https://", 8) == 0;
  if (!has_tls && strncmp(url, "http://", 7) != 0) return false;
  url += has_tls ? 8 : 7;
  size_t length = 0;
  for (; (*url >= 'a' && *url <= 'z') || (*url >= '0' && *url <= '9') || *url == '.' || *url == '-'; url++) {
    if (length == sizeof host - 1) return false;
    host[length++] = *url;
  }
  host[length] = '\0';
  /* libcurl also accepts other numbers as addresses. */
  const url_host known = read_host(host);
  if (!(host[0] >= 'a' && host[0] <= 'z') && !known.is_address) return false;
  length = 0;
  if (*url == ':') {
    if (*++url == '0') return false;
    for (; *url >= '0' && *url <= '9'; url++) {
      if (length == sizeof port - 1) return false;
      port[length++] = *url;
      number = 10 * number + (*url - '0');
    }
    port[length] = '\0';
    if (length == 0 || number > 65535) return false;
  } else {
    strcpy(port, has_tls ? "443" : "80");
  }
  if (*url != '\0' && *url != '/' && *url != '?' && *url != '#') return false;
  *out = facts(has_tls, host, known, port);
  return true;
}

/* What is wrong with a URL that cannot be fetched. */
static const char *url_problem(const char *url, CURLUcode code) {
  static const char no_scheme[] = "has no scheme: it must begin with http:// or https://";
  const bool names_one = strstr(url, "://") != NULL; /* libcurl takes the host in host:80 for a scheme */
  switch (code) {
  case CURLUE_UNSUPPORTED_SCHEME:
    return names_one ? "has a scheme other than http and https" : no_scheme;
  case CURLUE_NO_HOST:
    return "has no host";
  case CURLUE_BAD_PORT_NUMBER:
    return "has an invalid port";
  case CURLUE_BAD_HOSTNAME:
  case CURLUE_BAD_IPV6:
    return "has an invalid host";
  default:
    return names_one ? "is not an http or https URL" : no_scheme;
  }
}

int shim_url_check(const char *url, shim_url *out, const char **problem) {
  url_origin origin;
  *problem = NULL;
  if (check_plain(url, out)) return SHIM_URL_GOOD;
  const CURLUcode code = parse_origin(url, &origin);
  const int result = url_result(code);
  if (result == SHIM_URL_GOOD)
    *out = facts(strcmp(origin.scheme, "https") == 0, origin.host, read_host(origin.host), origin.port);
  if (result == SHIM_URL_BAD) *problem = url_problem(url, code);
  free_origin(&origin);
  return result;
}

static bool is_proxy_scheme(const char *scheme) {
  static const char *const schemes[] = {"http", "https", "socks4", "socks4a", "socks5", "socks5h"};
  for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++)
    if (strcmp(scheme, schemes[i]) == 0) return true;
  return false;
}

static const char *proxy_problem(CURLUcode code) {
  switch (code) {
  case CURLUE_UNSUPPORTED_SCHEME:
    return "has a scheme other than http, https, socks4, socks4a, socks5 and socks5h";
  case CURLUE_NO_HOST:
    return "has no host";
  default:
    return "is not a proxy URL";
  }
}

int shim_url_check_proxy(const char *url, const char **problem) {
  CURLU *parsed = curl_url();
  char *scheme = NULL, *host = NULL;
  CURLUcode code = CURLUE_OUT_OF_MEMORY;
  /* Parsed as libcurl itself does it. */
  if (parsed) code = curl_url_set(parsed, CURLUPART_URL, url, CURLU_NON_SUPPORT_SCHEME | CURLU_GUESS_SCHEME);
  if (code == CURLUE_OK) code = curl_url_get(parsed, CURLUPART_SCHEME, &scheme, 0);
  if (code == CURLUE_OK) code = curl_url_get(parsed, CURLUPART_HOST, &host, 0);
  if (code == CURLUE_OK && !is_proxy_scheme(scheme)) code = CURLUE_UNSUPPORTED_SCHEME;
  curl_free(scheme);
  curl_free(host);
  curl_url_cleanup(parsed);
  const int result = url_result(code);
  *problem = result == SHIM_URL_BAD ? proxy_problem(code) : NULL;
  return result;
}

char *shim_url_proxy_name(const char *url) {
  CURLU *parsed = curl_url();
  char *scheme = NULL, *host = NULL, *port = NULL, *name = NULL;
  CURLUcode code = CURLUE_OUT_OF_MEMORY;
  if (parsed) code = curl_url_set(parsed, CURLUPART_URL, url, CURLU_NON_SUPPORT_SCHEME | CURLU_GUESS_SCHEME);
  if (code == CURLUE_OK) code = curl_url_get(parsed, CURLUPART_SCHEME, &scheme, 0);
  if (code == CURLUE_OK) code = curl_url_get(parsed, CURLUPART_HOST, &host, 0);
  if (code == CURLUE_OK && curl_url_get(parsed, CURLUPART_PORT, &port, 0) == CURLUE_OUT_OF_MEMORY)
    code = CURLUE_OUT_OF_MEMORY;
  if (code == CURLUE_OK) {
    /* libcurl's default for proxies */
    const char *its_port = port ? port : strcmp(scheme, "https") == 0 ? "443" : "1080";
    const size_t size = strlen(host) + 1 + strlen(its_port) + 1;
    name = malloc(size);
    if (name) snprintf(name, size, "%s:%s", host, its_port);
  }
  curl_free(scheme);
  curl_free(host);
  curl_free(port);
  curl_url_cleanup(parsed);
  return name;
}

static CURLUcode follow(CURLU *parsed, const char *url, const char *location, char **followed) {
  url_origin origin = {NULL, NULL, NULL};
  CURLUcode code = parsed ? curl_url_set(parsed, CURLUPART_URL, url, 0) : CURLUE_OUT_OF_MEMORY;
  if (code == CURLUE_OK) code = curl_url_set(parsed, CURLUPART_URL, location, CURLU_URLENCODE | CURLU_ALLOW_SPACE);
  if (code == CURLUE_OK) code = read_origin(parsed, &origin);
  if (code == CURLUE_OK) code = curl_url_get(parsed, CURLUPART_URL, followed, 0);
  free_origin(&origin);
  return code;
}

int shim_url_follow(const char *url, const char *location, char **out) {
  *out = NULL;
  if (*location == '\0') return SHIM_URL_BAD;
  /* RFC 3986, 5.2.2: a fragment alone refers to the same document. libcurl would drop the last part of the path. */
  if (*location == '#') {
    *out = strndup(url, strcspn(url, "#"));
    return *out ? SHIM_URL_GOOD : SHIM_URL_NO_MEMORY;
  }
  CURLU *parsed = curl_url();
  char *followed = NULL;
  const int result = url_result(follow(parsed, url, location, &followed));
  if (result == SHIM_URL_GOOD) *out = strdup(followed);
  curl_free(followed);
  curl_url_cleanup(parsed);
  return result == SHIM_URL_GOOD && !*out ? SHIM_URL_NO_MEMORY : result;
}

bool shim_url_without_user(const char *url, char **out) {
  *out = NULL;
  if (!strchr(url, '@')) return true;
  const char *host = strchr(url, ':');
  if (!host) return true;
  host++;
  for (int slashes = 0; slashes < 3 && *host == '/'; slashes++) /* libcurl accepts one to three slashes */
    host++;
  const char *end = host + strcspn(host, "/?#"), *at = NULL;
  for (const char *c = host; c < end; c++)
    if (*c == '@') at = c;
  if (!at) return true;
  *out = malloc(strlen(url) + 1);
  if (!*out) return false;
  memcpy(*out, url, (size_t)(host - url));
  strcpy(*out + (host - url), at + 1);
  return true;
}

int shim_url_same_origin(const char *url, const char *other, bool *is_same) {
  url_origin one, two;
  const int result = url_result(parse_origin(url, &one)), other_result = url_result(parse_origin(other, &two));
  const bool are_good = result == SHIM_URL_GOOD && other_result == SHIM_URL_GOOD;
  *is_same = are_good && strcmp(one.scheme, two.scheme) == 0 && strcasecmp(one.host, two.host) == 0 &&
             strcmp(one.port, two.port) == 0;
  free_origin(&one);
  free_origin(&two);
  return result == SHIM_URL_GOOD ? other_result : result;
}
