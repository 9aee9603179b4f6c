/* Checks the file of -o before there is anything to write. */
#define _XOPEN_SOURCE 700

#include "output_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Whether a file can be created or replaced in the directory of this path. */
static bool may_make_beside(const char *path) {
  const char *slash = strrchr(path, '/');
  if (!slash) return access(".", W_OK | X_OK) == 0;
  char *folder = strndup(path, (size_t)(slash - path) + 1);
  bool ok = folder && access(folder, W_OK | X_OK) == 0;
  int why = errno;
  free(folder);
  errno = why;
  return ok;
}

bool output_file_is_possible(const char *path) {
  struct stat status;
  if (stat(path, &status) != 0) return errno == ENOENT && *path != '\0' && may_make_beside(path);
  if (S_ISDIR(status.st_mode)) errno = EISDIR;
  if (S_ISDIR(status.st_mode) || access(path, W_OK) != 0) return false;
  if (!S_ISREG(status.st_mode)) return true;
  char *place = realpath(path, NULL); /* the target of a link may be in another directory */
  bool ok = place && may_make_beside(place);
  int why = errno;
  free(place);
  errno = why;
  return ok;
}

bool output_file_is_ordinary(const char *path) {
  struct stat status;
  return stat(path, &status) != 0 || S_ISREG(status.st_mode);
}
