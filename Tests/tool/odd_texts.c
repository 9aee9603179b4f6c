/* Preloaded before the library, gives reasons a text with all that JSON has to escape. */
#include <boxretry.h>

const char *boxretry_reason_text(int32_t reason) {
  (void)reason;
  return "\"quoted\", a \\, a tab\t, a line\n, \x01 and \xC3\xA9";
}
