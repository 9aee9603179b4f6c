/* Threads that begin something at the same moment, as often as one likes. */
#ifndef CREW_H
#define CREW_H

enum { CREW = 8 };

/** Ends the process, with the place and the condition, unless the condition holds. */
#define REQUIRE(condition)                                                                                             \
  do {                                                                                                                 \
    if (!(condition)) crew_fail(__FILE__, __LINE__, #condition);                                                       \
  } while (0)

_Noreturn void crew_fail(const char *file, int line, const char *condition);

void crew_start(void);

void crew_stop(void);

/** Runs body(0) … body(count - 1) at once, at most CREW of them, and waits until all have returned. */
void at_once(int count, void (*body)(int number));

/** Lets a little time pass, each time another, up to some 50 microseconds. */
void dawdle(void);

#endif
