// A host in C: checks in memory and on a Redis that is down, and every way to hold the library wrong that it can tell.

#include "labkit_ratelimit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPECT(condition)                                                        \
  do {                                                                           \
    if (!(condition)) {                                                          \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);    \
      exit(1);                                                                   \
    }                                                                            \
  } while (0)

#define ALLOWED 0
#define BLOCKED 1
#define FAILED 16

// An identifier of one property, by name: its length and its bytes, then a tag and the value.
static size_t named(uint8_t *to, const char *name, const char *value) {
  uint32_t name_length = (uint32_t)strlen(name), length = (uint32_t)strlen(value);
  uint8_t *at = to;
  for (int byte = 0; byte < 4; byte++) *at++ = (uint8_t)(name_length >> (8 * byte));
  memcpy(at, name, name_length);
  at += name_length;
  *at++ = 6;
  for (int byte = 0; byte < 4; byte++) *at++ = (uint8_t)(length >> (8 * byte));
  memcpy(at, value, length);
  return (size_t)(at + length - to);
}

// Takes a text; the caller frees it.
static char *taken(uint64_t text) {
  size_t length = 0;
  LabkitRatelimitStatus status = labkit_ratelimit_text_take(text, NULL, 0, &length);
  EXPECT(status == LABKIT_RATELIMIT_STATUS_TOO_SMALL);
  char *room = malloc(length + 1);
  EXPECT(room != NULL);
  EXPECT(labkit_ratelimit_text_take(text, (uint8_t *)room, length, &length) == LABKIT_RATELIMIT_STATUS_DONE);
  room[length] = '\0';
  // A text is taken once.
  EXPECT(labkit_ratelimit_text_take(text, NULL, 0, &length) == LABKIT_RATELIMIT_STATUS_UNKNOWN_HANDLE);
  return room;
}

static LabkitRatelimitStatus made(const char *config, uint64_t *limiter, char **said) {
  uint64_t text = 0;
  LabkitRatelimitStatus status =
      labkit_ratelimit_limiter_new((const uint8_t *)config, strlen(config), limiter, &text);
  *said = text == 0 ? NULL : taken(text);
  return status;
}

static void in_memory(void) {
  uint64_t clock = labkit_ratelimit_clock_new(1700000000), limiter = 0;
  char config[400], *said = NULL;
  snprintf(config, sizeof config,
           "{\"name\": \"sign_in\", \"store\": {\"memory\": {\"max_keys\": 100}}, \"clock\": %llu, \"rules\": ["
           "{\"name\": \"per_ip\", \"limit\": 1, \"period_s\": 60, \"characteristics\": [\"ip\"]}]}",
           (unsigned long long)clock);
  EXPECT(made(config, &limiter, &said) == LABKIT_RATELIMIT_STATUS_DONE);
  EXPECT(strstr(said, "\"properties\":[\"ip\"]") != NULL);
  free(said);

  uint8_t identifier[64], buffer[256];
  size_t length = named(identifier, "ip", "198.18.0.1");
  LabkitRatelimitAnswer answer;
  LabkitRatelimitEvaluation evaluations[1];
#define CHECK(handle, cost)                                                                                       \
  labkit_ratelimit_decide(handle, 0, 0, cost, identifier, length, NULL, 0, &answer, evaluations, 1, buffer, sizeof buffer)
  EXPECT(CHECK(limiter, 1.0) == LABKIT_RATELIMIT_STATUS_DONE && answer.verdict == ALLOWED);
  EXPECT(CHECK(limiter, 1.0) == LABKIT_RATELIMIT_STATUS_DONE && answer.verdict == BLOCKED);
  EXPECT(answer.evaluations == 1 && answer.reported == 0 && evaluations[0].count > 1.5);
  EXPECT(answer.retry_after_us == 60000000);
  size_t written = 0;
  EXPECT(labkit_ratelimit_headers(0, (const uint8_t *)"per_ip", 6, evaluations, answer.now_us, buffer, sizeof buffer,
                                  &written) == LABKIT_RATELIMIT_STATUS_DONE);
  EXPECT(written > 100);
  EXPECT(labkit_ratelimit_clock_advance(clock, 60000000) == LABKIT_RATELIMIT_STATUS_DONE);
  EXPECT(CHECK(limiter, 1.0) == LABKIT_RATELIMIT_STATUS_DONE && answer.verdict == ALLOWED);
  // A bad cost is a failure that allows, and is told once.
  EXPECT(CHECK(limiter, NAN) == LABKIT_RATELIMIT_STATUS_DONE && (answer.flags & FAILED) != 0 && answer.failure == 2);
  said = taken(answer.text);
  EXPECT(strstr(said, "rate_limit_error") != NULL);
  free(said);
  // Rules of another serial number are stale.
  EXPECT(labkit_ratelimit_decide(limiter, ~0ULL, 0, 1.0, NULL, 0, NULL, 0, &answer, evaluations, 1, buffer,
                                 sizeof buffer) == LABKIT_RATELIMIT_STATUS_STALE);
  // Bytes that are cut off, and pointers to nothing.
  for (size_t cut = 1; cut < length; cut++) {
    size_t whole = length;
    length = cut;
    EXPECT(CHECK(limiter, 1.0) == LABKIT_RATELIMIT_STATUS_BAD_ARGUMENT);
    length = whole;
  }
  EXPECT(labkit_ratelimit_decide(limiter, 0, 0, 1.0, NULL, 5, NULL, 0, &answer, evaluations, 1, buffer,
                                 sizeof buffer) == LABKIT_RATELIMIT_STATUS_BAD_ARGUMENT);
  EXPECT(labkit_ratelimit_decide(limiter, 0, 0, 1.0, identifier, length, NULL, 0, NULL, evaluations, 1, buffer,
                                 sizeof buffer) == LABKIT_RATELIMIT_STATUS_BAD_ARGUMENT);
  EXPECT(labkit_ratelimit_decide(limiter, 0, 7, 1.0, identifier, length, NULL, 0, &answer, evaluations, 1, buffer,
                                 sizeof buffer) == LABKIT_RATELIMIT_STATUS_BAD_ARGUMENT);

  EXPECT(labkit_ratelimit_clear(limiter, 0, identifier, length, &answer, buffer, sizeof buffer) ==
         LABKIT_RATELIMIT_STATUS_DONE);
  EXPECT(answer.deleted == 1);
  uint64_t text = 0;
  EXPECT(labkit_ratelimit_limiter_metrics(limiter, &text) == LABKIT_RATELIMIT_STATUS_DONE);
  said = taken(text);
  EXPECT(strstr(said, "gitlab_labkit_rate_limiter_checks_total") != NULL);
  free(said);

  // Freed is freed, and is told.
  EXPECT(labkit_ratelimit_clock_free(clock) == LABKIT_RATELIMIT_STATUS_DONE);
  EXPECT(labkit_ratelimit_clock_free(clock) == LABKIT_RATELIMIT_STATUS_UNKNOWN_HANDLE);
  EXPECT(CHECK(limiter, 1.0) == LABKIT_RATELIMIT_STATUS_DONE);
  EXPECT(labkit_ratelimit_limiter_free(limiter) == LABKIT_RATELIMIT_STATUS_DONE);
  EXPECT(labkit_ratelimit_limiter_free(limiter) == LABKIT_RATELIMIT_STATUS_UNKNOWN_HANDLE);
  EXPECT(CHECK(limiter, 1.0) == LABKIT_RATELIMIT_STATUS_UNKNOWN_HANDLE);
}

