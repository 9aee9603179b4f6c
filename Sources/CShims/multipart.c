/* Multipart forms: the parts, in memory or in files, are read while they are sent. */
#include "curl_handles.h"

#include "shim_file.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct part_data {
  shim_easy *easy;  /* the handle whose body contains the part */
  int number;       /* from 0 */
  const char *data; /* NULL: a file */
  int64_t length;
  int64_t position;
  int descriptor; /* of the file; -1: not open */
  bool was_sent;  /* in an earlier attempt, with the file in this state */
  shim_file_state state;
  struct part_data *next;
  char path[];
} part_data;

static void close_part(part_data *part) {
  if (part->descriptor >= 0) close(part->descriptor);
  part->descriptor = -1;
}

static void free_part(void *user) {
  close_part(user);
  free(user);
}

/* Records that the part's file cannot be read. */
static size_t part_failed(const part_data *part, int error) {
  part->easy->part_failure = (shim_part_failure){part->number, error};
  return CURL_READFUNC_ABORT;
}

/* Opens the part's file. Returns 0 or an error: every attempt must send the same bytes, whose length is already
 * known. */
static int open_part(part_data *part) {
  part->descriptor = shim_file_open(part->path);
  if (part->descriptor < 0) return -part->descriptor;
  shim_file_state state;
  const bool is_same = shim_file_get_state(part->descriptor, &state) && state.length == part->length &&
                       (!part->was_sent || shim_file_is_same_state(&state, &part->state));
  if (!is_same) {
    close_part(part);
    return SHIM_FILE_CHANGED;
  }
  part->state = state;
  part->was_sent = true;
  return 0;
}

bool shim_easy_check_parts(shim_easy *easy) {
  for (part_data *part = easy->file_parts; part; part = part->next) {
    close_part(part);
    const int error = open_part(part);
    close_part(part);
    if (error == 0) continue;
    part_failed(part, error);
    return false;
  }
  return true;
}

static size_t on_read_part(char *buffer, size_t size, size_t count, void *user) {
  part_data *part = user;
  const int64_t left = part->length - part->position, room = (int64_t)(size * count);
  int64_t taken = left < room ? left : room;
  if (taken <= 0) return 0;
  if (part->data) {
    memcpy(buffer, part->data + part->position, (size_t)taken);
  } else {
    const int error = part->descriptor < 0 ? open_part(part) : 0;
    if (error != 0) return part_failed(part, error);
    taken = shim_file_read(part->descriptor, buffer, (size_t)taken, part->position);
    /* If the file has become shorter, the server would wait for the rest. */
    if (taken <= 0) return part_failed(part, (int)-taken);
  }
  part->position += taken;
  if (part->position == part->length) close_part(part);
  return (size_t)taken;
}

static int on_seek_part(void *user, curl_off_t offset, int origin) {
  part_data *part = user;
  if (origin != SEEK_SET || offset < 0 || offset > part->length) return CURL_SEEKFUNC_FAIL;
  part->position = offset;
  return CURL_SEEKFUNC_OK;
}

/* Creates the data of a part. NULL: out of memory. If its file cannot be read, its descriptor is a negated error. */
static part_data *make_part_data(shim_easy *easy, const shim_part *part) {
  const size_t path_size = part->path ? strlen(part->path) + 1 : 0;
  part_data *data = malloc(sizeof *data + path_size);
  if (!data) return NULL;
  *data = (part_data){
      .easy = easy,
      .number = easy->part_count,
      .data = part->data ? part->data : "",
      .length = (int64_t)part->data_length,
      .descriptor = -1,
  };
  if (!part->path) return data;
  memcpy(data->path, part->path, path_size);
  data->data = NULL;
  data->length = -1;
  data->descriptor = shim_file_open(part->path);
  if (data->descriptor < 0) return data;
  data->length = shim_file_length(data->descriptor);
  close_part(data);
  return data;
}

int shim_easy_add_part(shim_easy *easy, const shim_part *part) {
  if (!easy->mime) easy->mime = curl_mime_init(easy->curl);
  curl_mimepart *added = easy->mime ? curl_mime_addpart(easy->mime) : NULL;
  part_data *data = added ? make_part_data(easy, part) : NULL;
  const bool is_unreadable = data && !data->data && data->length < 0;
  if (!data || is_unreadable) {
    curl_slist_free_all(part->headers);
    if (is_unreadable) part_failed(data, -data->descriptor);
    free(data);
    return is_unreadable ? SHIM_PART_UNREADABLE : SHIM_PART_NO_MEMORY;
  }
  easy->part_count++;
  if (!data->data) {
    data->next = easy->file_parts;
    easy->file_parts = data;
  }
  const char *slash = part->path ? strrchr(part->path, '/') : NULL;
  const char *file_name = part->file_name ? part->file_name : slash ? slash + 1 : part->path;
  bool ok = curl_mime_headers(added, part->headers, 1) == CURLE_OK;
  ok = curl_mime_name(added, part->name) == CURLE_OK && ok;
  ok = curl_mime_data_cb(added, data->length, on_read_part, on_seek_part, free_part, data) == CURLE_OK && ok;
  if (file_name) ok = curl_mime_filename(added, file_name) == CURLE_OK && ok;
  if (part->content_type) ok = curl_mime_type(added, part->content_type) == CURLE_OK && ok;
  return ok ? SHIM_PART_ADDED : SHIM_PART_NO_MEMORY;
}

shim_part_failure shim_easy_part_failure(const shim_easy *easy) {
  return easy->part_failure;
}
