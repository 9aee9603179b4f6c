/* The progress of a long run of boxretry simulate: a bar on stderr, if that is a terminal. */
#define _POSIX_C_SOURCE 200809L

#include "simulate.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { BAR = 30, LINE = 79 };

/* Runs that take less time show no bar. */
static const double patience = 0.5;

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

void sim_progress_begin(sim_progress *progress, int32_t count) {
  *progress = (sim_progress){.is_on = isatty(STDERR_FILENO), .began = now(), .count = count};
}

void sim_progress_show(sim_progress *progress, const char *name, double part) {
  if (!progress->is_on || now() - progress->began < patience) return;
  const double whole = (progress->index + (part < 1 ? part : 1)) / progress->count;
  char line[LINE + 1], bar[BAR + 1];
  for (int i = 0; i < BAR; i++)
    bar[i] = i < (int)(whole * BAR) ? '#' : ' ';
  bar[BAR] = '\0';
  snprintf(line, sizeof line, "[%s] %3d %%  %s (%ld of %ld)", bar, (int)(whole * 100), name, (long)progress->index + 1,
           (long)progress->count);
  fprintf(stderr, "\r%-*s", LINE, line);
  fflush(stderr);
  progress->is_drawn = true;
}

void sim_progress_end(sim_progress *progress) {
  if (progress->is_drawn) fprintf(stderr, "\r%*s\r", LINE, "");
}
