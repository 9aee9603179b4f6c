/* For LD_PRELOAD: look-ups of names under .sleeps.test take a minute; all others are the system's. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <netdb.h>
#include <string.h>
#include <unistd.h>

typedef int getaddrinfo_function(const char *, const char *, const struct addrinfo *, struct addrinfo **);

int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints, struct addrinfo **result) {
  size_t length = node ? strlen(node) : 0, ending = strlen(".sleeps.test");
  if (length > ending && strcmp(node + length - ending, ".sleeps.test") == 0) {
    sleep(60);
    return EAI_AGAIN;
  }
  return ((getaddrinfo_function *)dlsym(RTLD_NEXT, "getaddrinfo"))(node, service, hints, result);
}
