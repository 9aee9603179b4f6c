/* A file that appears under its name only when it is whole. */
#define _XOPEN_SOURCE 700

#include "output_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Where a file is, links followed. */
typedef struct place {
  char *path;
  char *temporary; /* a template for mkstemp(), in the same folder */
  bool exists;
  mode_t mode;
} place;

static void place_free(place *where) {
  free(where->path);
  free(where->temporary);
}

static bool place_find(place *where, const char *path) {
  static const char name[] = ".boxretry-XXXXXX";
  *where = (place){NULL, NULL, true, 0};
  where->path = realpath(path, NULL);
  if (!where->path && errno == ENOENT) {
    where->exists = false;
    where->path = strdup(path);
  }
  if (!where->path) return false;

  struct stat status;
  if (where->exists && stat(where->path, &status) == 0) where->mode = status.st_mode;
  const char *slash = strrchr(where->path, '/');
  size_t folder_length = slash ? (size_t)(slash - where->path) + 1 : 0;
  where->temporary = malloc(folder_length + sizeof name);
  if (!where->temporary) {
    place_free(where);
    errno = ENOMEM;
    return false;
  }
  memcpy(where->temporary, where->path, folder_length);
  memcpy(where->temporary + folder_length, name, sizeof name);
  return true;
}

static bool is_ordinary(const place *where) {
  return !where->exists || S_ISREG(where->mode);
}

/* --- Before --- */

static bool may_write(const place *where) {
  if (where->exists && S_ISDIR(where->mode)) {
    errno = EISDIR;
    return false;
  }
  if (where->exists && access(where->path, W_OK) != 0) return false;
  if (!is_ordinary(where)) return true;

  char *slash = strrchr(where->temporary, '/');
  if (!slash) return access(".", W_OK | X_OK) == 0;
  slash[1] = '\0';
  return access(where->temporary, W_OK | X_OK) == 0;
}

bool output_file_is_possible(const char *path) {
  if (*path == '\0') {
    errno = ENOENT;
    return false;
  }
  place where;
  if (!place_find(&where, path)) return false;
  bool ok = may_write(&where);
  place_free(&where);
  return ok;
}

bool output_file_is_ordinary(const char *path) {
  struct stat status;
  return stat(path, &status) != 0 || S_ISREG(status.st_mode);
}

/* --- Writing --- */

/* Closes the stream in any case. `is_lasting`: it is on the disk when this returns. */
static bool write_and_close(FILE *stream, bool is_lasting, output_writer *write, const void *context) {
  errno = 0;
  write(stream, context);
  bool ok = fflush(stream) == 0 && !ferror(stream) && (!is_lasting || fsync(fileno(stream)) == 0);
  int why = errno;
  if (fclose(stream) != 0 && ok) return false;
  errno = why;
  return ok;
}

/* What open() would give a new file. */
static mode_t usual_mode(void) {
  mode_t mask = umask(0);
  umask(mask);
  return 0666 & ~mask;
}

static bool write_beside(place *where, output_writer *write, const void *context) {
  int descriptor = mkstemp(where->temporary);
  if (descriptor < 0) return false;
  FILE *stream = NULL;
  bool ok = fchmod(descriptor, where->exists ? where->mode & 07777 : usual_mode()) == 0 &&
            (stream = fdopen(descriptor, "wb")) != NULL;
  if (!ok) {
    int why = errno;
    close(descriptor);
    errno = why;
  } else {
    ok = write_and_close(stream, true, write, context);
  }
  if (ok && rename(where->temporary, where->path) == 0) return true;
  int why = errno;
  unlink(where->temporary);
  errno = why;
  return false;
}

bool output_file_write(const char *path, output_writer *write, const void *context) {
  place where;
  if (!place_find(&where, path)) return false;
  bool ok;
  if (is_ordinary(&where)) {
    ok = write_beside(&where, write, context);
  } else {
    FILE *stream = fopen(where.path, "wb");
    ok = stream && write_and_close(stream, false, write, context);
  }
  int why = errno;
  place_free(&where);
  errno = why;
  return ok;
}
