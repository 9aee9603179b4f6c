/* The body of a request, from the option -d. */
#include "request_data.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Makes room for more bytes at the end. On failure returns NULL and sets errno. */
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
    step = data->length; /* doubled each time, so that a large file is not copied repeatedly */
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

/* Earlier data and new data are joined like two fields of a form. */
static bool begin_field(request_data *data) {
  const bool ok = !data->is_given || add_bytes(data, "&", 1);
  data->is_given = true;
  return ok;
}

bool request_data_add_text(request_data *data, const char *text) {
  return begin_field(data) && add_bytes(data, text, strlen(text));
}

bool request_data_add(request_data *data, const char *value) {
  if (value[0] != '@') return request_data_add_text(data, value);
  return begin_field(data) && request_data_add_file(data, value + 1);
}

/* Needs no encoding (RFC 3986). */
static bool is_unreserved(unsigned char byte) {
  return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9') || byte == '-' ||
         byte == '.' || byte == '_' || byte == '~';
}

/* Adds bytes, percent-encoded as in a form. */
static bool add_encoded(request_data *data, const char *bytes, size_t length) {
  static const char digits[] = "0123456789ABCDEF";
  char *room = reserve(data, length <= (SIZE_MAX - 1) / 3 ? 3 * length : SIZE_MAX);
  if (!room) return false;
  size_t used = 0;
  for (size_t i = 0; i < length; i++) {
    const unsigned char byte = (unsigned char)bytes[i];
    if (is_unreserved(byte)) {
      room[used++] = (char)byte;
    } else if (byte == ' ') {
      room[used++] = '+';
    } else {
      room[used++] = '%';
      room[used++] = digits[byte >> 4];
      room[used++] = digits[byte & 15];
    }
  }
  data->length += used;
  return true;
}

bool request_data_add_encoded(request_data *data, const char *value) {
  if (!begin_field(data)) return false;
  const char *mark = value + strcspn(value, "=@");
  if (*mark == '\0') return add_encoded(data, value, strlen(value));
  if (mark > value && !(add_bytes(data, value, (size_t)(mark - value)) && add_bytes(data, "=", 1))) return false;
  if (*mark == '=') return add_encoded(data, mark + 1, strlen(mark + 1));
  request_data file = {0};
  const bool ok = request_data_add_file(&file, mark + 1) && add_encoded(data, file.bytes, file.length);
  const int why = errno;
  request_data_free(&file);
  errno = why;
  return ok;
}

void request_data_free(request_data *data) {
  free(data->bytes);
  *data = (request_data){NULL, 0, false};
}
