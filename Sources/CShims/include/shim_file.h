/* Files as bodies. Errors are the system's, or SHIM_NOT_REGULAR; shim_system_text() has words for them. */
#ifndef BOXRETRY_FILE_H
#define BOXRETRY_FILE_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SHIM_NOT_REGULAR = 100000, SHIM_FILE_CHANGED = 100001, SHIM_FILE_NO_MEMORY = ENOMEM };

/* What an error means, such as "No such file or directory". Static. */
const char *shim_system_text(int error);

/* The path, made absolute, so that a chdir() does not change what it means; to be freed. NULL: see `error`. */
char *shim_absolute_path(const char *path, int *error);

/* A regular file, opened for reading and closed on exec; an error, negated, if that cannot be. */
int shim_file_open(const char *path);

/* Whether there is an encrypted private key in a PEM file. */
bool shim_file_has_encrypted_key(const char *path);

/* A duplicate of a descriptor, closed on exec; -1 if that cannot be. */
int shim_file_duplicate(int descriptor);

/* The length of the regular file behind a descriptor; -1 if it is none. */
int64_t shim_file_length(int descriptor);

/* What tells one state of a file from another: which file it is, its length, and when it was last written to. */
typedef struct shim_file_state {
  uint64_t device;
  uint64_t inode;
  int64_t length;
  int64_t written_seconds;
  int64_t written_nanoseconds;
} shim_file_state;

/* The state of the regular file behind a descriptor; false if it is not a regular file. */
bool shim_file_get_state(int descriptor, shim_file_state *out);

bool shim_file_is_same_state(const shim_file_state *a, const shim_file_state *b);

/* Reads at an offset, as much as there is. So many bytes; 0: the file ends there; below 0: an error, negated. */
int64_t shim_file_read(int descriptor, void *buffer, size_t capacity, int64_t offset);

/* A file that is written beside its target, and takes its place when it is whole. */
typedef struct shim_new_file {
  int descriptor; /* -1: not open */
  char *target;
  char *temporary;
} shim_new_file;

/* `path` is one of a regular file, whose permissions the new one gets, or of none. 0, or an error, here and below. */
int shim_new_file_open(shim_new_file *file, const char *path);
int shim_new_file_write(shim_new_file *file, const void *data, size_t length);
int shim_new_file_restart(shim_new_file *file);
int shim_new_file_finish(shim_new_file *file); /* in any case it is not open any more */
void shim_new_file_drop(shim_new_file *file);  /* nothing is left; may be called when it is not open */

/* Whether a new file could be made there, as far as that can be seen without making it. */
int shim_new_file_check(const char *path);

#endif
