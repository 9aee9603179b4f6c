/* Ctrl-C, SIGTERM, SIGHUP and SIGQUIT cancel a call instead of ending the process: a thread waits for these signals and
 * triggers a cancel switch. */
#define _POSIX_C_SOURCE 200809L

#include "interrupt.h"

#include <poll.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

/* A signal handler must not take locks, so it could not trigger the switch. */
static void *wait_for_signal(void *context) {
  interrupt *watch = context;
  struct pollfd fds[] = {{.fd = watch->stop_fd, .events = POLLIN}, {.fd = watch->signal_fd, .events = POLLIN}};
  for (;;) {
    if (poll(fds, sizeof fds / sizeof fds[0], -1) < 0) continue;
    if (fds[0].revents) return NULL;
    struct signalfd_siginfo info;
    if (read(watch->signal_fd, &info, sizeof info) != sizeof info) continue;
    watch->number = (int)info.ssi_signo;
    boxretry_cancel_trigger(watch->cancel);
    fds[1].fd = -1; /* poll() ignores negative descriptors */
    pthread_sigmask(SIG_UNBLOCK, &watch->signals, NULL);
  }
}

/* Signals that are ignored (such as SIGINT in a shell's background jobs) stay ignored: if they were blocked, they would
 * be delivered to the thread. */
static void add_unless_ignored(sigset_t *signals, int number) {
  struct sigaction now;
  if (sigaction(number, NULL, &now) == 0 && now.sa_handler != SIG_IGN) sigaddset(signals, number);
}

static void close_fds(interrupt *watch) {
  if (watch->signal_fd >= 0) close(watch->signal_fd);
  if (watch->stop_fd >= 0) close(watch->stop_fd);
}

void interrupt_begin(interrupt *watch, boxretry_cancel *cancel) {
  *watch = (interrupt){.cancel = cancel};
  sigemptyset(&watch->signals);
  add_unless_ignored(&watch->signals, SIGINT);
  add_unless_ignored(&watch->signals, SIGTERM);
  add_unless_ignored(&watch->signals, SIGHUP);
  add_unless_ignored(&watch->signals, SIGQUIT);
  pthread_sigmask(SIG_BLOCK, &watch->signals, &watch->mask_before);
  watch->signal_fd = signalfd(-1, &watch->signals, SFD_CLOEXEC);
  watch->stop_fd = eventfd(0, EFD_CLOEXEC);
  watch->is_watching =
      watch->signal_fd >= 0 && watch->stop_fd >= 0 && pthread_create(&watch->thread, NULL, wait_for_signal, watch) == 0;
  if (watch->is_watching) return;
  /* If descriptors or threads run out, the signals end the process as usual. */
  close_fds(watch);
  pthread_sigmask(SIG_SETMASK, &watch->mask_before, NULL);
}

int interrupt_end(interrupt *watch) {
  if (!watch->is_watching) return 0;
  const uint64_t one = 1;
  while (write(watch->stop_fd, &one, sizeof one) < 0)
    continue;
  pthread_join(watch->thread, NULL);
  close_fds(watch);
  pthread_sigmask(SIG_SETMASK, &watch->mask_before, NULL);
  return watch->number;
}