static void on_a_redis_that_is_down(void) {
  uint64_t limiter = 0;
  char *said = NULL;
  const char *config =
      "{\"name\": \"sign_in\", \"store\": {\"redis\": {\"topology\": \"single\", \"deadline_us\": 100000}}, \"rules\": ["
      "{\"name\": \"per_ip\", \"limit\": {\"$call\": 0}, \"period_s\": 60, \"characteristics\": [\"ip\"]}]}";
  EXPECT(made(config, &limiter, &said) == LABKIT_RATELIMIT_STATUS_DONE);
  free(said);
  uint8_t identifier[64], buffer[256];
  size_t length = named(identifier, "ip", "198.18.0.1");
  LabkitRatelimitAnswer answer;
  LabkitRatelimitEvaluation evaluations[1];
  // The host is asked for the limit, and says 5.
  EXPECT(CHECK(limiter, 1.0) == LABKIT_RATELIMIT_STATUS_ASK);
  EXPECT(answer.len == 5 && buffer[0] == 1 && buffer[1] == 0);
  const uint8_t answers[9] = {3, 5};
#define ANSWERED(room, size)                                                                                         \
  labkit_ratelimit_decide(limiter, 0, 0, 1.0, identifier, length, answers, sizeof answers, &answer, evaluations, 1, room, \
                          size)
  // A buffer that is too small is told, and read again.
  EXPECT(ANSWERED(buffer, 3) == LABKIT_RATELIMIT_STATUS_TOO_SMALL && answer.pending != 0 && answer.len > 3);
  EXPECT(labkit_ratelimit_call(answer.pending, &answer, buffer, sizeof buffer) == LABKIT_RATELIMIT_STATUS_CALL);
  LabkitRatelimitAnswer again;
  EXPECT(labkit_ratelimit_call(answer.pending, &again, buffer, 0) == LABKIT_RATELIMIT_STATUS_BAD_ARGUMENT);
  EXPECT(answer.keys == 1 && memcmp(buffer + 4, "labkit:rl:{sign_in:per_ip:ip:198.18.0.1}", buffer[0]) == 0);
  const uint8_t *digest = NULL, *source = NULL;
  size_t source_length = 0;
  EXPECT(labkit_ratelimit_script(answer.script, &digest, &source, &source_length) == LABKIT_RATELIMIT_STATUS_DONE);
  EXPECT(source_length > 1000);
#define SETTLED(pending, kind)                                                                                        \
  labkit_ratelimit_settle(limiter, pending, kind, (const uint8_t *)"E", 1, (const uint8_t *)"refused", 7, &answer,    \
                          evaluations, 1, buffer, sizeof buffer)
  uint64_t pending = answer.pending;
  EXPECT(SETTLED(pending, 1) == LABKIT_RATELIMIT_STATUS_DONE && answer.failure == 6 && answer.verdict == ALLOWED);
  said = taken(answer.text);
  EXPECT(strstr(said, "refused") != NULL && strstr(said, "198.18.0.1") == NULL);
  free(said);
  // A call is settled once.
  EXPECT(SETTLED(pending, 1) == LABKIT_RATELIMIT_STATUS_UNKNOWN_HANDLE);

  // One that is given up is decided at once, and its end is still told.
  EXPECT(ANSWERED(buffer, sizeof buffer) == LABKIT_RATELIMIT_STATUS_CALL);
  pending = answer.pending;
  EXPECT(labkit_ratelimit_abandon(limiter, pending, (const uint8_t *)"E", 1, (const uint8_t *)"gone", 4, &answer,
                                  evaluations, 1) == LABKIT_RATELIMIT_STATUS_DONE);
  EXPECT(answer.failure == 8);
  free(taken(answer.text));
  EXPECT(SETTLED(pending, 2) == LABKIT_RATELIMIT_STATUS_DONE && answer.text == 0);

  // What another limiter planned is none of this one's business, and stays as it was.
  uint64_t other = 0;
  EXPECT(made(config, &other, &said) == LABKIT_RATELIMIT_STATUS_DONE);
  free(said);
  EXPECT(ANSWERED(buffer, sizeof buffer) == LABKIT_RATELIMIT_STATUS_CALL);
  pending = answer.pending;
  uint64_t own = limiter;
  limiter = other;
  for (uint32_t kind = 0; kind < 4; kind++) EXPECT(SETTLED(pending, kind) == LABKIT_RATELIMIT_STATUS_BAD_ARGUMENT);
  EXPECT(labkit_ratelimit_abandon(limiter, pending, (const uint8_t *)"E", 1, (const uint8_t *)"gone", 4, &answer,
                                  evaluations, 1) == LABKIT_RATELIMIT_STATUS_BAD_ARGUMENT);
  EXPECT(labkit_ratelimit_limiter_free(other) == LABKIT_RATELIMIT_STATUS_DONE);
  limiter = own;
  EXPECT(SETTLED(pending, 1) == LABKIT_RATELIMIT_STATUS_DONE && answer.failure == 6);
  free(taken(answer.text));

  // A clear says what failed, also where the circuit is open.
#define CLEARED() labkit_ratelimit_clear(limiter, 0, identifier, length, &answer, buffer, sizeof buffer)
  for (int failures = 3; failures < 5; failures++) {
    EXPECT(CLEARED() == LABKIT_RATELIMIT_STATUS_CALL && answer.failure == 0);
    EXPECT(SETTLED(answer.pending, 1) == LABKIT_RATELIMIT_STATUS_DONE && answer.failure == 6);
    said = taken(answer.text);
    EXPECT(strstr(said, "\"failure\":{") != NULL);
    free(said);
  }
  EXPECT(CLEARED() == LABKIT_RATELIMIT_STATUS_DONE && answer.failure == 7);
  free(taken(answer.text));
  EXPECT(labkit_ratelimit_limiter_free(limiter) == LABKIT_RATELIMIT_STATUS_DONE);
}

static void refused(void) {
  uint64_t limiter = 1;
  char *said = NULL;
  EXPECT(made("{\"name\": \"x\", \"rules\": [{\"name\": \"r\", \"limit\": 0, \"period_s\": 60}]}", &limiter, &said) ==
         LABKIT_RATELIMIT_STATUS_REJECTED);
  EXPECT(limiter == 0 && strstr(said, "limit_below_one") != NULL);
  free(said);
  EXPECT(made("{\"nam\": \"x\"}", &limiter, &said) == LABKIT_RATELIMIT_STATUS_BAD_ARGUMENT && said == NULL);
  EXPECT(labkit_ratelimit_limiter_new(NULL, 4, &limiter, &limiter) == LABKIT_RATELIMIT_STATUS_BAD_ARGUMENT);
}

int main(void) {
  EXPECT(labkit_ratelimit_abi_version() == 1);
  EXPECT(strlen(labkit_ratelimit_build_hash()) == 64);
  in_memory();
  on_a_redis_that_is_down();
  refused();
  printf("labkit-ratelimit %s: all as it should be\n", labkit_ratelimit_version());
  return 0;
}
