/* The body of a request, from the option -d. */
#ifndef BOXRETRY_TOOL_REQUEST_DATA_H
#define BOXRETRY_TOOL_REQUEST_DATA_H

#include <stdbool.h>
#include <stddef.h>

typedef struct request_data {
  char *bytes;
  size_t length;
  bool is_given; /* also true for empty data */
} request_data;

/**
 * Adds DATA or, for '@FILE', the contents of the file ('@-': of stdin), unchanged. Repeated data is joined with '&', as
 * in a form. On failure returns false and sets errno, and nothing may be sent.
 */
bool request_data_add(request_data *data, const char *value);

/**
 * Adds DATA in the format of curl's --data-urlencode: 'content', '=content', 'name=content', '@FILE' or 'name@FILE'.
 * The content is percent-encoded, with a space as '+'; the name is used as it is. On failure returns false and sets
 * errno.
 */
bool request_data_add_encoded(request_data *data, const char *value);

/** Adds text unchanged. On failure returns false and sets errno. */
bool request_data_add_text(request_data *data, const char *text);

/** Adds only the contents of a file ('-': of stdin). On failure returns false and sets errno. */
bool request_data_add_file(request_data *data, const char *path);

void request_data_free(request_data *data);

#endif
