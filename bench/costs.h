/* What the programs here measure: seconds, seconds of processor time, and the peak of the memory in KiB; and medians. */
#ifndef COSTS_H
#define COSTS_H

#include <boxretry.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static inline void require(int condition, const char *what) {
  if (condition) return;
  fprintf(stderr, "%s: %s\n", what, boxretry_last_error_detail());
  exit(EXIT_FAILURE);
}

static inline double seconds_of(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static inline double now(void) {
  return seconds_of(CLOCK_MONOTONIC);
}

/* Of all threads. */
static inline double processor_time(void) {
  return seconds_of(CLOCK_PROCESS_CPUTIME_ID);
}

static inline int by_value(const void *one, const void *other) {
  const double x = *(const double *)one, y = *(const double *)other;
  return (x > y) - (x < y);
}

/* Sorts the values. */
static inline double median(double *values, size_t count) {
  qsort(values, count, sizeof *values, by_value);
  return values[count / 2];
}

/* A line of /proc/self/status, in KiB. Not ru_maxrss: that begins with the peak of the program that started this one. */
static inline long memory_kib(const char *name) {
  char line[256];
  long found = 0;
  FILE *status = fopen("/proc/self/status", "r");
  while (status && fgets(line, sizeof line, status)) {
    if (strncmp(line, name, strlen(name)) == 0) found = strtol(line + strlen(name), NULL, 10);
  }
  require(status && fclose(status) == 0 && found > 0, "/proc/self/status");
  return found;
}

static double costs_wall, costs_processor;

static inline void begin_costs(void) {
  costs_wall = now();
  costs_processor = processor_time();
}

static inline void print_costs(void) {
  printf("%.6f %.6f %ld\n", now() - costs_wall, processor_time() - costs_processor, memory_kib("VmHWM:"));
}

#endif
