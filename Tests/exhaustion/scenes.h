/* What programs do with the library: each scene makes what it needs, uses it, and frees it. */
#ifndef SCENES_H
#define SCENES_H

#include <boxretry.h>

typedef struct scene {
  const char *name;
  void (*play)(void);
} scene;

extern const scene scenes[];
extern const int scene_count;

/** Whether anything has failed since this was last asked. */
int scenes_have_failed(void);

/** Before each scene, while nothing fails: the server does not continue an answer of an earlier one. */
void scenes_restart(void);

/** The server's URLs begin so; files are written into the current folder. */
void scenes_begin(const char *server);

#endif
