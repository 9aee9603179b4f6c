/* Files as bodies. Errors are the system's, or SHIM_NOT_REGULAR; shim_system_text() returns their texts. */
#ifndef BOXRETRY_FILE_H
#define BOXRETRY_FILE_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SHIM_NOT_REGULAR = 100000, SHIM_FILE_CHANGED = 100001, SHIM_FILE_NO_MEMORY = ENOMEM };

/* The text of an error, such as "No such file or directory". Static. */
const char *shim_system_text(int error);

/* The path, made absolute, so that a chdir() does not change its meaning; free it. NULL: see `error`. */
char *shim_absolute_path(const char *path, int *error);

/* Opens a regular file for reading, closed on exec. Returns the descriptor or a negated error. */
int shim_file_open(const char *path);

/* Whether a PEM file contains an encrypted private key. */
bool shim_file_has_encrypted_key(const char *path);

/* A duplicate of a descriptor, closed on exec; -1 on failure. */
int shim_file_duplicate(int descriptor);

/* The length of the regular file behind a descriptor; -1 if it is not a regular file. */
int64_t shim_file_length(int descriptor);

/* Identifies a state of a file: which file it is, its length, and when it was last written to. */
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

/* Reads at an offset, as much as is available. Returns the number of bytes; 0: end of file; below 0: a negated
 * error. */
int64_t shim_file_read(int descriptor, void *buffer, size_t capacity, int64_t offset);

/* A file that is written under a temporary name next to its target, and replaces it when it is complete. */
typedef struct shim_new_file {
  int descriptor; /* -1: not open */
  char *target;
  char *temporary;
} shim_new_file;

/* `path` is a regular file, whose permissions the new file gets, or does not exist. Returns 0 or an error, here and
 * below. */
int shim_new_file_open(shim_new_file *file, const char *path);
int shim_new_file_write(shim_new_file *file, const void *data, size_t length);
int shim_new_file_restart(shim_new_file *file);
int shim_new_file_finish(shim_new_file *file); /* closes it in any case */
void shim_new_file_drop(shim_new_file *file);  /* removes the temporary file; may be called when it is not open */

/* Whether a new file can be created there, as far as that can be checked without creating it. */
int shim_new_file_check(const char *path);

#endif
