#define _GNU_SOURCE
#include "failing.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { MAXIMUM_PLACES = 256 };

static const char *caller;
static uintptr_t caller_base, caller_start, caller_end; /* where it is, and its code */
static enum failing_what what;
static long fails_at;
static bool fails_after;
static atomic_long requests;
static atomic_bool is_on;
static _Atomic uintptr_t places[MAXIMUM_PLACES]; /* 0: no more */

static int look_at(struct dl_phdr_info *library, size_t size, void *unused) {
  (void)size;
  (void)unused;
  if (!strstr(library->dlpi_name, caller)) return 0;
  for (int i = 0; i < library->dlpi_phnum; i++) {
    const ElfW(Phdr) *segment = &library->dlpi_phdr[i];
    if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X)) continue;
    caller_base = library->dlpi_addr;
    caller_start = library->dlpi_addr + segment->p_vaddr;
    caller_end = caller_start + segment->p_memsz;
  }
  return 1;
}

void failing_begin(enum failing_what kind, const char *library, long number, bool and_all_after) {
  caller = library;
  if (dl_iterate_phdr(look_at, NULL) != 1) abort(); /* there is no such library: nothing would ever fail */
  what = kind;
  fails_at = number;
  fails_after = and_all_after;
  atomic_store(&requests, 0);
  atomic_store(&is_on, true);
}

long failing_end(void) {
  atomic_store(&is_on, false);
  return atomic_load(&requests);
}

static void keep_place(uintptr_t place) {
  for (int i = 0; i < MAXIMUM_PLACES; i++) {
    uintptr_t kept = 0;
    if (atomic_compare_exchange_strong(&places[i], &kept, place) || kept == place) return;
  }
  abort(); /* more than there is room for */
}

void failing_each_place(void (*body)(uintptr_t place)) {
  for (int i = 0; i < MAXIMUM_PLACES && atomic_load(&places[i]) != 0; i++)
    body(atomic_load(&places[i]));
}

static bool must_fail(enum failing_what kind, const void *return_address) {
  const uintptr_t from = (uintptr_t)return_address;
  if (!atomic_load(&is_on) || kind != what || from < caller_start || from >= caller_end) return false;
  const long number = atomic_fetch_add(&requests, 1) + 1;
  if (fails_after ? number < fails_at : number != fails_at) return false;
  keep_place(from - caller_base);
  return true;
}

/* `next`: the function of that name that would be called without this one. */
#define STAND_BEFORE(type, name, parameters, arguments, kind, failure)                                                 \
  type name parameters {                                                                                               \
    static type(*_Atomic next) parameters;                                                                             \
    type(*found) parameters = atomic_load(&next);                                                                      \
    if (!found) {                                                                                                      \
      *(void **)&found = dlsym(RTLD_NEXT, #name);                                                                      \
      atomic_store(&next, found);                                                                                      \
    }                                                                                                                  \
    if (must_fail(kind, __builtin_return_address(0))) {                                                                \
      errno = ENOMEM;                                                                                                  \
      return failure;                                                                                                  \
    }                                                                                                                  \
    return found arguments;                                                                                            \
  }

STAND_BEFORE(void *, malloc, (size_t size), (size), FAILING_MEMORY, NULL)
STAND_BEFORE(void *, calloc, (size_t count, size_t size), (count, size), FAILING_MEMORY, NULL)
STAND_BEFORE(void *, realloc, (void *memory, size_t size), (memory, size), FAILING_MEMORY, NULL)
STAND_BEFORE(char *, strdup, (const char *text), (text), FAILING_MEMORY, NULL)
STAND_BEFORE(char *, strndup, (const char *text, size_t length), (text, length), FAILING_MEMORY, NULL)
STAND_BEFORE(char *, realpath, (const char *path, char *out), (path, out), FAILING_MEMORY, NULL)
STAND_BEFORE(int, pthread_create,
             (pthread_t * thread, const pthread_attr_t *attributes, void *(*body)(void *), void *argument),
             (thread, attributes, body, argument), FAILING_THREADS, EAGAIN)
