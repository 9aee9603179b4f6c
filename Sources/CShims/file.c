#define _GNU_SOURCE
#include "shim_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- Reading --- */

int64_t shim_file_length(int descriptor) {
  struct stat status;
  return fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) ? (int64_t)status.st_size : -1;
}

int shim_file_open(const char *path) {
  /* Without O_NONBLOCK, the open of a FIFO would wait for a writer. */
  const int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (descriptor < 0 || shim_file_length(descriptor) >= 0) return descriptor;
  close(descriptor);
  return -1;
}

int shim_file_duplicate(int descriptor) {
  return fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
}

int64_t shim_file_read(int descriptor, void *buffer, size_t capacity, int64_t offset) {
  ssize_t count;
  do {
    count = pread(descriptor, buffer, capacity, offset);
  } while (count < 0 && errno == EINTR);
  return count;
}

/* --- Writing --- */

/* The process's mask. umask() would have to change it, which other threads would see. */
static unsigned current_umask(void) {
  unsigned mask = 022;
  char line[128];
  FILE *status = fopen("/proc/self/status", "re");
  if (!status) return mask;
  while (fgets(line, sizeof line, status)) {
    if (strncmp(line, "Umask:", 6) == 0) {
      mask = (unsigned)strtoul(line + 6, NULL, 8);
      break;
    }
  }
  fclose(status);
  return mask & 0777;
}

/* The permissions that the new file is to have; -1 if there is something at the path that is no regular file. Its owner may
   be another one than the old file's, so that it does not run in anybody's name: as when a file is written to. */
static int permissions_for(const char *path) {
  struct stat status;
  if (stat(path, &status) == 0) return S_ISREG(status.st_mode) ? (int)(status.st_mode & 0777) : -1;
  return errno == ENOENT ? (int)(0666 & ~current_umask()) : -1;
}

static bool is_link(const char *path) {
  struct stat status;
  return lstat(path, &status) == 0 && S_ISLNK(status.st_mode);
}

static bool make_temporary(shim_new_file *file) {
  const char *slash = strrchr(file->target, '/');
  const size_t directory = slash ? (size_t)(slash - file->target) + 1 : 0;
  static const char name[] = ".boxretry-XXXXXX";
  file->temporary = malloc(directory + sizeof name);
  if (!file->temporary) return false;
  memcpy(file->temporary, file->target, directory);
  memcpy(file->temporary + directory, name, sizeof name);
  file->descriptor = mkostemp(file->temporary, O_CLOEXEC);
  return file->descriptor >= 0;
}

bool shim_new_file_open(shim_new_file *file, const char *path) {
  *file = (shim_new_file){-1, NULL, NULL};
  const int permissions = permissions_for(path);
  if (permissions < 0) return false;
  file->target = realpath(path, NULL);              /* a symbolic link stays one */
  if (!file->target && is_link(path)) return false; /* that leads nowhere, and is to stay one, too */
  if (!file->target) file->target = strdup(path);
  if (file->target && make_temporary(file) && fchmod(file->descriptor, (mode_t)permissions) == 0) return true;
  shim_new_file_drop(file);
  return false;
}

bool shim_new_file_write(shim_new_file *file, const void *data, size_t length) {
  const char *bytes = data;
  while (length > 0) {
    const ssize_t count = write(file->descriptor, bytes, length < SSIZE_MAX ? length : SSIZE_MAX);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    bytes += count;
    length -= (size_t)count;
  }
  return true;
}

bool shim_new_file_restart(shim_new_file *file) {
  return ftruncate(file->descriptor, 0) == 0 && lseek(file->descriptor, 0, SEEK_SET) == 0;
}

static void forget(shim_new_file *file) {
  free(file->target);
  free(file->temporary);
  *file = (shim_new_file){-1, NULL, NULL};
}

bool shim_new_file_finish(shim_new_file *file) {
  /* Errors of the disk may come as late as this. */
  bool ok = close(file->descriptor) == 0 && rename(file->temporary, file->target) == 0;
  if (!ok) unlink(file->temporary);
  forget(file);
  return ok;
}

void shim_new_file_drop(shim_new_file *file) {
  if (file->descriptor >= 0) {
    close(file->descriptor);
    unlink(file->temporary);
  }
  forget(file);
}
