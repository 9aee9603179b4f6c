#include "shim_decoder.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* --- Functions of the libraries that libcurl has loaded. A weak symbol without a definition is NULL. --- */

#define OPTIONAL __attribute__((weak))

/* z_stream of zlib.h, whose layout is part of zlib's binary interface. */
typedef struct zlib_stream {
  const unsigned char *next_in;
  unsigned avail_in;
  unsigned long total_in;
  unsigned char *next_out;
  unsigned avail_out;
  unsigned long total_out;
  const char *message;
  void *state, *allocate, *release, *opaque;
  int data_type;
  unsigned long adler, reserved;
} zlib_stream;

OPTIONAL int inflateInit2_(zlib_stream *stream, int window_bits, const char *version, int stream_size);
OPTIONAL int inflate(zlib_stream *stream, int flush);
OPTIONAL int inflateReset(zlib_stream *stream);
OPTIONAL int inflateEnd(zlib_stream *stream);

enum { ZLIB_OK = 0, ZLIB_STREAM_END = 1, ZLIB_MEM_ERROR = -4, ZLIB_BUF_ERROR = -5 };
enum { ZLIB_RAW = -15, ZLIB_ZLIB = 15, ZLIB_GZIP = 15 + 16 }; /* window bits and format */

OPTIONAL void *BrotliDecoderCreateInstance(void *allocate, void *release, void *opaque);
OPTIONAL void BrotliDecoderDestroyInstance(void *state);
OPTIONAL int BrotliDecoderDecompressStream(void *state, size_t *available_in, const uint8_t **next_in,
                                           size_t *available_out, uint8_t **next_out, size_t *total_out);
OPTIONAL int BrotliDecoderGetErrorCode(const void *state);

enum { BROTLI_ERROR = 0, BROTLI_SUCCESS = 1 };
enum { BROTLI_FIRST_ALLOCATION_ERROR = -30, BROTLI_LAST_ALLOCATION_ERROR = -21 };

typedef struct zstd_buffer {
  const void *start;
  size_t size, position;
} zstd_buffer;

OPTIONAL void *ZSTD_createDStream(void);
OPTIONAL size_t ZSTD_freeDStream(void *stream);
OPTIONAL size_t ZSTD_decompressStream(void *stream, zstd_buffer *out, zstd_buffer *in);
OPTIONAL size_t ZSTD_DCtx_setParameter(void *stream, int parameter, int value);
OPTIONAL unsigned ZSTD_isError(size_t result);
OPTIONAL int ZSTD_getErrorCode(size_t result);

enum { ZSTD_WINDOW_LOG_MAX = 100, ZSTD_LARGEST_WINDOW_LOG = 23 /* RFC 9659 */, ZSTD_NO_MEMORY = 64 };

static bool has_zlib(void) {
  return inflateInit2_ && inflate && inflateReset && inflateEnd;
}

static bool has_brotli(void) {
  return BrotliDecoderCreateInstance && BrotliDecoderDestroyInstance && BrotliDecoderDecompressStream &&
         BrotliDecoderGetErrorCode;
}

static bool has_zstd(void) {
  return ZSTD_createDStream && ZSTD_freeDStream && ZSTD_decompressStream && ZSTD_DCtx_setParameter && ZSTD_isError &&
         ZSTD_getErrorCode;
}

const char *shim_decoder_codings(void) {
  static const char *const codings[] = {NULL,   "gzip, deflate",       "br",       "gzip, deflate, br",
                                        "zstd", "gzip, deflate, zstd", "br, zstd", "gzip, deflate, br, zstd"};
  return codings[has_zlib() + 2 * has_brotli() + 4 * has_zstd()];
}

/* --- One coding --- */

enum { LARGEST_PIECE = 16384, MOST_CODINGS = 4 };
typedef enum coding { CODING_GZIP, CODING_DEFLATE, CODING_BROTLI, CODING_ZSTD, CODING_UNKNOWN } coding;

typedef struct layer {
  coding coding;
  bool is_set_up;
  bool is_at_end; /* of the stream */
  bool has_more;  /* there may be output without input */
  bool has_first; /* of DEFLATE: one byte is stored; two are needed to detect the format */
  unsigned char first;
  struct layer *source; /* the layer whose output is decoded here; NULL: the input that was fed */
  const unsigned char *input;
  size_t available;
  union {
    zlib_stream zlib;
    void *other;
  } codec;
  unsigned char output[LARGEST_PIECE];
} layer;

static bool set_up_zlib(layer *it, int window_bits) {
  it->codec.zlib = (zlib_stream){0};
  it->is_set_up = inflateInit2_(&it->codec.zlib, window_bits, "1", (int)sizeof it->codec.zlib) == ZLIB_OK;
  return it->is_set_up;
}

