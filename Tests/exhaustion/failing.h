/* Makes the next function fail that asks the system for something. Linked before the C library, whose functions it
 * replaces. */
#ifndef FAILING_H
#define FAILING_H

#include <stdbool.h>
#include <stdint.h>

enum failing_what { FAILING_MEMORY, FAILING_THREADS };

/**
 * From now on the `number`-th request of that kind, counted from 1, fails, as it would if there was no more; with
 * `and_all_after`, those that follow it too. Only requests count that are made by the shared library whose path has `caller`
 * in it. Of libboxretry these are those of its C part: Swift allocates with posix_memalign(), which is left alone.
 */
void failing_begin(enum failing_what what, const char *caller, long number, bool and_all_after);

/** All works again. How many requests there were. */
long failing_end(void);

/**
 * Calls `body` with each place of the caller's code whose requests have failed: the address behind the call, as it is
 * in the file of the library.
 */
void failing_each_place(void (*body)(uintptr_t place));

#endif
