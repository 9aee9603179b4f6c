#include "shim_system.h"

#include <errno.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <signal.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

int shim_epoll_new(void) {
  return epoll_create1(EPOLL_CLOEXEC);
}

int shim_eventfd_new(void) {
  return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
}

int shim_timerfd_new(void) {
  return timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
}

void shim_timerfd_set(int timerfd, int64_t due) {
  struct itimerspec spec = {{0, 0}, {0, 0}};
  if (due != INT64_MAX) spec.it_value = (struct timespec){due / 1000000000, due % 1000000000 + (due == 0)};
  timerfd_settime(timerfd, TFD_TIMER_ABSTIME, &spec, NULL);
}

void shim_close(int descriptor) {
  if (descriptor >= 0) close(descriptor);
}

bool shim_epoll_watch(int epoll, int descriptor, int what, bool is_new) {
  struct epoll_event event = {.events = (what & SHIM_READABLE ? (uint32_t)EPOLLIN : 0) |
                                        (what & SHIM_WRITABLE ? (uint32_t)EPOLLOUT : 0),
                              .data.fd = descriptor};
  int result = epoll_ctl(epoll, is_new ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, descriptor, &event);
  /* A descriptor may have been closed and reused without a notification. */
  if (result != 0 && errno == EEXIST) result = epoll_ctl(epoll, EPOLL_CTL_MOD, descriptor, &event);
  if (result != 0 && errno == ENOENT) result = epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event);
  return result == 0;
}

void shim_epoll_forget(int epoll, int descriptor) {
  epoll_ctl(epoll, EPOLL_CTL_DEL, descriptor, NULL); /* it may have been closed already */
}

int shim_epoll_wait(int epoll, shim_ready *ready, int capacity, int timeout_ms) {
  struct epoll_event events[64];
  const int count = epoll_wait(epoll, events, capacity < 64 ? capacity : 64, timeout_ms);
  for (int i = 0; i < count; i++) {
    ready[i].descriptor = events[i].data.fd;
    ready[i].what = (events[i].events & EPOLLIN ? SHIM_READABLE : 0) |
                    (events[i].events & EPOLLOUT ? SHIM_WRITABLE : 0) |
                    (events[i].events & (EPOLLERR | EPOLLHUP) ? SHIM_FAILED : 0);
  }
  return count > 0 ? count : 0;
}

void shim_eventfd_signal(int eventfd) {
  const uint64_t one = 1;
  while (write(eventfd, &one, sizeof one) < 0 && errno == EINTR) {
  }
}

void shim_eventfd_clear(int eventfd) {
  uint64_t count;
  while (read(eventfd, &count, sizeof count) < 0 && errno == EINTR) {
  }
}

int shim_unsent_bytes(int socket) {
  int bytes;
  return ioctl(socket, SIOCOUTQ, &bytes) == 0 ? bytes : -1;
}

int64_t shim_sending_mark(int socket) {
  struct tcp_info info = {0};
  socklen_t size = sizeof info;
  const int unsent = shim_unsent_bytes(socket);
  if (unsent < 0) return -1;
  /* Older kernels return fewer fields. */
  getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size);
  return (int64_t)info.tcpi_data_segs_out << 31 | unsent;
}

/* --- SIGPIPE --- */

static sigset_t only_sigpipe(void) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGPIPE);
  return set;
}

static bool sigpipe_is_pending(void) {
  sigset_t pending;
  sigpending(&pending);
  return sigismember(&pending, SIGPIPE) == 1;
}

shim_sigpipe shim_sigpipe_block(void) {
  const sigset_t set = only_sigpipe();
  sigset_t before;
  shim_sigpipe saved;
  pthread_sigmask(SIG_BLOCK, &set, &before);
  saved.was_blocked = sigismember(&before, SIGPIPE) == 1;
  saved.was_pending = saved.was_blocked && sigpipe_is_pending();
  return saved;
}

void shim_sigpipe_restore(shim_sigpipe saved) {
  const sigset_t set = only_sigpipe();
  if (!saved.was_pending && sigpipe_is_pending()) {
    const struct timespec no_time = {0, 0};
    while (sigtimedwait(&set, NULL, &no_time) < 0 && errno == EINTR) {
    }
  }
  if (!saved.was_blocked) pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}
