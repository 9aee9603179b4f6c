/* The format of -w: text with variables, as in curl. */
#define _POSIX_C_SOURCE 200809L

#include "write_out.h"

#include <stdlib.h>
#include <string.h>

/* The values of the variables. */
typedef struct outcome {
  const fetch_job *job;
  const boxretry_response *response;
  boxretry_attempt last; /* all zeros and defaults if there was no attempt */
  int exit_code;
  FILE *stream;
} outcome;

typedef void (*writer)(outcome *it);

static void write_attempts(outcome *it) {
  fprintf(it->stream, "%zu", boxretry_response_attempt_count(it->response));
}

static void write_retries(outcome *it) {
  const size_t count = boxretry_response_attempt_count(it->response);
  fprintf(it->stream, "%zu", count > 0 ? count - 1 : 0);
}

static void write_content_type(outcome *it) {
  const char *type = boxretry_response_header(it->response, "Content-Type");
  if (type) fputs(type, it->stream);
}

static void write_error(outcome *it) {
  if (it->exit_code != TOOL_OK) fetch_print_failure(it->stream, &it->job->result);
}

static void write_exit_code(outcome *it) {
  fprintf(it->stream, "%d", it->exit_code);
}

static void write_file_name(outcome *it) {
  if (it->job->output) fputs(it->job->output, it->stream);
}

static void write_status(outcome *it) {
  fprintf(it->stream, "%03ld", (long)boxretry_response_status(it->response));
}

static void write_http_version(outcome *it) {
  const int32_t version = it->last.http_version;
  fputs(version == 10 ? "1.0" : version == 11 ? "1.1" : version == 20 ? "2" : "0", it->stream);
}

static void write_method(outcome *it) {
  fputs(it->job->query->method ? it->job->query->method : "GET", it->stream);
}

static void write_header_count(outcome *it) {
  fprintf(it->stream, "%zu", boxretry_response_header_count(it->response));
}

static void write_redirects(outcome *it) {
  fprintf(it->stream, "%ld", (long)it->last.redirects);
}

static void write_received(outcome *it) {
  fprintf(it->stream, "%lld", (long long)it->last.bytes_received);
}

static void write_sent(outcome *it) {
  fprintf(it->stream, "%lld", (long long)it->last.bytes_sent);
}

static void write_speed(outcome *it, int64_t bytes) {
  const double seconds = (it->last.ended_ms - it->last.started_ms) / 1000;
  fprintf(it->stream, "%.0f", seconds > 0 ? (double)bytes / seconds : 0.0);
}

static void write_receive_speed(outcome *it) {
  write_speed(it, it->last.bytes_received);
}

static void write_send_speed(outcome *it) {
  write_speed(it, it->last.bytes_sent);
}

static void write_milliseconds(outcome *it, double milliseconds) {
  fprintf(it->stream, "%.6f", milliseconds > 0 ? milliseconds / 1000 : 0.0);
}

static void write_lookup(outcome *it) {
  write_milliseconds(it, it->last.lookup_ms);
}

static void write_connect(outcome *it) {
  write_milliseconds(it, it->last.connect_ms);
}

static void write_tls(outcome *it) {
  write_milliseconds(it, it->last.tls_ms);
}

static void write_first_byte(outcome *it) {
  write_milliseconds(it, it->last.first_byte_ms);
}

static void write_total(outcome *it) {
  fprintf(it->stream, "%.6f", it->job->result.seconds);
}

static void write_url(outcome *it) {
  fputs(it->job->url_given, it->stream);
}

static void write_effective_url(outcome *it) {
  const char *url = boxretry_response_url(it->response);
  fputs(url ? url : it->job->url, it->stream);
}

static void write_number(outcome *it) {
  fprintf(it->stream, "%zu", it->job->number - 1);
}

static void write_to_stderr(outcome *it) {
  it->stream = stderr;
}

static void write_to_stdout(outcome *it) {
  it->stream = stdout;
}

