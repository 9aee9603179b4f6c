/* Ctrl-C, SIGTERM, SIGHUP and SIGQUIT cancel a call instead of ending the process: a thread waits for these signals and
 * triggers a cancel switch. */
#ifndef BOXRETRY_TOOL_INTERRUPT_H
#define BOXRETRY_TOOL_INTERRUPT_H

#include <boxretry.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>

typedef struct interrupt {
  boxretry_cancel *cancel;
  sigset_t signals; /* except ignored ones */
  sigset_t mask_before;
  int signal_fd;
  int stop_fd; /* readable when the thread should end */
  int number;  /* of the signal that arrived; 0: none */
  pthread_t thread;
  bool is_watching;
} interrupt;

/** From now on the signals trigger the switch. A second signal ends the process as usual. */
void interrupt_begin(interrupt *watch, boxretry_cancel *cancel);

/** Restores the signals. Returns the number of the signal that triggered the switch, or 0. */
int interrupt_end(interrupt *watch);

#endif
