#define _GNU_SOURCE /* secure_getenv */
#include "trust.h"

#ifdef BOXRETRY_STATIC_CURL

#include <stdbool.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

const char *const shim_trust_places[] = {
    "/etc/ssl/certs/ca-certificates.crt",                /* Debian, Ubuntu, Arch, Alpine */
    "/etc/pki/tls/certs/ca-bundle.crt",                  /* Fedora, RHEL */
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", /* Fedora, RHEL: the target of the link above */
    "/etc/ssl/ca-bundle.pem",                            /* openSUSE */
    "/etc/ssl/cert.pem",                                 /* Alpine without the package ca-certificates */
    NULL,
};

static const char *variable(const char *name) {
  const char *value = secure_getenv(name);
  return value && *value ? value : NULL;
}

static bool is_readable_file(const char *path) {
  struct stat status;
  return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, R_OK) == 0;
}

shim_trust shim_trust_find(const char *const *places) {
  const char *bundle = variable("CURL_CA_BUNDLE");
  if (bundle) return (shim_trust){bundle, NULL};
  const shim_trust named = {variable("SSL_CERT_FILE"), variable("SSL_CERT_DIR")};
  if (named.file || named.path) return named;
  while (*places && !is_readable_file(*places))
    places++;
  return (shim_trust){*places, NULL};
}

#endif
