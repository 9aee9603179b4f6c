/*
 * The other end of connections: a thread that says to each request what the input of a fuzz target has for it, byte by byte.
 */
#ifndef PEER_H
#define PEER_H

#include "fuzz.h"

/* Between the answer to one request and to the next. */
#define PEER_SEPARATOR "\n\0\n\0"

/* In a part, this becomes a text that names the request that was heard before it: the same bytes each time for one request to
 * PEER_OWN_PATH and a digit, and unlike all that an input can say. It is as long. */
#define PEER_OWN "<who asked this>"
#define PEER_OWN_PATH "/own/"

/* Whether some bytes name another request than that with this digit. */
bool peer_names_another(const char *bytes, size_t length, int digit);

/* Starts to listen, once: at a socket in the file system, and at a port of 127.0.0.1. */
void peer_start(void);

const char *peer_socket(void);
int peer_port(void);

/*
 * The answers from now on: a part to each request, and after the last one a plain answer. A connection ends after each
 * part, or, `keeps`, when no other request comes.
 */
void peer_play(const uint8_t *script, size_t size, bool keeps);

/* The plain answer. */
#define PEER_ANSWER "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

#endif
