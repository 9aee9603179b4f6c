/* For LD_PRELOAD: TCP_INFO as Linux before 4.6 returns it, without what has been sent. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>

typedef int getsockopt_function(int, int, int, void *, socklen_t *);

int getsockopt(int socket, int level, int name, void *value, socklen_t *size) {
  getsockopt_function *real = (getsockopt_function *)dlsym(RTLD_NEXT, "getsockopt");
  const int result = real(socket, level, name, value, size);
  const socklen_t before = offsetof(struct tcp_info, tcpi_total_retrans) + sizeof(__u32);
  if (result == 0 && level == IPPROTO_TCP && name == TCP_INFO && *size > before) {
    memset((char *)value + before, 0, *size - before);
    *size = before;
  }
  return result;
}
