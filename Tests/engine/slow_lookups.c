/* For LD_PRELOAD: names under .sleeps.test are looked up for a minute, those under .unknown.test do not exist. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <netdb.h>
#include <string.h>
#include <unistd.h>

typedef int getaddrinfo_function(const char *, const char *, const struct addrinfo *, struct addrinfo **);

static int is_under(const char *name, const char *domain) {
  size_t length = name ? strlen(name) : 0, ending = strlen(domain);
  return length > ending && strcmp(name + length - ending, domain) == 0;
}

int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints, struct addrinfo **result) {
  if (is_under(node, ".unknown.test")) return EAI_NONAME;
  if (is_under(node, ".sleeps.test")) {
    sleep(60);
    return EAI_AGAIN;
  }
  return ((getaddrinfo_function *)dlsym(RTLD_NEXT, "getaddrinfo"))(node, service, hints, result);
}
