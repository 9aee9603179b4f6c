/* Linked to a program with -Wl,--wrap=main, it lets main() return only when all threads have ended that came after its start.
 *
 * boxretry_client_free() does not wait, so a client's threads may be ending when main() returns, and what they are
 * about to free would look like a leak. A thread that stays would be one: then the program fails. A destructor would be too
 * late: when a process exits, the library's threads stop where they are. */
#define _GNU_SOURCE /* usleep */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { PATIENCE = 120000 /* milliseconds */ };

static int count_threads(void) {
  int count = -2; /* the entries . and .. */
  DIR *tasks = opendir("/proc/self/task");
  if (!tasks) abort();
  while (readdir(tasks))
    count++;
  closedir(tasks);
  return count;
}

int __real_main(int argc, char **argv);

int __wrap_main(int argc, char **argv) {
  const int threads_at_start = count_threads();
  const int status = __real_main(argc, argv);
  for (int milliseconds = 0; count_threads() > threads_at_start; milliseconds++) {
    if (milliseconds == PATIENCE) {
      fputs("a thread stays behind\n", stderr);
      abort();
    }
    usleep(1000);
  }
  return status;
}
