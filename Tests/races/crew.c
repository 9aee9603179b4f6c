#include "crew.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_barrier_t before, after;
static pthread_t threads[CREW];
static void (*work)(int number); /* NULL: go home */
static int work_count;

_Noreturn void crew_fail(const char *file, int line, const char *condition) {
  fprintf(stderr, "%s:%d: not so: %s\n", file, line, condition);
  abort();
}

static void *run(void *number) {
  const int mine = (int)(intptr_t)number;
  for (;;) {
    pthread_barrier_wait(&before);
    if (!work) return NULL;
    if (mine < work_count) work(mine);
    pthread_barrier_wait(&after);
  }
}

void crew_start(void) {
  pthread_barrier_init(&before, NULL, CREW);
  pthread_barrier_init(&after, NULL, CREW);
  for (int i = 1; i < CREW; i++) {
    REQUIRE(pthread_create(&threads[i], NULL, run, (void *)(intptr_t)i) == 0);
  }
}

void crew_stop(void) {
  work = NULL;
  pthread_barrier_wait(&before);
  for (int i = 1; i < CREW; i++)
    pthread_join(threads[i], NULL);
  pthread_barrier_destroy(&before);
  pthread_barrier_destroy(&after);
}

void at_once(int count, void (*body)(int number)) {
  work = body;
  work_count = count;
  pthread_barrier_wait(&before);
  body(0);
  pthread_barrier_wait(&after);
}

void dawdle(void) {
  static _Thread_local uint32_t state;
  if (state == 0) state = (uint32_t)(uintptr_t)&state | 1;
  state ^= state << 13;
  state ^= state >> 17;
  state ^= state << 5;
  for (volatile uint32_t i = state % 32768; i > 0; i--) {
  }
}
