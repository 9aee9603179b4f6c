/* Memory operations that must not trap in Swift: external data may be large and may not fit in memory. */
#ifndef BOXRETRY_MEMORY_H
#define BOXRETRY_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct shim_buffer {
  char *data;
  size_t count;
  size_t capacity;
} shim_buffer;

/* A NUL, which is not counted, follows the bytes. False: out of memory; nothing has changed. */
bool shim_buffer_append(shim_buffer *buffer, const void *data, size_t count);
/* Room for that many bytes after the data, aligned for pointers and freed with the buffer. NULL: out of memory. */
void *shim_buffer_room(shim_buffer *buffer, size_t count);
void shim_buffer_free(shim_buffer *buffer);

static inline __attribute__((always_inline)) size_t shim_length(const char *text) {
  return strlen(text);
}

bool shim_is_equal(const char *text, const char *other);

/* The number of bytes before the first such byte; `count` if it does not occur. */
static inline __attribute__((always_inline)) size_t shim_find(const char *bytes, char byte, size_t count) {
  const char *found = (const char *)memchr(bytes, byte, count);
  return found ? (size_t)(found - bytes) : count;
}

/* Copies; free with shim_free. NULL if out of memory, and for NULL. */
char *shim_copy_string(const char *text);
char *shim_copy_strings(const char *first, const char *second); /* concatenated */
void *shim_copy_bytes(const void *bytes, size_t count);
void *shim_allocate(size_t count);
void shim_free(void *memory);

/* Writes "bytes=N-". */
void shim_write_range(char *out, size_t capacity, int64_t offset);

/* Writes a random UUID: 36 characters and a NUL. False: no randomness available. */
bool shim_write_uuid(char out[37]);

/* Overwrites a secret; the optimizer cannot remove this. */
void shim_wipe(void *memory, size_t count);

#endif
