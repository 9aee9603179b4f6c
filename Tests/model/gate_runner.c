/* Runs the commands of model_gate.py through the gate of boxretry simulate. Attempts are numbered from 1 as they begin. */
#include "simulate_gates.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 1000000 };

static sim_pass passes[MOST];

int main(void) {
  static const double nanoseconds = 1e9;
  sim_gates gates = {0};
  char line[64], word[32];
  uint32_t attempts = 0;
  double now = 0;
  while (fgets(line, sizeof line, stdin)) {
    uint32_t number;
    int64_t time;
    if (strcmp(line, "gate\n") == 0) {
      sim_gates_free(&gates);
      if (!sim_gates_begin(&gates, 1, 1)) return 1;
      attempts = 0;
      now = 0;
    } else if (sscanf(line, "time %" SCNd64, &time) == 1) {
      now = (double)time / nanoseconds;
      sim_gate_time_has_come(&gates, 0, now);
    } else if (sscanf(line, "fill %" SCNu32, &number) == 1) {
      uint32_t begun = 0;
      while (begun < number && attempts + 1 < MOST && sim_gate_lets_through(&gates, 0, now, &passes[attempts + 1])) {
        begun++;
        attempts++;
      }
      printf("begun %" PRIu32 "\n", begun);
    } else if (sscanf(line, "gone %" SCNu32, &number) == 1 && number < MOST) {
      sim_gate_answered(&gates, 0, GATE_NONE, 0, passes[number], now);
    } else if (sscanf(line, "answer %" SCNu32 " %31s", &number, word) == 2 && number < MOST) {
      const gate_answer answer = strcmp(word, "other") == 0        ? GATE_OTHER
                                 : strcmp(word, "overloaded") == 0 ? GATE_OVERLOADED
                                                                   : GATE_COME_BACK;
      sim_gate_answered(&gates, 0, answer, strtod(word, NULL) / nanoseconds, passes[number], now);
    } else {
      fprintf(stderr, "gate_runner: %s", line);
      return 2;
    }
  }
  sim_gates_free(&gates);
  return 0;
}
