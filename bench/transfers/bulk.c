/* One large body, up or down, through the client or through bare libcurl: bulk SUBJECT URL BYTES [ca=FILE]
 *
 *     bare-down, down   GET; the body is counted and forgotten
 *     bare-up, up       PUT; the body is zeros from a callback
 *
 * Both with the same sizes of buffers. Prints the seconds, the seconds of processor time, and the peak of the memory in KiB.
 * A first, small request makes the connection. */
#include "costs.h"

#include <boxretry.h>
#include <curl/curl.h>
#include <string.h>

static int64_t moved, wanted;
static const char *ca_file;

static size_t next_piece(size_t room) {
  const int64_t left = wanted - moved;
  const size_t piece = left < (int64_t)room ? (size_t)left : room;
  moved += (int64_t)piece;
  return piece;
}

/* --- Bare libcurl --- */

static size_t take(char *data, size_t size, size_t count, void *user) {
  (void)data;
  (void)user;
  moved += (int64_t)(size * count);
  return size * count;
}

static size_t give(char *buffer, size_t size, size_t count, void *user) {
  (void)user;
  const size_t piece = next_piece(size * count);
  memset(buffer, 0, piece);
  return piece;
}

static void bare_send(CURL *easy, const char *url, int is_up) {
  long status = 0;
  moved = 0;
  curl_easy_setopt(easy, CURLOPT_URL, url);
  curl_easy_setopt(easy, CURLOPT_UPLOAD, is_up ? 1L : 0L);
  curl_easy_setopt(easy, CURLOPT_INFILESIZE_LARGE, (curl_off_t)wanted);
  require(curl_easy_perform(easy) == CURLE_OK, "curl_easy_perform");
  curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
  require(status == 200, "bare response");
}

static CURL *bare_open(void) {
  CURL *easy = curl_easy_init();
  struct curl_slist *headers = curl_slist_append(NULL, "Expect:");
  require(easy != NULL, "curl_easy_init");
  curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take);
  curl_easy_setopt(easy, CURLOPT_READFUNCTION, give);
  curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, 131072L);
  curl_easy_setopt(easy, CURLOPT_UPLOAD_BUFFERSIZE, 262144L);
  curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
  if (ca_file) curl_easy_setopt(easy, CURLOPT_CAINFO, ca_file);
  return easy;
}

/* --- The client --- */

static void write_piece(void *context, boxretry_call *call, const void *data, size_t length, int32_t *answer) {
  (void)context;
  (void)call;
  (void)data;
  moved += (int64_t)length;
  *answer = BOXRETRY_WRITE_TAKEN;
}

static void read_piece(void *context, boxretry_call *call, void *buffer, size_t capacity, int64_t *count) {
  (void)context;
  (void)call;
  *count = (int64_t)next_piece(capacity);
  memset(buffer, 0, (size_t)*count);
}

static void client_send(boxretry_client *client, const char *url, int is_up) {
  boxretry_request request = BOXRETRY_REQUEST_INIT;
  boxretry_body_source source = BOXRETRY_BODY_SOURCE_INIT;
  boxretry_sink sink = BOXRETRY_SINK_INIT;
  boxretry_response *response;
  moved = 0;
  request.url = url;
  if (is_up) {
    source.kind = BOXRETRY_SOURCE_CALLBACK;
    source.length = wanted;
    source.read = read_piece;
    request.method = "PUT";
    request.body_source = &source;
  } else {
    sink.kind = BOXRETRY_SINK_CALLBACK;
    sink.write = write_piece;
    request.sink = &sink;
  }
  require(boxretry_client_perform(client, &request, &response) == BOXRETRY_OK, "boxretry_client_perform");
  require(boxretry_response_status(response) == 200, boxretry_error_name(boxretry_response_error(response)));
  boxretry_response_free(response);
}

static boxretry_client *client_open(void) {
  boxretry_client_options options = BOXRETRY_CLIENT_OPTIONS_INIT;
  boxretry_client *client;
  options.ca_file = ca_file;
  options.http_version = BOXRETRY_HTTP_1_1;
  require(boxretry_client_new(&options, &client) == BOXRETRY_OK, "boxretry_client_new");
  return client;
}

int main(int argc, char **argv) {
  if (argc < 4) return fputs("usage: bulk SUBJECT URL BYTES [ca=FILE]\n", stderr), 2;
  if (argc > 4 && strncmp(argv[4], "ca=", 3) == 0) ca_file = argv[4] + 3;
  const int is_bare = strncmp(argv[1], "bare-", 5) == 0, is_up = strstr(argv[1], "up") != NULL;
  const int64_t size = strtoll(argv[3], NULL, 10);
  char small[4096];
  curl_global_init(CURL_GLOBAL_DEFAULT);
  snprintf(small, sizeof small, "%.*s/small", (int)(strchr(strstr(argv[2], "://") + 3, '/') - argv[2]), argv[2]);
  CURL *easy = is_bare ? bare_open() : NULL;
  boxretry_client *client = is_bare ? NULL : client_open();
  if (is_bare) {
    bare_send(easy, small, 0);
  } else {
    client_send(client, small, 0);
  }
  wanted = size;
  begin_costs();
  if (is_bare) {
    bare_send(easy, argv[2], is_up);
  } else {
    client_send(client, argv[2], is_up);
  }
  require(moved == size, "not all of the body has moved");
  print_costs();
  return EXIT_SUCCESS;
}
