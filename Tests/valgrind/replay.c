/* Gives inputs of a fuzz target to it, without a fuzzer: links with Tests/fuzz/TARGET.c. */
#include "fuzz.h"

static void replay(const char *name) {
  FILE *file = fopen(name, "rb");
  if (!file || fseek(file, 0, SEEK_END) != 0) {
    perror(name);
    exit(2);
  }
  size_t size = (size_t)ftell(file);
  uint8_t *data = new_block(size);
  rewind(file);
  if (fread(data, 1, size, file) != size) {
    perror(name);
    exit(2);
  }
  fclose(file);
  LLVMFuzzerTestOneInput(data, size);
  free(data);
}

int main(int count, char **files) {
  for (int i = 1; i < count; i++)
    replay(files[i]);
  return 0;
}
