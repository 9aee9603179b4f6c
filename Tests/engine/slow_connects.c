/* For LD_PRELOAD: a connection by IPv4 takes a second to begin. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/socket.h>
#include <unistd.h>

typedef int connect_function(int, const struct sockaddr *, socklen_t);

int connect(int socket, const struct sockaddr *address, socklen_t length) {
  if (address->sa_family == AF_INET) sleep(1);
  return ((connect_function *)dlsym(RTLD_NEXT, "connect"))(socket, address, length);
}
