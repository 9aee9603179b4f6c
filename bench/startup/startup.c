/* From dlopen to the first answer, in a separate process: prints the microseconds.
 *
 *     startup boxretry LIBRARY     until the first decision
 *     startup curl LIBRARY         until the first easy handle
 */
#include <boxretry.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double microseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static void *find(void *library, const char *name) {
  void *symbol = dlsym(library, name);
  if (symbol) return symbol;
  fprintf(stderr, "startup: %s\n", dlerror());
  exit(1);
}

/* ISO C has no conversion from an object pointer to a function pointer; POSIX promises that this works. */
#define FUNCTION(type, library, name) (*(type *)&(void *){find(library, name)})

static void first_decision(void *library) {
  boxretry_strategy *strategy;
  boxretry_outcome outcome = BOXRETRY_OUTCOME_INIT;
  boxretry_decision decision = BOXRETRY_DECISION_INIT;
  outcome.status = 503;
  typedef boxretry_error make(const boxretry_retry_options *, boxretry_strategy **);
  typedef boxretry_error ask(const boxretry_strategy *, const boxretry_outcome *, int32_t, boxretry_decision *);
  if (FUNCTION(make *, library, "boxretry_strategy_new")(NULL, &strategy) != BOXRETRY_OK ||
      FUNCTION(ask *, library, "boxretry_strategy_should_retry")(strategy, &outcome, 1, &decision) != BOXRETRY_OK ||
      decision.action != BOXRETRY_ACTION_RETRY)
    exit(1);
}

static void first_handle(void *library) {
  typedef void *make(void);
  if (!FUNCTION(make *, library, "curl_easy_init")()) exit(1);
}

int main(int argc, char **argv) {
  if (argc != 3) return 2;
  double start = microseconds();
  void *library = dlopen(argv[2], RTLD_NOW);
  if (!library) {
    fprintf(stderr, "startup: %s\n", dlerror());
    return 1;
  }
  if (strcmp(argv[1], "boxretry") == 0)
    first_decision(library);
  else
    first_handle(library);
  printf("%.1f\n", microseconds() - start);
  return 0;
}
