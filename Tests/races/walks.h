/* What the parts of walks.c share: random programs of calls of the interface, with a model of what must happen. */
#ifndef WALKS_H
#define WALKS_H

#include <boxretry.h>
#include <stdatomic.h>
#include <stdbool.h>

enum { CLIENTS = 3, CALLS = 24, QUEUES = 2, SWITCHES = 2, SOURCES = 2 };

/** A number below `count`, by the seed of the walk. One thread. */
unsigned pick(unsigned count);

/** Ends the process, with the seed, unless the error is this one. */
void expect(boxretry_error error, boxretry_error expected);

/** Waits until the number is `count`. */
void wait_until(atomic_int *number, int count);

/** The server's URLs begin so. */
extern char server[64];

/* How often things that the library was given to keep were let go of: each once. */
extern atomic_int contexts_given, contexts_freed;

/** For every context_free. */
void free_context(void *context);

/* --- walk_calls.c --- */

void calls_begin(void);

/** One step: something is made, used, ended or freed. */
void calls_step(void);

/** In a child of fork(): nothing of the parent's can be used, all can be freed, and new objects work. */
void calls_in_child(void);

/** Frees all, and checks that every call has had its one end. */
void calls_end(void);

/* --- walk_tokens.c --- */

void tokens_begin(void);

void tokens_step(void);

void tokens_in_child(void);

void tokens_end(void);

/** One of the sources, for a client or a call; NULL: there is none just now. It may be freed at any time. */
boxretry_token_source *some_token_source(void);

#endif
