/*
 * What all fuzz targets share: how they take their input apart, and how they complain.
 *
 * Everything that the library gets is in a heap block of exactly its size, so that AddressSanitizer sees each byte that
 * is read or written beside it.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "boxretry.h"

/* libFuzzer calls this with one input after another. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Ends the process, which is a finding, unless the condition holds. `clause` says what should be so, and why. */
#define REQUIRE(condition, clause)                                                                                     \
  do {                                                                                                                 \
    if (!(condition)) {                                                                                                \
      fprintf(stderr, "%s:%d: not so: %s (%s)\n", __FILE__, __LINE__, clause, #condition);                             \
      abort();                                                                                                         \
    }                                                                                                                  \
  } while (0)

/* The longest delay there is (B6). */
#define MAXIMUM_DELAY 2147483647.0

/* --- Input: bytes are taken from its front; an exhausted one gives zeros. --- */

typedef struct input {
  const uint8_t *data;
  size_t size;
} input;

static inline void take_bytes(input *in, void *bytes, size_t count) {
  size_t available = count < in->size ? count : in->size;
  memset(bytes, 0, count);
  if (available > 0) memcpy(bytes, in->data, available);
  in->data += available;
  in->size -= available;
}

static inline uint8_t take_byte(input *in) {
  uint8_t byte;
  take_bytes(in, &byte, sizeof byte);
  return byte;
}

static inline bool take_flag(input *in) {
  return take_byte(in) & 1;
}

static inline uint16_t take_u16(input *in) {
  uint16_t number;
  take_bytes(in, &number, sizeof number);
  return number;
}

static inline int32_t take_i32(input *in) {
  int32_t number;
  take_bytes(in, &number, sizeof number);
  return number;
}

static inline int64_t take_i64(input *in) {
  int64_t number;
  take_bytes(in, &number, sizeof number);
  return number;
}

/* Any Double: NaN and infinity too. */
static inline double take_double(input *in) {
  double number;
  take_bytes(in, &number, sizeof number);
  return number;
}

/* --- Heap blocks of exactly the right size. --- */

static inline void *new_block(size_t size) {
  void *block = malloc(size);
  REQUIRE(block != NULL, "there is memory");
  return block;
}

/* A string of those bytes, which ends in NUL. */
static inline char *new_string(const void *bytes, size_t length) {
  char *string = new_block(length + 1);
  if (length > 0) memcpy(string, bytes, length);
  string[length] = '\0';
  return string;
}

#endif
