/* boxretry fetch: the destination of the response's body. */
#define _POSIX_C_SOURCE 200809L

#include "fetch_transfer.h"
#include "output_file.h"

#include <sys/stat.h>
#include <unistd.h>

/* --- To stdout, or to a file that is not regular --- */

static void write_on(void *context, boxretry_call *call, const void *data, size_t length, int32_t *answer) {
  fetch_sink *it = context;
  if (it->progress) fetch_make_way_for_body(it->progress);
  stream_write(&it->stream, call, data, length, answer);
  if (*answer == BOXRETRY_WRITE_TAKEN && length > 0) it->last_byte = ((const char *)data)[length - 1];
}

/* --- Discard the body: --json only prints its length --- */

static void drop(void *context, boxretry_call *call, const void *data, size_t length, int32_t *answer) {
  (void)context, (void)call, (void)data, (void)length;
  *answer = BOXRETRY_WRITE_TAKEN;
}

static void drop_again(void *context, int32_t *done) {
  (void)context;
  *done = 1;
}

/* Whether both descriptors lead to the same terminal or file. */
static bool is_same_place(int one, int other) {
  struct stat first, second;
  return fstat(one, &first) == 0 && fstat(other, &second) == 0 && first.st_dev == second.st_dev &&
         first.st_ino == second.st_ino;
}

bool fetch_sink_begin(fetch_sink *it, const fetch_job *job, fetch_progress *progress, boxretry_request *request) {
  const fetch_query *query = job->query;
  *it = (fetch_sink){.sink = BOXRETRY_SINK_INIT, .last_byte = '\n'};
  it->sink.context = it;
  it->sink.kind = BOXRETRY_SINK_CALLBACK;
  request->sink = &it->sink;
  if (job->output && output_file_is_ordinary(job->output)) {
    it->sink.kind = BOXRETRY_SINK_FILE;
    it->sink.path = job->output;
    it->sink.is_resumable = query->is_resumable;
    return true;
  }
  if (job->output) {
    it->sink.write = write_on;
    return stream_begin_writing(&it->stream, -1, job->output);
  }
  if (query->as_json) {
    it->sink.write = drop;
    it->sink.restart = drop_again;
    return true;
  }
  /* Into memory until the call has ended: the head, which comes first, is known only then; and the bodies of parallel
   * calls must not be mixed. */
  if (query->with_head || query->is_parallel) {
    request->sink = NULL;
    return true;
  }
  it->sink.write = write_on;
  if (is_same_place(STDOUT_FILENO, STDERR_FILENO)) it->progress = progress;
  return stream_begin_writing(&it->stream, STDOUT_FILENO, NULL);
}

void fetch_sink_end(fetch_sink *it, fetch_job *job) {
  fetch_result *result = &job->result;
  const boxretry_response *response = result->response;
  const bool is_written = result->error == BOXRETRY_OK || boxretry_response_sink_length(response) > 0;
  /* The call was over before Ctrl-C, but the reader of the output may never read the rest. */
  if (it->stream.is_running && result->error == BOXRETRY_OK && result->signal_number != 0) {
    result->error = BOXRETRY_ERROR_CANCELLED;
  }
  const bool is_awaited = is_written && result->error != BOXRETRY_ERROR_CANCELLED;
  const int why = is_awaited ? stream_finish(&it->stream) : stream_abandon(&it->stream);
  if (job->output) {
    if (why != 0) {
      result->output_errno = why;
      result->error = BOXRETRY_ERROR_SINK;
    }
  } else {
    result->stdout_errno = why;
  }
  if (it->progress) fetch_show_held(it->progress, it->last_byte == '\n');
}
