/* Given a program: the macros of its header agree with each other, and with the library that it runs with,
 * which says what libcurl it has. */
#include <boxretry.h>
#include <stdio.h>
#include <string.h>

int main(void) {
  char text[64];
  int part;
  snprintf(text, sizeof text, "%d.%d.%d", BOXRETRY_VERSION_MAJOR, BOXRETRY_VERSION_MINOR, BOXRETRY_VERSION_PATCH);
  printf("header %s = %s, %d; library %s, %d\n", BOXRETRY_VERSION, text, BOXRETRY_VERSION_NUMBER, boxretry_version(),
         boxretry_version_number());
  printf("libcurl %s\n", boxretry_libcurl_version());
  return strcmp(text, BOXRETRY_VERSION) == 0 && strcmp(boxretry_version(), BOXRETRY_VERSION) == 0 &&
                 boxretry_version_number() == BOXRETRY_VERSION_NUMBER &&
                 sscanf(boxretry_libcurl_version(), "%d.%d.%d", &part, &part, &part) == 3
             ? 0
             : 1;
}
