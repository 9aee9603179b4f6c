/* boxretry fetch: the source of access tokens. */
#include "fetch.h"

static boxretry_error make_endpoint(const fetch_query *query, boxretry_token_source **out) {
  boxretry_token_endpoint_options options = BOXRETRY_TOKEN_ENDPOINT_OPTIONS_INIT;
  options.url = query->tokens.url;
  options.fields = query->tokens.fields.items;
  options.field_count = query->tokens.fields.count;
  options.allow_insecure = query->tokens.allows_insecure;
  options.user_agent = query->user_agent;
  options.ca_file = query->ca_file;
  options.ca_path = query->ca_path;
  options.tls_verify = query->is_insecure ? BOXRETRY_SWITCH_OFF : BOXRETRY_SWITCH_DEFAULT;
  options.proxy = query->no_proxy ? NULL : query->proxy;
  options.proxy_mode = fetch_proxy_mode(query);
  return boxretry_token_source_new_endpoint(&options, out);
}

int fetch_take_tokens(fetch_query *query, fetch_result *result) {
  const char *token = query->tokens.token;
  if (token) {
    result->error = boxretry_token_source_new_fixed(token, &query->token_source);
  } else if (query->tokens.url) {
    result->error = make_endpoint(query, &query->token_source);
  }
  token_options_forget(&query->tokens);
  if (result->error != BOXRETRY_ERROR_INVALID_ARGUMENT) return TOOL_GO_ON;
  return usage_error(&fetch_command, "--%s: %s", token ? query->tokens.token_option : "token-url",
                     boxretry_last_error_detail());
}
