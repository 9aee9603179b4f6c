/*
 * No target: it proves that a fuzzer which finds nothing has really looked. Each fault must be seen, and `run` insists on
 * it before it runs the targets, which are built from the same objects in the same way. FUZZ_PROOF says which fault.
 */
#include "fuzz.h"

/* The fuzzer is led by the coverage of the Swift code: it comes upon an exponent without being told of one. */
static void find_an_exponent(const uint8_t *data, size_t size) {
  char *value = new_string(data, size);
  double seconds;
  bool is_number = boxretry_parse_retry_after(value, 0, &seconds) == BOXRETRY_OK;
  bool has_exponent = strchr(value, 'e') != NULL;
  free(value);
  REQUIRE(!(is_number && has_exponent && seconds >= 1000), "proof: found");
}

/* The Swift code is watched by AddressSanitizer: it reads on behind a string without an end. */
static void read_too_far(void) {
  char *value = new_block(3);
  double seconds;
  memcpy(value, "123", 3);
  boxretry_parse_retry_after(value, 0, &seconds);
  free(value);
}

/* A trap of Swift code is a finding: proof.swift overflows. */
int32_t proof_trap(int32_t number);

/* What is never freed is a finding. */
static void leak(void) {
  boxretry_strategy *strategy;
  REQUIRE(boxretry_strategy_new(NULL, &strategy) == BOXRETRY_OK, "NULL is the defaults");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const char *fault = getenv("FUZZ_PROOF");
  if (!fault || size == 0) return 0;
  if (strcmp(fault, "find") == 0) find_an_exponent(data, size);
  if (strcmp(fault, "over-read") == 0) read_too_far();
  if (strcmp(fault, "trap") == 0) proof_trap(INT32_MAX);
  if (strcmp(fault, "leak") == 0) leak();
  return 0;
}
