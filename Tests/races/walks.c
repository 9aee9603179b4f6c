/* Random programs of calls of the interface: walks FIRST_SEED COUNT [no-fork]
 *
 * Each is made of its seed alone, as far as the threads allow: a failure names it, and it is the only thing that is needed
 * to try again (walks SEED 1). A model beside it has what must happen: each call ends exactly once, what
 * has been freed is reported to no one, counts are right, and everything ends. */
#include "walks.h"

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "crew.h"
#include "server.h"

enum { PATIENCE = 60 /* seconds for one program */, STEPS = 60 };

char server[64];
atomic_int contexts_given, contexts_freed;
static uint64_t seed, state;

unsigned pick(unsigned count) {
  state += 0x9E3779B97F4A7C15U;
  uint64_t mixed = (state ^ (state >> 30)) * 0xBF58476D1CE4E5B9U;
  mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBU;
  return (unsigned)((mixed ^ (mixed >> 31)) % count);
}

void expect(boxretry_error error, boxretry_error expected) {
  if (error == expected) return;
  fprintf(stderr, "%s, not %s: %s\n", boxretry_error_name(error), boxretry_error_name(expected),
          boxretry_last_error_detail());
  abort();
}

void wait_until(atomic_int *number, int count) {
  while (atomic_load(number) != count) {
    REQUIRE(atomic_load(number) <= count);
    usleep(50);
  }
}

void free_context(void *context) {
  (void)context;
  atomic_fetch_add(&contexts_freed, 1);
}

/* --- Programs --- */

static void fork_once(void) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(PATIENCE);
    calls_in_child();
    tokens_in_child();
    _exit(EXIT_SUCCESS);
  }
  int status;
  REQUIRE(child > 0 && waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS);
}

static void run_program(bool may_fork) {
  state = seed;
  const unsigned fork_at = may_fork && pick(4) == 0 ? pick(STEPS) : STEPS;
  calls_begin();
  tokens_begin();
  for (unsigned i = 0; i < STEPS; i++) {
    if (i == fork_at) fork_once();
    if (pick(4) == 0) {
      tokens_step();
    } else {
      calls_step();
    }
  }
  /* In either order. */
  const bool tokens_first = pick(2);
  if (tokens_first) tokens_end();
  calls_end();
  if (!tokens_first) tokens_end();
  wait_until(&contexts_freed, atomic_load(&contexts_given));
}

static const int deaths[] = {SIGABRT, SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE};
enum { DEATHS = sizeof deaths / sizeof *deaths };
static struct sigaction before[DEATHS];

/* Names the seed, and leaves the rest to whom it was left before: the system, or a sanitizer. */
static void report(int number) {
  char text[128];
  const int length = snprintf(text, sizeof text, "%s in the program of seed %llu\n",
                              number == SIGALRM ? "no end comes" : "something is wrong", (unsigned long long)seed);
  for (int i = 0; i < DEATHS; i++)
    sigaction(deaths[i], &before[i], NULL);
  if (write(STDERR_FILENO, text, (size_t)length) != length || number == SIGALRM || number == SIGABRT) abort();
}

static void report_deaths(void) {
  struct sigaction action = {.sa_handler = report};
  signal(SIGALRM, report);
  for (int i = 0; i < DEATHS; i++)
    sigaction(deaths[i], &action, &before[i]);
}

int main(int argc, char **argv) {
  if (argc < 3) {
    fputs("usage: walks FIRST_SEED COUNT [no-fork]\n", stderr);
    return 2;
  }
  const bool may_fork = argc < 4;
  const long count = strtol(argv[2], NULL, 10);
  seed = strtoull(argv[1], NULL, 10);
  report_deaths();
  snprintf(server, sizeof server, "http://127.0.0.1:%d", server_start());
  for (long i = 0; i < count; i++, seed++) {
    alarm(PATIENCE);
    run_program(may_fork);
  }
  server_stop();
  printf("%ld programs from seed %s on, as they should be\n", count, argv[1]);
  return EXIT_SUCCESS;
}
