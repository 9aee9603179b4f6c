/* Plays the scenes while something is wanting: exhaustion memory|threads LIBRARY SERVER [SCENE]
 *
 * LIBRARY: a part of the path of the library whose requests fail. Each scene is played until nothing fails any more: the
 * first time its first request fails, the second time its second one, and so on; then the same again, with all later
 * requests failing too. Then it is played once more, and has to work. In the end, it names the places in the library
 * whose requests have failed. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../races/crew.h"
#include "failing.h"
#include "scenes.h"

enum { PATIENCE = 60 /* seconds for one scene */ };

static const char *playing;
static long failing_number;

static void out_of_patience(int signal) {
  char text[128];
  (void)signal;
  const int length = snprintf(text, sizeof text, "it hangs: %s, request %ld\n", playing, failing_number);
  if (write(STDERR_FILENO, text, (size_t)length)) _exit(EXIT_FAILURE);
}

static void report_crash(int number) {
  char text[128];
  const int length = snprintf(text, sizeof text, "signal %d: %s, request %ld\n", number, playing, failing_number);
  if (write(STDERR_FILENO, text, (size_t)length)) signal(number, SIG_DFL);
}

/* How many requests were made to fail. */
static long play(const scene *it, enum failing_what what, const char *library, bool and_all_after) {
  long requests, failures = 0;
  failing_number = 0;
  do {
    alarm(PATIENCE);
    scenes_restart();
    failing_begin(what, library, ++failing_number, and_all_after);
    it->play();
    requests = failing_end();
    failures += scenes_have_failed();
  } while (requests >= failing_number);
  printf("%s%s: %ld requests, %ld times an error\n", it->name, and_all_after ? ", and all after" : "",
         failing_number - 1, failures);
  return failing_number - 1;
}

static void print_place(uintptr_t place) {
  printf("failed before %lx\n", (unsigned long)place);
}

int main(int argc, char **argv) {
  const int signals[] = {SIGSEGV, SIGILL, SIGTRAP, SIGBUS, SIGABRT, SIGFPE};
  long failures = 0;
  if (argc < 4) return 2;
  const enum failing_what what = strcmp(argv[1], "threads") == 0 ? FAILING_THREADS : FAILING_MEMORY;
  signal(SIGALRM, out_of_patience);
  for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
    signal(signals[i], report_crash);
  setvbuf(stdout, NULL, _IOLBF, 0);
  scenes_begin(argv[3]);
  crew_start();
  for (int i = 0; i < scene_count; i++) {
    playing = scenes[i].name;
    if (argc > 4 && strcmp(argv[4], playing) != 0) continue;
    scenes[i].play(); /* what is only made once is there now, and nothing fails without cause */
    REQUIRE(!scenes_have_failed());
    failures += play(&scenes[i], what, argv[2], false);
    failures += play(&scenes[i], what, argv[2], true);
    scenes[i].play();
    REQUIRE(!scenes_have_failed());
  }
  crew_stop();
  failing_each_place(print_place);
  printf("%ld requests failed\n", failures);
  return failures > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
