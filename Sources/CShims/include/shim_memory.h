/* Memory that Swift must not trap over: what comes from outside may be large, and may not fit. */
#ifndef BOXRETRY_MEMORY_H
#define BOXRETRY_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct shim_buffer {
  char *data;
  size_t count;
  size_t capacity;
} shim_buffer;

/* Behind the bytes stands a NUL, which is not counted. False: no memory; nothing is changed. */
bool shim_buffer_append(shim_buffer *buffer, const void *data, size_t count);
/* Room for so many bytes behind them, aligned for pointers, which goes with the buffer. NULL: no memory. */
void *shim_buffer_room(shim_buffer *buffer, size_t count);
void shim_buffer_free(shim_buffer *buffer);

size_t shim_length(const char *text);
bool shim_is_equal(const char *text, const char *other);
/* How many bytes stand before the first such byte; `count`: there is none. */
size_t shim_find(const char *bytes, char byte, size_t count);

/* Copies, to be freed with shim_free; NULL if there is no memory, and for NULL. */
char *shim_copy_string(const char *text);
char *shim_copy_strings(const char *first, const char *second); /* one behind the other */
void *shim_copy_bytes(const void *bytes, size_t count);
void *shim_allocate(size_t count);
void shim_free(void *memory);

/* Writes "bytes=N-". */
void shim_write_range(char *out, size_t capacity, int64_t offset);

/* Writes a random UUID: 36 characters and a NUL. False: there is no randomness. */
bool shim_write_uuid(char out[37]);

/* Overwrites a secret, whatever the optimizer thinks of it. */
void shim_wipe(void *memory, size_t count);

#endif