static const struct {
  const char *name;
  writer write;
} variables[] = {
    {"attempts", write_attempts},
    {"content_type", write_content_type},
    {"errormsg", write_error},
    {"exitcode", write_exit_code},
    {"filename_effective", write_file_name},
    {"http_code", write_status},
    {"http_version", write_http_version},
    {"method", write_method},
    {"num_headers", write_header_count},
    {"num_redirects", write_redirects},
    {"num_retries", write_retries},
    {"response_code", write_status},
    {"retries", write_retries},
    {"size_download", write_received},
    {"size_upload", write_sent},
    {"speed_download", write_receive_speed},
    {"speed_upload", write_send_speed},
    {"stderr", write_to_stderr},
    {"stdout", write_to_stdout},
    {"time_appconnect", write_tls},
    {"time_connect", write_connect},
    {"time_namelookup", write_lookup},
    {"time_starttransfer", write_first_byte},
    {"time_total", write_total},
    {"url", write_url},
    {"url_effective", write_effective_url},
    {"urlnum", write_number},
};

static const char header_begin[] = "header{", only_error[] = "onerror";

/* Whether a variable has this name, which is `length` bytes long. */
static bool is(const char *name, const char *text, size_t length) {
  return strlen(name) == length && strncmp(name, text, length) == 0;
}

/* Finds the variable with this name. NULL: there is none. */
static writer find(const char *name, size_t length) {
  for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
    if (is(variables[i].name, name, length)) return variables[i].write;
  }
  return NULL;
}

/* Parses "%{name}" or "%header{name}" at `text`: returns the length of the name, and where it ends. 0: neither of
 * them. */
static size_t name_at(const char *text, const char **name, bool *is_header, const char **end) {
  *is_header = strncmp(text + 1, header_begin, sizeof header_begin - 1) == 0;
  if (!*is_header && text[1] != '{') return 0;
  *name = text + (*is_header ? sizeof header_begin : 2);
  const char *brace = strchr(*name, '}');
  if (!brace) return 0;
  *end = brace + 1;
  return (size_t)(brace - *name);
}

int write_out_check(const tool_command *command, const char *format) {
  char buffer[QUOTED_SIZE];
  const char *name, *end;
  bool is_header;
  for (const char *text = strchr(format, '%'); text; text = strchr(end, '%')) {
    end = text + (text[1] == '%' ? 2 : 1);
    const size_t length = text[1] == '%' ? 0 : name_at(text, &name, &is_header, &end);
    if (length == 0 || is_header || find(name, length) || is(only_error, name, length)) continue;
    char *copy = strndup(name, length);
    int exit_code = usage_error(command, "--write-out: unknown variable '%s'", quoted(buffer, copy ? copy : ""));
    free(copy);
    return exit_code;
  }
  return TOOL_GO_ON;
}

static void write_header(outcome *it, const char *name, size_t length) {
  char *copy = strndup(name, length);
  const char *value = copy ? boxretry_response_header(it->response, copy) : NULL;
  if (value) fputs(value, it->stream);
  free(copy);
}

/* Writes an escape or a variable, and returns where it ends. NULL: the rest must not be written. */
static const char *write_special(outcome *it, const char *text) {
  static const char escapes[] = "n\nr\rt\t";
  const char *name, *end;
  bool is_header;
  if (*text == '\\') {
    for (const char *escape = escapes; *escape; escape += 2) {
      if (text[1] != *escape) continue;
      fputc(escape[1], it->stream);
      return text + 2;
    }
  } else if (text[1] == '%') {
    fputc('%', it->stream);
    return text + 2;
  } else {
    const size_t length = name_at(text, &name, &is_header, &end);
    if (length > 0 && is_header) {
      write_header(it, name, length);
      return end;
    }
    if (length > 0 && is(only_error, name, length)) return it->exit_code == TOOL_OK ? NULL : end;
    const writer write = length > 0 ? find(name, length) : NULL;
    if (write) write(it);
    if (write) return end;
  }
  fputc(*text, it->stream);
  return text + 1;
}

void write_out(const char *format, const fetch_job *job, int exit_code) {
  outcome it = {.job = job, .response = job->result.response, .exit_code = exit_code, .stream = stdout};
  it.last = (boxretry_attempt)BOXRETRY_ATTEMPT_INIT;
  fetch_last_attempt(it.response, &it.last);
  while (format && *format) {
    const size_t plain = strcspn(format, "\\%");
    fwrite(format, 1, plain, it.stream);
    format += plain;
    if (*format) format = write_special(&it, format);
  }
}
