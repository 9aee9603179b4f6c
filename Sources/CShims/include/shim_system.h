/* epoll, eventfd and signals. */
#ifndef BOXRETRY_SYSTEM_H
#define BOXRETRY_SYSTEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Each of these returns a descriptor that is closed on exec, or -1. */
int shim_epoll_new(void);
int shim_eventfd_new(void);
int shim_timerfd_new(void); /* of CLOCK_MONOTONIC */
void shim_close(int descriptor);

enum { SHIM_READABLE = 1, SHIM_WRITABLE = 2, SHIM_FAILED = 4 };

typedef struct shim_ready {
  int descriptor;
  int what; /* SHIM_… */
} shim_ready;

bool shim_epoll_watch(int epoll, int descriptor, int what, bool is_new);
void shim_epoll_forget(int epoll, int descriptor);

/* Waits for at most `timeout_ms` milliseconds (-1: without limit). Returns the number of `ready` filled in; 0 also
 * after a signal. */
int shim_epoll_wait(int epoll, shim_ready *ready, int capacity, int timeout_ms);

void shim_eventfd_signal(int eventfd);
void shim_eventfd_clear(int eventfd); /* or a timerfd */

/* The timer expires when CLOCK_MONOTONIC reaches that many nanoseconds; INT64_MAX: never. */
void shim_timerfd_set(int timerfd, int64_t due);

/* Bytes that the kernel has not delivered to the peer of a socket yet; -1: not a socket. */
int shim_unsent_bytes(int socket);
/* A number that changes when a TCP socket sends or takes data: what shim_unsent_bytes() returns, with the number of segments
 * that were sent, which Linux before 4.6 and qemu do not report. -1: not a socket. */
int64_t shim_sending_mark(int socket);

/* Call around writes to a possibly broken pipe on a caller's thread: blocks SIGPIPE, and discards one that was raised
 * meanwhile. */
typedef struct shim_sigpipe {
  bool was_blocked;
  bool was_pending;
} shim_sigpipe;

shim_sigpipe shim_sigpipe_block(void);
void shim_sigpipe_restore(shim_sigpipe saved);

#endif
