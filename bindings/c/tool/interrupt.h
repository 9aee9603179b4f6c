/* Ctrl-C, SIGTERM, SIGHUP and SIGQUIT end a call, not the process: a thread waits for them, and triggers a cancel switch. */
#ifndef BOXRETRY_TOOL_INTERRUPT_H
#define BOXRETRY_TOOL_INTERRUPT_H

#include <boxretry.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>

typedef struct interrupt {
  boxretry_cancel *cancel;
  sigset_t signals; /* unless they are ignored */
  sigset_t mask_before;
  int signal_fd;
  int stop_fd; /* readable: the thread is to end */
  int number;  /* of the signal that came; 0: none */
  pthread_t thread;
  bool is_watching;
} interrupt;

/** From now on the signals trigger the switch. A second one ends the process, as usual. */
void interrupt_begin(interrupt *watch, boxretry_cancel *cancel);

/** Signals do again what they did before. The number of the one that triggered the switch, or 0. */
int interrupt_end(interrupt *watch);

#endif
