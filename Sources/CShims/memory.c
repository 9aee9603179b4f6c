#include "shim_memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

/* A token endpoint's answer is read up to 64 KiB, into a buffer of at most this capacity. No part of it may remain in
 * freed memory, however its transfer ends (T1). Buffers do not know their owner, so all buffers up to this size are
 * overwritten. */
enum { MAY_BE_SECRET = 128 * 1024 };

static char *grow(const shim_buffer *buffer, size_t capacity) {
  if (buffer->capacity > MAY_BE_SECRET) return realloc(buffer->data, capacity);
  char *grown = malloc(capacity);
  if (!grown || !buffer->data) return grown;
  if (buffer->count > 0) memcpy(grown, buffer->data, buffer->count);
  shim_wipe(buffer->data, buffer->count);
  free(buffer->data);
  return grown;
}

/* Makes room for that many bytes and a NUL. */
static bool reserve(shim_buffer *buffer, size_t count) {
  if (buffer->data && count < buffer->capacity - buffer->count) return true;
  size_t capacity = buffer->capacity ? buffer->capacity : 512;
  while (capacity - buffer->count <= count) {
    if (capacity > (size_t)-1 / 2) return false;
    capacity *= 2;
  }
  char *grown = grow(buffer, capacity);
  if (!grown) return false;
  buffer->data = grown;
  buffer->capacity = capacity;
  return true;
}

void *shim_buffer_room(shim_buffer *buffer, size_t count) {
  const size_t alignment = sizeof(void *);
  if (count > (size_t)-1 - 2 * alignment || !reserve(buffer, count + 2 * alignment)) return NULL;
  return buffer->data + (buffer->count + alignment) / alignment * alignment;
}

bool shim_buffer_append(shim_buffer *buffer, const void *data, size_t count) {
  const bool has_room = buffer->data && count < buffer->capacity - buffer->count;
  if (!has_room && !reserve(buffer, count)) return false;
  if (count > 0) memcpy(buffer->data + buffer->count, data, count);
  buffer->count += count;
  buffer->data[buffer->count] = '\0';
  return true;
}

void shim_buffer_free(shim_buffer *buffer) {
  if (!buffer->data) return; /* then it has neither a count nor a capacity */
  if (buffer->capacity <= MAY_BE_SECRET) shim_wipe(buffer->data, buffer->count);
  free(buffer->data);
  *buffer = (shim_buffer){NULL, 0, 0};
}

bool shim_is_equal(const char *text, const char *other) {
  return strcmp(text, other) == 0;
}

char *shim_copy_string(const char *text) {
  return text ? shim_copy_bytes(text, strlen(text) + 1) : NULL;
}

char *shim_copy_strings(const char *first, const char *second) {
  const size_t size = strlen(first) + 1, second_size = strlen(second) + 1;
  char *copies = malloc(size + second_size);
  if (!copies) return NULL;
  memcpy(copies, first, size);
  memcpy(copies + size, second, second_size);
  return copies;
}

void *shim_copy_bytes(const void *bytes, size_t count) {
  void *copy = bytes ? malloc(count ? count : 1) : NULL;
  if (copy) memcpy(copy, bytes, count);
  return copy;
}

void *shim_allocate(size_t count) {
  return malloc(count);
}

void shim_free(void *memory) {
  free(memory);
}

void shim_write_range(char *out, size_t capacity, int64_t offset) {
  snprintf(out, capacity, "bytes=%" PRId64 "-", offset);
}

bool shim_write_uuid(char out[37]) {
  unsigned char b[16];
  if (getrandom(b, sizeof b, 0) != (ssize_t)sizeof b) return false;
  b[6] = (b[6] & 0x0F) | 0x40; /* RFC 9562: version 4, */
  b[8] = (b[8] & 0x3F) | 0x80; /* variant 10 */
  snprintf(out, 37, "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", b[0], b[1], b[2], b[3],
           b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13], b[14], b[15]);
  return true;
}

void shim_wipe(void *memory, size_t count) {
  if (memory) explicit_bzero(memory, count);
}
