/*
 * The JSON reader of token endpoints (T12): it has no function in the header, and is called through json.swift.
 *
 * The input is the document. What it says is compared with Python's reader elsewhere (Tests/model/test_json.py); here it
 * is read within its bounds, and what is an object and what is not must hang together.
 */
#include "fuzz.h"

bool fuzz_json(const void *data, size_t size, uint8_t *text);

static bool is_object(const uint8_t *data, size_t size, const char *more) {
  const size_t added = strlen(more);
  uint8_t *document = new_block(size + added), *text = new_block(size + added);
  if (size > 0) memcpy(document, data, size);
  memcpy(document + size, more, added);
  const bool result = fuzz_json(document, size + added, text);
  free(document);
  free(text);
  return result;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const bool is_whole = is_object(data, size, "");
  if (size > 60000) return 0;
  REQUIRE(is_object(data, size, " \n") == is_whole, "T12: white space at the end changes nothing");
  if (!is_whole) return 0;
  REQUIRE(!is_object(data, size, "}") && !is_object(data, size, "{}"), "T12: nothing may stand behind an object");
  while (size > 0 && strchr(" \t\r\n", data[size - 1]))
    size--;
  REQUIRE(!is_object(data, size - 1, ""), "T12: a truncated object is refused");
  return 0;
}
