/* The body of a request, as the option -d gives it. */
#ifndef BOXRETRY_TOOL_REQUEST_DATA_H
#define BOXRETRY_TOOL_REQUEST_DATA_H

#include <stdbool.h>
#include <stddef.h>

typedef struct request_data {
  char *bytes;
  size_t length;
  bool is_given; /* also if it is empty */
} request_data;

/**
 * Adds DATA, or for '@FILE' what is in the file ('@-': in stdin), byte by byte as it is. Further data comes after a '&',
 * as in a form. False: errno says why, and nothing may be sent.
 */
bool request_data_add(request_data *data, const char *value);

/**
 * Adds DATA as curl's --data-urlencode takes it: 'content', '=content', 'name=content', '@FILE' or 'name@FILE'. The content is
 * percent-encoded, a space as '+'; the name is taken as it is. False: errno says why.
 */
bool request_data_add_encoded(request_data *data, const char *value);

/** Adds text unchanged. False: errno. */
bool request_data_add_text(request_data *data, const char *text);

/** Adds what is in a file ('-': in stdin), and nothing else. False: errno. */
bool request_data_add_file(request_data *data, const char *path);

void request_data_free(request_data *data);

#endif
