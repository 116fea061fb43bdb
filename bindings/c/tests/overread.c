/* A host that lies about a length: the library reads past the end, which AddressSanitizer must see (ci/rooms/c). */
#include "labkit_ratelimit.h"
#include <stdlib.h>
#include <string.h>

int main(void) {
  const size_t room = 8;
  uint8_t *config = malloc(room);
  uint64_t limiter = 0, text = 0;
  if (config == NULL) {
    return 1;
  }
  memset(config, ' ', room);
  labkit_ratelimit_limiter_new(config, 2 * room, &limiter, &text);
  free(config);
  return 0;
}
