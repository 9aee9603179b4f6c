/* The body of a request, as the option -d gives it. */
#include "request_data.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Room for further bytes at the end; NULL: there is none, and errno says so. */
static char *reserve(request_data *data, size_t length) {
  char *bytes = length < SIZE_MAX - data->length ? realloc(data->bytes, data->length + length + 1) : NULL;
  if (!bytes) {
    errno = ENOMEM;
    return NULL;
  }
  data->bytes = bytes;
  return bytes + data->length;
}

static bool add_bytes(request_data *data, const char *bytes, size_t length) {
  char *room = reserve(data, length);
  if (!room) return false;
  memcpy(room, bytes, length);
  data->length += length;
  return true;
}

static bool add_stream(request_data *data, FILE *stream) {
  size_t step = 65536;
  for (;;) {
    char *room = reserve(data, step);
    if (!room) return false;
    size_t count = fread(room, 1, step, stream);
    data->length += count;
    if (count < step) return !ferror(stream);
    step = data->length; /* Doubled each time, so that a large file is not copied again and again. */
  }
}

bool request_data_add_file(request_data *data, const char *path) {
  data->is_given = true;
  if (strcmp(path, "-") == 0) return add_stream(data, stdin);
  FILE *file = fopen(path, "rb");
  if (!file) return false;
  bool ok = add_stream(data, file);
  int why = errno;
  fclose(file);
  errno = why;
  return ok;
}

bool request_data_add(request_data *data, const char *value) {
  if (data->is_given && !add_bytes(data, "&", 1)) return false;
  data->is_given = true;
  return value[0] == '@' ? request_data_add_file(data, value + 1) : add_bytes(data, value, strlen(value));
}

void request_data_free(request_data *data) {
  free(data->bytes);
  *data = (request_data){NULL, 0, false};
}
