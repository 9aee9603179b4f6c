/* boxretry fetch: the source of the request's body. */
#define _POSIX_C_SOURCE 200809L

#include "fetch_transfer.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A seekable file can be sent again; anything else only once, in chunks. On failure returns false and sets errno. */
static bool take_upload(fetch_source *it, const char *path) {
  int descriptor = STDIN_FILENO;
  struct stat status;
  if (strcmp(path, "-") != 0) descriptor = it->descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
  if (descriptor < 0 || fstat(descriptor, &status) != 0) return false;
  if (S_ISDIR(status.st_mode)) {
    errno = EISDIR;
    return false;
  }
  if (S_ISREG(status.st_mode)) {
    it->source.kind = BOXRETRY_SOURCE_DESCRIPTOR;
    it->source.descriptor = descriptor;
    it->source.offset = lseek(descriptor, 0, SEEK_CUR); /* part of stdin may already have been read */
    return it->source.offset >= 0;
  }
  it->source.kind = BOXRETRY_SOURCE_CALLBACK;
  it->source.read = stream_read;
  it->source.context = &it->stream;
  return stream_begin_reading(&it->stream, descriptor);
}

int fetch_source_begin(fetch_source *it, const fetch_query *query, boxretry_request *request) {
  *it = (fetch_source){.source = BOXRETRY_BODY_SOURCE_INIT, .descriptor = -1};
  if (query->upload) {
    if (!take_upload(it, query->upload)) {
      char buffer[QUOTED_SIZE];
      return usage_error(&fetch_command, "--upload-file: '%s' cannot be read: %s", quoted(buffer, query->upload),
                         strerror(errno));
    }
    request->body_source = &it->source;
  } else if (query->form.count > 0) {
    it->source.kind = BOXRETRY_SOURCE_MULTIPART;
    it->source.parts = query->form.parts;
    it->source.part_count = query->form.count;
    request->body_source = &it->source;
  } else if (!query->data_goes_into_url) {
    request->body = query->data.bytes;
    request->body_length = query->data.length;
  }
  request->body_is_borrowed = 1;
  return TOOL_GO_ON;
}

void fetch_source_end(fetch_source *it) {
  stream_abandon(&it->stream);
  if (it->descriptor >= 0) close(it->descriptor);
}
