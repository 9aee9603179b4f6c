/*
 * Structs that a caller hands in, byte by byte (conventions 2, 3 and 8), for the targets `options` and `outcomes`.
 *
 * A struct is taken from the input as it is in memory, its struct_size first. It is in a heap block of exactly the
 * size that it claims to have, so that reading on behind it is seen.
 */
#ifndef STRUCTS_H
#define STRUCTS_H

#include "fuzz.h"

/* A struct_size above this is refused without a look at what is there. */
#define LONGEST_STRUCT 1024

typedef struct raw_struct {
  char *block;
  size_t length; /* of the block */
  size_t size;   /* what it claims to be */
  bool is_size;  /* the claim may be true: the block is as long, and what this library does not know of it is zero */
} raw_struct;

/* Takes a struct from the input. `value` has all defaults; what the caller's struct says is put over them. */
static inline raw_struct take_struct(input *in, void *value, size_t value_size) {
  raw_struct raw;
  take_bytes(in, &raw.size, sizeof raw.size);
  bool has_block = raw.size >= sizeof raw.size && raw.size <= LONGEST_STRUCT;
  raw.length = has_block ? raw.size : sizeof raw.size;
  raw.block = new_block(raw.length);
  memcpy(raw.block, &raw.size, sizeof raw.size);
  take_bytes(in, raw.block + sizeof raw.size, raw.length - sizeof raw.size);

  raw.is_size = has_block && raw.size % 8 == 0;
  for (size_t i = value_size; i < raw.length; i++)
    raw.is_size = raw.is_size && raw.block[i] == 0;
  if (raw.is_size) memcpy(value, raw.block, raw.length < value_size ? raw.length : value_size);
  return raw;
}

static inline bool has_field(const raw_struct *raw, size_t end_of_field) {
  return raw->is_size && raw->size >= end_of_field;
}

/* Puts the pointer of `value`, which points to something that exists, where the struct has one, if it is so long. */
#define PUT_POINTER(raw, value, type, field)                                                                           \
  do {                                                                                                                 \
    if (has_field(raw, offsetof(type, field) + sizeof(value)->field))                                                  \
      memcpy((raw)->block + offsetof(type, field), &(value)->field, sizeof(value)->field);                             \
  } while (0)

/*
 * Checks an answer: OK for what is valid, else INVALID_ARGUMENT with a detail. Returns whether it is OK.
 * A size below `known_size` may be refused: only Tests/abi knows how short the struct ever was.
 */
static inline bool check_error(boxretry_error error, const raw_struct *raw, size_t known_size, bool is_valid) {
  if (error == BOXRETRY_OK) {
    REQUIRE(raw->is_size && is_valid, "convention 8: what is not valid is refused");
    return true;
  }
  const char *detail = boxretry_last_error_detail();
  REQUIRE(error == BOXRETRY_ERROR_INVALID_ARGUMENT, "convention 8: the argument is refused");
  REQUIRE(detail[0] != '\0', "convention 2: there is a detail");
  bool was_never_so_short = raw->is_size && raw->size < known_size && strstr(detail, "struct_size");
  REQUIRE(!raw->is_size || !is_valid || was_never_so_short, "convention 3: what is valid is accepted");
  return false;
}

static inline bool is_in(double number, double least, double most) {
  return number >= least && number <= most;
}

/* A text that may be right or wrong where a name or a value is expected. */
static inline const char *take_text(input *in) {
  static const char *const texts[] = {"Retry-After", "120", "", "retry-after-ms", "a b", "a:b", "POST", "\xe9"};
  uint8_t which = take_byte(in) % 9;
  return which < 8 ? texts[which] : NULL;
}

#endif
