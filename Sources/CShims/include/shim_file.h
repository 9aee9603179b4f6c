/* Files as bodies. Each function answers false after an error of the system's. */
#ifndef BOXRETRY_FILE_H
#define BOXRETRY_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A regular file, opened for reading and closed on exec; -1 if that cannot be. */
int shim_file_open(const char *path);

/* A duplicate of a descriptor, closed on exec; -1 if that cannot be. */
int shim_file_duplicate(int descriptor);

/* The length of the regular file behind a descriptor; -1 if it is none. */
int64_t shim_file_length(int descriptor);

/* Reads at an offset, as much as there is. So many bytes; 0: the file ends there; -1: an error. */
int64_t shim_file_read(int descriptor, void *buffer, size_t capacity, int64_t offset);

/* A file that is written beside its target, and takes its place when it is whole. */
typedef struct shim_new_file {
  int descriptor; /* -1: not open */
  char *target;
  char *temporary;
} shim_new_file;

/* `path` is one of a regular file, whose permissions the new one gets, or of none. */
bool shim_new_file_open(shim_new_file *file, const char *path);
bool shim_new_file_write(shim_new_file *file, const void *data, size_t length);
bool shim_new_file_restart(shim_new_file *file);
bool shim_new_file_finish(shim_new_file *file); /* in any case it is not open any more */
void shim_new_file_drop(shim_new_file *file);   /* nothing is left; may be called when it is not open */

#endif
