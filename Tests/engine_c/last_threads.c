/* Linked to a program, it lets the process end only when all threads have that came after its start.
 *
 * boxretry_client_free() waits for nobody, so that a client's threads may still be on their way out when main() returns:
 * what they are about to free would look like a leak. A thread that stays would be one: then the program fails. */
#define _GNU_SOURCE /* usleep */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { PATIENCE = 20000 /* milliseconds */ };

static int threads_at_start;

static int count_threads(void) {
  int count = -2; /* the entries . and .. */
  DIR *tasks = opendir("/proc/self/task");
  if (!tasks) abort();
  while (readdir(tasks))
    count++;
  closedir(tasks);
  return count;
}

__attribute__((constructor)) static void begin(void) {
  threads_at_start = count_threads();
}

__attribute__((destructor)) static void end(void) {
  for (int milliseconds = 0; count_threads() > threads_at_start; milliseconds++) {
    if (milliseconds == PATIENCE) {
      fputs("a thread stays behind\n", stderr);
      abort();
    }
    usleep(1000);
  }
}