static int unpack_zlib(layer *it, const unsigned char *input, size_t available, size_t *left, size_t *made) {
  zlib_stream *zlib = &it->codec.zlib;
  if (it->is_at_end) {
    if (it->coding != CODING_GZIP || inflateReset(zlib) != ZLIB_OK) return SHIM_DECODER_BAD;
    it->is_at_end = false; /* another member follows (RFC 1952, 2.2) */
  }
  zlib->next_in = input;
  zlib->avail_in = (unsigned)available;
  zlib->next_out = it->output + *made;
  zlib->avail_out = (unsigned)(sizeof it->output - *made);
  const int result = inflate(zlib, 0);
  *left = zlib->avail_in;
  *made = sizeof it->output - zlib->avail_out;
  it->is_at_end = result == ZLIB_STREAM_END;
  if (result == ZLIB_MEM_ERROR) return SHIM_DECODER_NO_MEMORY;
  return result == ZLIB_OK || result == ZLIB_STREAM_END || result == ZLIB_BUF_ERROR ? SHIM_DECODED : SHIM_DECODER_BAD;
}

static int unpack_gzip(layer *it, size_t *left, size_t *made) {
  if (!it->is_set_up && !set_up_zlib(it, ZLIB_GZIP)) return SHIM_DECODER_NO_MEMORY;
  return unpack_zlib(it, it->input, it->available, left, made);
}

/* "deflate" means zlib's format (RFC 9110, 8.4.1.2), but some servers send raw DEFLATE. */
static int unpack_deflate(layer *it, size_t *left, size_t *made) {
  if (it->is_set_up) return unpack_zlib(it, it->input, it->available, left, made);
  if (!it->has_first) {
    it->has_first = true;
    it->first = *it->input;
    *left = it->available - 1;
    return SHIM_DECODED;
  }
  const bool is_zlib = (it->first & 0x8f) == 8 && (it->first << 8 | *it->input) % 31 == 0;
  if (!set_up_zlib(it, is_zlib ? ZLIB_ZLIB : ZLIB_RAW)) return SHIM_DECODER_NO_MEMORY;
  const int result = unpack_zlib(it, &it->first, 1, left, made);
  if (result != SHIM_DECODED || it->is_at_end) {
    *left = it->available;
    return result;
  }
  return unpack_zlib(it, it->input, it->available, left, made);
}

static int unpack_brotli(layer *it, size_t *left, size_t *made) {
  if (!it->is_set_up) it->is_set_up = (it->codec.other = BrotliDecoderCreateInstance(NULL, NULL, NULL)) != NULL;
  if (!it->is_set_up) return SHIM_DECODER_NO_MEMORY;
  if (it->is_at_end) return SHIM_DECODER_BAD;
  const uint8_t *next_in = it->input;
  uint8_t *next_out = it->output;
  size_t room = sizeof it->output;
  const int result = BrotliDecoderDecompressStream(it->codec.other, left, &next_in, &room, &next_out, NULL);
  *made = sizeof it->output - room;
  it->is_at_end = result == BROTLI_SUCCESS;
  if (result != BROTLI_ERROR) return SHIM_DECODED;
  const int error = BrotliDecoderGetErrorCode(it->codec.other);
  const bool is_memory = error >= BROTLI_FIRST_ALLOCATION_ERROR && error <= BROTLI_LAST_ALLOCATION_ERROR;
  return is_memory ? SHIM_DECODER_NO_MEMORY : SHIM_DECODER_BAD;
}

static int unpack_zstd(layer *it, size_t *left, size_t *made) {
  if (!it->is_set_up) {
    it->is_set_up = (it->codec.other = ZSTD_createDStream()) != NULL;
    if (!it->is_set_up) return SHIM_DECODER_NO_MEMORY;
    ZSTD_DCtx_setParameter(it->codec.other, ZSTD_WINDOW_LOG_MAX, ZSTD_LARGEST_WINDOW_LOG);
  }
  zstd_buffer out = {it->output, sizeof it->output, 0}, in = {it->input, it->available, 0};
  const size_t result = ZSTD_decompressStream(it->codec.other, &out, &in);
  *left = in.size - in.position;
  *made = out.position;
  if (ZSTD_isError(result))
    return ZSTD_getErrorCode(result) == ZSTD_NO_MEMORY ? SHIM_DECODER_NO_MEMORY : SHIM_DECODER_BAD;
  it->is_at_end = result == 0;
  return SHIM_DECODED;
}

