/* The certificates that are trusted by default. The system's libcurl has their path built in; the libcurl in a portable
 * library does not, because the path depends on the distribution. */
#ifndef BOXRETRY_TRUST_H
#define BOXRETRY_TRUST_H

typedef struct shim_trust {
  const char *file; /* PEM file with certificates; NULL: none */
  const char *path; /* directory of PEM files named by hash; NULL: none */
} shim_trust;

/* Where distributions keep all certificates in one file. Ends with NULL. */
extern const char *const shim_trust_places[];

/* As in curl: the environment variable CURL_CA_BUNDLE; if unset, SSL_CERT_FILE and SSL_CERT_DIR; if they are unset, the
 * first of `places` that is a readable file. Empty variables count as unset, and a set-user-ID program ignores them.
 * The strings belong to the environment or to `places`. */
shim_trust shim_trust_find(const char *const *places);

#endif
