/* For LD_PRELOAD: looks into each block that libboxretry frees, whether it contains the text $SECRET.
 *
 * A block that others free is overwritten, so that the library gets no block with their data. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static atomic_long freed, with_secret;

/** How many blocks the library has freed. */
long blocks_freed(void) {
  return freed;
}

/** In how many of them the secret stood. */
long blocks_with_secret(void) {
  return with_secret;
}

static bool is_library(const void *code) {
  static _Thread_local bool is_asking; /* what the loader frees meanwhile is its own */
  Dl_info found;
  if (is_asking) return false;
  is_asking = true;
  const bool is = dladdr(code, &found) != 0 && strstr(found.dli_fname, "libboxretry.so") != NULL;
  is_asking = false;
  return is;
}

/* The block is about to be given back. */
static void look_at(void *block, const void *caller) {
  const size_t size = malloc_usable_size(block);
  if (!is_library(caller)) {
    explicit_bzero(block, size);
    return;
  }
  const char *secret = getenv("SECRET");
  atomic_fetch_add(&freed, 1);
  if (memmem(block, size, secret, strlen(secret))) atomic_fetch_add(&with_secret, 1);
}

static void give_back(void *block) {
  static void (*_Atomic next)(void *);
  void (*found)(void *) = atomic_load(&next);
  if (!found) {
    *(void **)&found = dlsym(RTLD_NEXT, "free");
    atomic_store(&next, found);
  }
  found(block);
}

void free(void *block) {
  if (!block) return;
  look_at(block, __builtin_return_address(0));
  give_back(block);
}

/* Always into another block: where one has grown, what it has left behind is looked at as well. */
void *realloc(void *block, size_t size) {
  void *moved = malloc(size);
  if (!block || !moved) return moved;
  const size_t old_size = malloc_usable_size(block);
  memcpy(moved, block, old_size < size ? old_size : size);
  look_at(block, __builtin_return_address(0));
  give_back(block);
  return moved;
}
