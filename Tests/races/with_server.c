/* Runs a program while the server of server.c runs: with_server PROGRAM ARGUMENT...
 *
 * An @ at the beginning of an argument stands for the server's URL without a path. */
#define _GNU_SOURCE /* asprintf */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "server.h"

int main(int argc, char **argv) {
  int status = 0;
  if (argc < 2) {
    fputs("usage: with_server PROGRAM ARGUMENT...\n", stderr);
    return 2;
  }
  const int port = server_start();
  for (int i = 2; i < argc; i++) {
    if (argv[i][0] == '@' && asprintf(&argv[i], "http://127.0.0.1:%d%s", port, argv[i] + 1) < 0) return 2;
  }
  const pid_t child = fork();
  if (child == 0) {
    execv(argv[1], argv + 1);
    perror(argv[1]);
    _exit(127);
  }
  if (child < 0 || waitpid(child, &status, 0) != child) perror("with_server");
  server_stop();
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
