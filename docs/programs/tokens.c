/* Build: cc tokens.c -o tokens $(pkg-config --cflags --libs boxretry) */
#include <boxretry.h>
#include <stdio.h>
#include <stdlib.h>

static void check(boxretry_error error) {
  if (error == BOXRETRY_OK) return;
  fprintf(stderr, "%s: %s\n", boxretry_error_text(error), boxretry_last_error_detail());
  exit(EXIT_FAILURE);
}

int main(int argc, char **argv) {
  const boxretry_header fields[] = {
      {"grant_type", "client_credentials"}, {"client_id", "me"}, {"client_secret", "s3cret"}};
  boxretry_token_endpoint_options endpoint = BOXRETRY_TOKEN_ENDPOINT_OPTIONS_INIT;
  boxretry_client_options options = BOXRETRY_CLIENT_OPTIONS_INIT;
  boxretry_request request = BOXRETRY_REQUEST_INIT;
  boxretry_token_source *tokens;
  boxretry_client *client;
  if (argc != 3) return 2;
  endpoint.url = argv[1];
  endpoint.fields = fields;
  endpoint.field_count = sizeof fields / sizeof fields[0];
  check(boxretry_token_source_new_endpoint(&endpoint, &tokens));
  options.token_source = tokens;
  check(boxretry_client_new(&options, &client));
  request.url = argv[2];
  for (int i = 1; i <= 2; i++) {
    boxretry_response *response;
    check(boxretry_client_perform(client, &request, &response));
    printf("request %d: status %d, attempts: %lu\n", i, boxretry_response_status(response),
           (unsigned long)boxretry_response_attempt_count(response));
    boxretry_response_free(response);
  }
  boxretry_client_free(client);
  boxretry_token_source_free(tokens);
  return EXIT_SUCCESS;
}
