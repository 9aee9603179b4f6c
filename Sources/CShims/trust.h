/* The certificates that are trusted unless the program names others. A libcurl of the system has their path built in; the one
 * inside a portable library does not, since each distribution keeps them elsewhere. */
#ifndef BOXRETRY_TRUST_H
#define BOXRETRY_TRUST_H

typedef struct shim_trust {
  const char *file; /* certificates in PEM form; NULL: none */
  const char *path; /* a directory of such files, named by hash; NULL: none */
} shim_trust;

/* Where distributions keep their certificates, all in one file. Ends with NULL. */
extern const char *const shim_trust_places[];

/* As curl decides: what the environment variable CURL_CA_BUNDLE names; without it, what SSL_CERT_FILE and SSL_CERT_DIR name;
 * without them, the first of the places that is a readable file. Empty variables count as unset, and a set-user-ID program
 * ignores them. The strings are the environment's or those of `places`. */
shim_trust shim_trust_find(const char *const *places);

#endif
