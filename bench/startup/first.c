/* One request, and the end: first URL. With -DBARE through libcurl alone, else through the library. */
#include <stdio.h>
#include <stdlib.h>

#ifdef BARE
#include <curl/curl.h>

static size_t take(char *data, size_t size, size_t count, void *user) {
  (void)data;
  (void)user;
  return size * count;
}

static long status_of(const char *url) {
  long status = 0;
  CURL *easy = curl_easy_init();
  curl_easy_setopt(easy, CURLOPT_URL, url);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take);
  if (curl_easy_perform(easy) == CURLE_OK) curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
  curl_easy_cleanup(easy);
  return status;
}
#else
#include <boxretry.h>

static long status_of(const char *url) {
  boxretry_client *client;
  boxretry_request request = BOXRETRY_REQUEST_INIT;
  boxretry_response *response;
  request.url = url;
  if (boxretry_client_new(NULL, &client) != BOXRETRY_OK) return 0;
  if (boxretry_client_perform(client, &request, &response) != BOXRETRY_OK) return 0;
  const long status = boxretry_response_status(response);
  boxretry_response_free(response);
  boxretry_client_free(client);
  return status;
}
#endif

int main(int argc, char **argv) {
  if (argc == 2 && status_of(argv[1]) == 200) return EXIT_SUCCESS;
  fputs("first: there was no good response\n", stderr);
  return EXIT_FAILURE;
}
