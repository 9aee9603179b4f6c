/* A multipart form, built from the fields of -F. */
#define _POSIX_C_SOURCE 200809L

#include "form_data.h"
#include "request_data.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char type_key[] = ";type=";
static const char file_name_key[] = ";filename=";

static bool begins_with(const char *text, const char *beginning) {
  return strncmp(text, beginning, strlen(beginning)) == 0;
}

static bool is_at_parameter(const char *text) {
  return begins_with(text, type_key) || begins_with(text, file_name_key);
}

/* Unquotes a quoted word. Sets *rest to the text after it, or NULL if the closing quote is missing. */
static char *copy_quoted(const char *text, const char **rest) {
  char *copy = malloc(strlen(text) + 1);
  size_t length = 0;
  *rest = NULL;
  for (const char *byte = text + 1; copy && *byte; byte++) {
    if (*byte == '"') {
      *rest = byte + 1;
      break;
    }
    if (*byte == '\\' && (byte[1] == '"' || byte[1] == '\\')) byte++;
    copy[length++] = *byte;
  }
  if (copy) copy[length] = '\0';
  return copy;
}

/* Reads a word up to a parameter or, where nothing else is allowed, a semicolon. NULL: out of memory. */
static char *copy_word(const char *text, bool ends_at_semicolon, const char **rest) {
  if (ends_at_semicolon && *text == '"') return copy_quoted(text, rest);
  size_t length = 0;
  while (text[length] && !is_at_parameter(text + length) && !(ends_at_semicolon && text[length] == ';'))
    length++;
  *rest = text + length;
  return strndup(text, length);
}

static void free_part(boxretry_part *part) {
  free((char *)part->name);
  free((char *)part->file_name);
  free((char *)part->content_type);
  free((char *)part->path);
  free((void *)part->data);
}

/* Reads a whole file into the part's memory. On failure returns false and sets errno. */
static bool read_whole(boxretry_part *part, const char *path) {
  request_data data = {NULL, 0, false};
  if (!request_data_add_file(&data, path)) {
    request_data_free(&data);
    return false;
  }
  part->data = data.bytes;
  part->data_length = data.length;
  return true;
}

/* A file that can be read again is read while it is sent. On failure returns false and sets errno. */
static bool take_file(boxretry_part *part, char **path) {
  struct stat status;
  if (strcmp(*path, "-") != 0 && stat(*path, &status) == 0 && S_ISREG(status.st_mode)) {
    part->path = *path;
    *path = NULL;
    return access(part->path, R_OK) == 0;
  }
  const char *slash = strrchr(*path, '/');
  part->file_name = strdup(slash ? slash + 1 : *path);
  return part->file_name && read_whole(part, *path);
}

/* Reads the text after the name, and sets `*rest` to what follows it. */
static bool take_content(boxretry_part *part, const char *text, const char **rest) {
  if (*text != '@' && *text != '<') {
    part->data = copy_word(text, false, rest);
    if (part->data) part->data_length = strlen(part->data);
    return part->data != NULL;
  }
  char *path = copy_word(text + 1, true, rest);
  bool ok = path && (!*rest || (*text == '@' ? take_file(part, &path) : read_whole(part, path)));
  int why = errno;
  free(path);
  errno = why;
  return ok;
}

static bool take_parameters(boxretry_part *part, const char *text, const char **why) {
  while (text && *text) {
    if (!is_at_parameter(text)) {
      *why = "has something other than ';type=' and ';filename=' after the file name; quote names that contain ';'";
      return false;
    }
    const bool is_type = begins_with(text, type_key);
    /* A content type may contain semicolons: text/plain;charset=utf-8. */
    char *word = is_type ? copy_word(text + strlen(type_key), false, &text)
                         : copy_word(text + strlen(file_name_key), true, &text);
    if (!word) return false;
    const char **target = is_type ? &part->content_type : &part->file_name;
    free((char *)*target);
    *target = word;
  }
  if (!text) *why = "has an unclosed quote";
  return text != NULL;
}

static bool read_field(boxretry_part *part, const char *field, const char **why) {
  const char *equals = strchr(field, '=');
  const char *rest = NULL;
  if (!equals || equals == field) {
    *why = "has no name; write 'NAME=TEXT', 'NAME=@FILE' or 'NAME=<FILE'";
    return false;
  }
  part->name = strndup(field, (size_t)(equals - field));
  return part->name && take_content(part, equals + 1, &rest) && take_parameters(part, rest, why);
}

bool form_data_add(form_data *form, const char *field, const char **why) {
  boxretry_part part = {0};
  *why = NULL;
  errno = ENOMEM; /* failures without a text are out of memory */
  boxretry_part *parts = NULL;
  if (!read_field(&part, field, why) || !(parts = realloc(form->parts, (form->count + 1) * sizeof *parts))) {
    int number = errno;
    free_part(&part);
    errno = number;
    return false;
  }
  form->parts = parts;
  form->parts[form->count++] = part;
  return true;
}

void form_data_free(form_data *form) {
  for (size_t i = 0; i < form->count; i++)
    free_part(&form->parts[i]);
  free(form->parts);
  *form = (form_data){NULL, 0};
}