static int unpack(layer *it, size_t *made) {
  size_t left = it->available;
  int result = SHIM_DECODER_BAD;
  switch (it->coding) {
  case CODING_GZIP:
    result = unpack_gzip(it, &left, made);
    break;
  case CODING_DEFLATE:
    result = unpack_deflate(it, &left, made);
    break;
  case CODING_BROTLI:
    result = unpack_brotli(it, &left, made);
    break;
  case CODING_ZSTD:
    result = unpack_zstd(it, &left, made);
    break;
  case CODING_UNKNOWN:
    break;
  }
  const size_t taken = it->available - left;
  if (result == SHIM_DECODED && taken == 0 && *made == 0 && left > 0) result = SHIM_DECODER_BAD;
  it->input += taken;
  it->available = left;
  it->has_more = *made == sizeof it->output && !it->is_at_end;
  return result;
}

/* Gets the next piece of a layer's output, from as many pieces of its source as needed. */
static int pull(layer *it, const unsigned char **piece, size_t *length) {
  for (;;) {
    if (it->available > 0 || it->has_more) {
      *length = 0;
      const int result = unpack(it, length);
      if (result != SHIM_DECODED) return result;
      *piece = it->output;
      if (*length > 0) return SHIM_DECODED;
    } else if (it->source) {
      size_t available;
      const int result = pull(it->source, &it->input, &available);
      if (result != SHIM_DECODED) return result;
      it->available = available;
    } else {
      return SHIM_DECODER_HUNGRY;
    }
  }
}

static void free_layers(layer *it) {
  while (it) {
    layer *source = it->source;
    if (it->is_set_up) {
      if (it->coding == CODING_BROTLI)
        BrotliDecoderDestroyInstance(it->codec.other);
      else if (it->coding == CODING_ZSTD)
        ZSTD_freeDStream(it->codec.other);
      else
        inflateEnd(&it->codec.zlib);
    }
    free(it);
    it = source;
  }
}

/* --- All codings of a body --- */

struct shim_decoder {
  layer *last;  /* its output is the body */
  layer *first; /* decodes the input that was fed */
  int count;
  size_t fed;
  size_t skip; /* bytes to skip of input that is fed again */
  const unsigned char *piece;
  size_t length;
  bool is_held;
};

static bool is(const char *name, const char *text, size_t length) {
  return strlen(name) == length && strncasecmp(name, text, length) == 0;
}

static coding coding_of(const char *name, size_t length) {
  if (has_zlib() && (is("gzip", name, length) || is("x-gzip", name, length))) return CODING_GZIP;
  if (has_zlib() && is("deflate", name, length)) return CODING_DEFLATE;
  if (has_brotli() && is("br", name, length)) return CODING_BROTLI;
  if (has_zstd() && is("zstd", name, length)) return CODING_ZSTD;
  return CODING_UNKNOWN;
}

static bool add(shim_decoder **decoder, coding coding) {
  if (!*decoder) *decoder = calloc(1, sizeof **decoder);
  layer *added = *decoder ? calloc(1, sizeof *added) : NULL;
  if (!added) return false;
  /* No honest server sends a body that was encoded many times. */
  added->coding = ++(*decoder)->count > MOST_CODINGS ? CODING_UNKNOWN : coding;
  if ((*decoder)->first)
    (*decoder)->first->source = added;
  else
    (*decoder)->last = added;
  (*decoder)->first = added;
  return true;
}

bool shim_decoder_add(shim_decoder **decoder, const char *value, size_t length) {
  for (size_t start = 0, i = 0; i <= length; i++) {
    if (i < length && value[i] != ',' && value[i] != ' ' && value[i] != '\t') continue;
    const char *const name = value + start;
    const size_t count = i - start;
    start = i + 1;
    if (count == 0 || is("identity", name, count) || is("none", name, count)) continue;
    if (*decoder && (*decoder)->count > MOST_CODINGS) continue;
    if (!add(decoder, coding_of(name, count))) return false;
  }
  return true;
}

void shim_decoder_free(shim_decoder *decoder) {
  if (!decoder) return;
  free_layers(decoder->last);
  free(decoder);
}

void shim_decoder_feed(shim_decoder *decoder, const void *data, size_t length) {
  const size_t skipped = decoder->skip < length ? decoder->skip : length;
  decoder->skip -= skipped;
  decoder->fed = length;
  decoder->first->input = (const unsigned char *)data + skipped;
  decoder->first->available = length - skipped;
}

int shim_decoder_next(shim_decoder *decoder, const char **piece, size_t *length) {
  const int result = decoder->is_held ? SHIM_DECODED : pull(decoder->last, &decoder->piece, &decoder->length);
  decoder->is_held = false;
  *piece = (const char *)decoder->piece;
  *length = decoder->length;
  return result;
}

void shim_decoder_hold(shim_decoder *decoder) {
  decoder->is_held = true;
  decoder->skip += decoder->fed - decoder->first->available;
  decoder->first->available = 0;
}

bool shim_decoder_is_whole(const shim_decoder *decoder) {
  for (const layer *it = decoder->last; it; it = it->source)
    if (!it->is_at_end) return false;
  return true;
}
