/* Where a URL leads. */
#ifndef BOXRETRY_ORIGIN_H
#define BOXRETRY_ORIGIN_H

#include <stdbool.h>

/* Whether what is sent there is not read on the way: by https, or to this very machine (T12, T13). */
bool shim_url_is_confidential(const char *url);

#endif
