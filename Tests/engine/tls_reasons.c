/* F141: prints the error of a GET, and its detail: tls_reasons CA URL [PROXY]
 * CA: a file with the authority that is trusted, for the proxy, too; "": that of the system. */
#include "cases.h"
#include <curl/curl.h>

static void trust_proxy(void *context, void *easy) {
  if (*(const char *)context && curl_easy_setopt(easy, CURLOPT_PROXY_CAINFO, context) != CURLE_OK) abort();
}

int main(int count, char **arguments) {
  boxretry_client_options options = BOXRETRY_CLIENT_OPTIONS_INIT;
  boxretry_request request = BOXRETRY_REQUEST_INIT;
  boxretry_client *client;
  boxretry_response *response;
  must(count >= 3, "tls_reasons CA URL [PROXY]");
  if (*arguments[1]) options.ca_file = arguments[1];
  options.max_total_attempts = 1;
  options.proxy_mode = BOXRETRY_PROXY_NONE;
  if (count > 3) {
    options.proxy_mode = BOXRETRY_PROXY_GIVEN;
    options.proxy = arguments[3];
    options.on_transfer = trust_proxy;
    options.on_transfer_context = arguments[1];
  }
  ok(boxretry_client_new(&options, &client));
  request.url = arguments[2];
  ok(boxretry_client_perform(client, &request, &response));
  const boxretry_error error = boxretry_response_error(response);
  printf("%s\n%s\n", boxretry_error_name(error), boxretry_last_error_detail());
  boxretry_response_free(response);
  boxretry_client_free(client);
  return 0;
}
