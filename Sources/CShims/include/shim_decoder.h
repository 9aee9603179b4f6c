/* Unpacks the content codings of a response, and knows whether each of them has come to its end (W4).
 *
 * libcurl can unpack too, but takes a stream that stops early for a whole one, and fails at the second member of a gzip
 * stream. So it hands over the bytes as they came, and this file works with the libraries that libcurl itself has loaded. */
#ifndef BOXRETRY_DECODER_H
#define BOXRETRY_DECODER_H

#include <stdbool.h>
#include <stddef.h>

/* The value of Accept-Encoding: what can be unpacked in this process. NULL: nothing. Static. */
const char *shim_decoder_codings(void);

typedef struct shim_decoder shim_decoder;

enum {
  SHIM_DECODED,        /* there is a piece */
  SHIM_DECODER_HUNGRY, /* all that was fed has been unpacked */
  SHIM_DECODER_BAD,    /* the bytes are not what the coding's name says, or the name is unknown */
  SHIM_DECODER_NO_MEMORY
};

/* Adds the codings of a Content-Encoding line to those of the lines before; *decoder is NULL before the first one, and
 * stays NULL if nothing is to be unpacked. False: out of memory. */
bool shim_decoder_add(shim_decoder **decoder, const char *value, size_t length);
void shim_decoder_free(shim_decoder *decoder); /* NULL is accepted */

/* Gives it bytes as they came, which have to stay until it is hungry, or until shim_decoder_hold. */
void shim_decoder_feed(shim_decoder *decoder, const void *data, size_t length);

/* The next piece of what was fed, valid until the next call. SHIM_DECODE… */
int shim_decoder_next(shim_decoder *decoder, const char **piece, size_t *length);

/* Nobody took the last piece: it is the next one again, once the very bytes that were fed last have been fed again. */
void shim_decoder_hold(shim_decoder *decoder);

/* Each coding has come to its end, and there is nothing behind it. */
bool shim_decoder_is_whole(const shim_decoder *decoder);

#endif
