/* boxretry fetch: the URL of a call, and the file name in it. */
#define _POSIX_C_SOURCE 200809L

#include "fetch.h"

#include <stdlib.h>
#include <string.h>

/* The URL with "?query" or "&query" added before the fragment. NULL: out of memory. */
static char *with_query(const char *url, const char *query, size_t length) {
  const size_t head = strcspn(url, "#");
  const bool has_query = memchr(url, '?', head) != NULL;
  char *made = malloc(strlen(url) + length + 2);
  if (!made) return NULL;
  memcpy(made, url, head);
  size_t used = head;
  if (length > 0) {
    const bool is_open = head > 0 && (url[head - 1] == '?' || url[head - 1] == '&');
    if (!is_open) made[used++] = has_query ? '&' : '?';
    memcpy(made + used, query, length);
    used += length;
  }
  strcpy(made + used, url + head);
  return made;
}

/* Adds the query of --get and --url-query. Returns false if out of memory. */
static bool add_queries(fetch_job *job) {
  const request_data *const queries[] = {&job->query->data, &job->query->url_query};
  for (size_t i = job->query->data_goes_into_url ? 0 : 1; i < 2; i++) {
    if (*job->url == '\0' || queries[i]->length == 0) continue;
    char *url = with_query(job->url, queries[i]->bytes, queries[i]->length);
    if (!url) return false;
    free(job->url);
    job->url = url;
  }
  return true;
}

/* The last part of a URL's path; empty if it cannot be a file name. NULL: out of memory. */
static char *name_in(const char *url) {
  const char *path = strstr(url, "://");
  path = path ? path + 3 : url;
  size_t length = strcspn(path, "?#");
  const char *name = path + length;
  while (name > path && name[-1] != '/')
    name--;
  if (name == path) return strdup(""); /* the URL has no path */
  length -= (size_t)(name - path);
  if (strncmp(name, "..", length) == 0 && length <= 2) length = 0; /* "", "." and ".." */
  return strndup(name, length);
}

static int take_output(fetch_job *job) {
  const text_list *outputs = &job->query->outputs;
  const char *output = job->number <= outputs->count ? outputs->items[job->number - 1] : "-";
  if (output && strcmp(output, "-") == 0) return TOOL_GO_ON;
  job->output = output ? strdup(output) : name_in(job->url_given);
  if (!job->output) return library_error(&fetch_command, BOXRETRY_ERROR_OUT_OF_MEMORY);
  if (output || *job->output) return TOOL_GO_ON;
  char buffer[QUOTED_SIZE];
  return usage_error(&fetch_command, "--remote-name: the URL '%s' has no file name",
                     public_part(buffer, job->url_given));
}

int fetch_job_init(fetch_job *job, const fetch_query *query, size_t number) {
  *job = (fetch_job){.query = query, .number = number, .url_given = query->urls.items[number - 1]};
  job->url = strdup(job->url_given);
  if (!job->url || !add_queries(job)) return library_error(&fetch_command, BOXRETRY_ERROR_OUT_OF_MEMORY);
  return take_output(job);
}

void fetch_job_free(fetch_job *job) {
  boxretry_response_free(job->result.response);
  free(job->result.detail);
  free(job->output);
  free(job->url);
}
