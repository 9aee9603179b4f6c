/* A small HTTP server, for tests: on a free port of 127.0.0.1, on one thread. */
#ifndef SERVER_H
#define SERVER_H

enum { SERVER_LARGE = 300000 };

/**
 * Starts the one server of this process, and returns its port. It answers by path:
 *
 *     /silent    never
 *     /busy      503, with Retry-After: 0
 *     /later     503, with Retry-After: 1000
 *     /flaky     503 and 200 in turn, over all connections
 *     /missing   404
 *     /rejected  401, with the code token_expired
 *     /moved     307, to /
 *     /other     a POST: 303, to the fragment #part of the same; else 200, and "hello"
 *     /large     200, and SERVER_LARGE times the letter x
 *     /cut       200 with an ETag, which breaks off in the middle of its body, and 200 in turn, over all connections
 *     /restart   200, and "hello"; /flaky and /cut start over
 *     /token     200, and an access token, with which the connection ends
 *     /broken    closes the connection without a word
 *     all else   200, and "hello"
 */
int server_start(void);

/** Ends it, and every connection to it. */
void server_stop(void);

#endif
