#define _GNU_SOURCE
#include "shim_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *shim_system_text(int error) {
  if (error == SHIM_NOT_REGULAR) return "is not a regular file";
  if (error == SHIM_FILE_CHANGED) return "has changed since the call began";
  /* In English like the text around it. This locale needs no memory. */
  return strerror_l(error, newlocale(LC_ALL_MASK, "C", (locale_t)0));
}

char *shim_absolute_path(const char *path, int *error) {
  char *folder = *path == '/' ? strdup("") : realpath(".", NULL);
  const size_t size = folder ? strlen(folder) + strlen(path) + 2 : 0;
  char *absolute = folder ? malloc(size) : NULL;
  *error = absolute ? 0 : folder || *path == '/' ? ENOMEM : errno;
  if (absolute) snprintf(absolute, size, "%s%s%s", folder, *path == '/' ? "" : "/", path);
  free(folder);
  return absolute;
}

/* --- Reading --- */

bool shim_file_get_state(int descriptor, shim_file_state *out) {
  struct stat status;
  if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) return false;
  *out = (shim_file_state){(uint64_t)status.st_dev, (uint64_t)status.st_ino, (int64_t)status.st_size,
                           (int64_t)status.st_mtim.tv_sec, (int64_t)status.st_mtim.tv_nsec};
  return true;
}

bool shim_file_is_same_state(const shim_file_state *a, const shim_file_state *b) {
  return a->device == b->device && a->inode == b->inode && a->length == b->length &&
         a->written_seconds == b->written_seconds && a->written_nanoseconds == b->written_nanoseconds;
}

int64_t shim_file_length(int descriptor) {
  shim_file_state state;
  return shim_file_get_state(descriptor, &state) ? state.length : -1;
}

/* Why the file cannot be read or written. */
static int why_not_regular(mode_t mode) {
  return S_ISDIR(mode) ? EISDIR : SHIM_NOT_REGULAR;
}

int shim_file_open(const char *path) {
  /* Without O_NONBLOCK, the open of a FIFO would wait for a writer. */
  const int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  struct stat status;
  if (descriptor < 0) return -errno;
  const int why = fstat(descriptor, &status) != 0 ? errno : why_not_regular(status.st_mode);
  if (shim_file_length(descriptor) >= 0) return descriptor;
  close(descriptor);
  return -why;
}

int shim_file_duplicate(int descriptor) {
  return fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
}

int64_t shim_file_read(int descriptor, void *buffer, size_t capacity, int64_t offset) {
  ssize_t count;
  do {
    count = pread(descriptor, buffer, capacity, offset);
  } while (count < 0 && errno == EINTR);
  return count < 0 ? -errno : count;
}

bool shim_file_has_encrypted_key(const char *path) {
  /* Matches both forms: BEGIN ENCRYPTED PRIVATE KEY, and Proc-Type: 4,ENCRYPTED. */
  static const char mark[] = "ENCRYPTED";
  char piece[4096];
  const int descriptor = shim_file_open(path);
  bool is_found = false;
  int64_t offset = 0, count;
  if (descriptor < 0) return false;
  while (!is_found && (count = shim_file_read(descriptor, piece, sizeof piece, offset)) >= (int64_t)sizeof mark) {
    is_found = memmem(piece, (size_t)count, mark, sizeof mark - 1) != NULL;
    offset += count - (int64_t)sizeof mark + 1; /* it may span two pieces */
    if (count < (int64_t)sizeof piece) break;
  }
  close(descriptor);
  return is_found;
}

/* --- Writing --- */

/* The process's mask. umask() can only read it by changing it, which other threads would notice. */
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

static bool is_link(const char *path) {
  struct stat status;
  return lstat(path, &status) == 0 && S_ISLNK(status.st_mode);
}

/* The permissions of the new file. Its owner may differ from the old file's, so set-user-ID bits are dropped, as when a
 * file is written to. Returns an error if the path is not a regular file. */
static int permissions_for(const char *path, mode_t *out) {
  struct stat status;
  if (stat(path, &status) == 0) {
    *out = status.st_mode & 0777;
    return S_ISREG(status.st_mode) ? 0 : why_not_regular(status.st_mode);
  }
  if (errno != ENOENT || is_link(path)) return errno; /* a dangling link is not replaced either */
  *out = 0666 & ~(mode_t)current_umask();
  return 0;
}

/* The file to replace: a symbolic link is followed and stays a link. Returns 0 or an error. */
static int target_of(const char *path, char **out) {
  *out = realpath(path, NULL);
  if (*out) return 0;
  if (errno != ENOENT) return errno;
  *out = strdup(path);
  return *out ? 0 : ENOMEM; /* not errno: the compiler assumes that strdup() does not set it */
}

/* Includes the slash; 0: the current directory. */
static size_t directory_length(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? (size_t)(slash - path) + 1 : 0;
}

int shim_new_file_check(const char *path) {
  mode_t permissions;
  int error = permissions_for(path, &permissions);
  if (error != 0) return error;
  char *directory;
  error = target_of(path, &directory);
  if (error != 0) return error;
  directory[directory_length(directory)] = '\0';
  if (faccessat(AT_FDCWD, *directory ? directory : ".", W_OK | X_OK, AT_EACCESS) != 0) error = errno;
  free(directory);
  return error;
}

static int make_temporary(shim_new_file *file) {
  const size_t directory = directory_length(file->target);
  static const char name[] = ".boxretry-XXXXXX";
  file->temporary = malloc(directory + sizeof name);
  if (!file->temporary) return ENOMEM;
  memcpy(file->temporary, file->target, directory);
  memcpy(file->temporary + directory, name, sizeof name);
  file->descriptor = mkostemp(file->temporary, O_CLOEXEC);
  return file->descriptor < 0 ? errno : 0;
}

int shim_new_file_open(shim_new_file *file, const char *path) {
  mode_t permissions;
  *file = (shim_new_file){-1, NULL, NULL};
  int error = permissions_for(path, &permissions);
  if (error != 0) return error;
  error = target_of(path, &file->target);
  if (error == 0) error = make_temporary(file);
  if (error == 0 && fchmod(file->descriptor, permissions) != 0) error = errno;
  if (error != 0) shim_new_file_drop(file);
  return error;
}

int shim_new_file_write(shim_new_file *file, const void *data, size_t length) {
  const char *bytes = data;
  while (length > 0) {
    const ssize_t count = write(file->descriptor, bytes, length < SSIZE_MAX ? length : SSIZE_MAX);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno;
    if (count == 0) return EIO;
    bytes += count;
    length -= (size_t)count;
  }
  return 0;
}

int shim_new_file_restart(shim_new_file *file) {
  return ftruncate(file->descriptor, 0) == 0 && lseek(file->descriptor, 0, SEEK_SET) == 0 ? 0 : errno;
}

static void forget(shim_new_file *file) {
  free(file->target);
  free(file->temporary);
  *file = (shim_new_file){-1, NULL, NULL};
}

int shim_new_file_finish(shim_new_file *file) {
  /* Disk errors may be reported only here. */
  const int error = close(file->descriptor) == 0 && rename(file->temporary, file->target) == 0 ? 0 : errno;
  if (error != 0) unlink(file->temporary);
  forget(file);
  return error;
}

void shim_new_file_drop(shim_new_file *file) {
  if (file->descriptor >= 0) {
    close(file->descriptor);
    unlink(file->temporary);
  }
  forget(file);
}
