/* Decodes the content codings of a response, and detects whether each of them is complete (W4).
 *
 * libcurl can decode too, but accepts truncated streams, and fails at the second member of a gzip stream. So libcurl
 * passes on the encoded bytes, and this file decodes them with the libraries that libcurl itself has loaded. */
#ifndef BOXRETRY_DECODER_H
#define BOXRETRY_DECODER_H

#include <stdbool.h>
#include <stddef.h>

/* The value of Accept-Encoding: the codings that can be decoded in this process. NULL: none. Static. */
const char *shim_decoder_codings(void);

typedef struct shim_decoder shim_decoder;

enum {
  SHIM_DECODED,        /* a piece was decoded */
  SHIM_DECODER_HUNGRY, /* everything that was fed has been decoded */
  SHIM_DECODER_BAD,    /* the bytes are not valid in this coding, or the coding is unknown */
  SHIM_DECODER_NO_MEMORY
};

/* Adds the codings of a Content-Encoding line to those of earlier lines; *decoder is NULL before the first line, and
 * stays NULL if nothing has to be decoded. False: out of memory. */
bool shim_decoder_add(shim_decoder **decoder, const char *value, size_t length);
void shim_decoder_free(shim_decoder *decoder); /* NULL is accepted */

/* Feeds it encoded bytes, which must stay valid until it is hungry or until shim_decoder_hold. */
void shim_decoder_feed(shim_decoder *decoder, const void *data, size_t length);

/* Gets the next decoded piece, valid until the next call. Returns SHIM_DECODE…. */
int shim_decoder_next(shim_decoder *decoder, const char **piece, size_t *length);

/* The last piece was not used: returns it again after the same bytes have been fed again. */
void shim_decoder_hold(shim_decoder *decoder);

/* Whether each coding is complete and nothing follows it. */
bool shim_decoder_is_whole(const shim_decoder *decoder);

#endif
