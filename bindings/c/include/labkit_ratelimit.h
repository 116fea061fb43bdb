// labkit-ratelimit: decides, per request, whether it may go on.
//
// Written by cbindgen from bindings/c: change nothing here. What each function asks and gives is in its comment; the
// formats of bytes are in bindings/c/README.md.


#ifndef LABKIT_RATELIMIT_H
#define LABKIT_RATELIMIT_H

#include <stddef.h>
#include <stdint.h>

// How a call went.
enum LabkitRatelimitStatus
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // Done: the answer is there.
  LABKIT_RATELIMIT_STATUS_DONE = 0,
  // A call is to be run on Redis, and to be settled.
  LABKIT_RATELIMIT_STATUS_CALL = 1,
  // The host is asked something first: nothing was counted yet.
  LABKIT_RATELIMIT_STATUS_ASK = 2,
  // The rules were replaced since the host last looked: nothing was counted. Look again, and repeat.
  LABKIT_RATELIMIT_STATUS_STALE = 3,
  // The buffer is too small; the length that it must have was given.
  LABKIT_RATELIMIT_STATUS_TOO_SMALL = 4,
  // The limiter was not built, or the documents were not loaded: the text says why.
  LABKIT_RATELIMIT_STATUS_REJECTED = 5,
  // A pointer is null or not aligned, bytes are not of the format, or a number is none that the argument takes.
  LABKIT_RATELIMIT_STATUS_BAD_ARGUMENT = 16,
  // The handle was freed, or never was one.
  LABKIT_RATELIMIT_STATUS_UNKNOWN_HANDLE = 17,
  // A defect: the library panicked. Nothing else is to be done with this call.
  LABKIT_RATELIMIT_STATUS_PANIC = 18,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum LabkitRatelimitStatus LabkitRatelimitStatus;
#else
typedef uint32_t LabkitRatelimitStatus;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// What a call answers. Which fields it sets depends on the status that comes with it; the others are 0.
typedef struct LabkitRatelimitAnswer {
  // The serial number of the rules that decided; with `STALE`, of those in force.
  uint64_t rules;
  // `CALL`: the handle to settle it with.
  uint64_t pending;
  // `CALL`: how long it may be waited for, in µs.
  uint64_t deadline_us;
  // Of the reported rule: how long to wait, in µs; all bits set where it refuses nothing, or no wait helps.
  uint64_t retry_after_us;
  // How many keys a clear deleted so far.
  uint64_t deleted;
  // The limiter's clock, in µs since 1970.
  uint64_t now_us;
  // A text to take, or 0: what failed, and what is to be logged.
  uint64_t text;
  // `CALL` and `ASK`: the length of what is in the buffer, or with `TOO_SMALL` would be.
  uint64_t len;
  // How many evaluations there are.
  uint32_t evaluations;
  // Which of them is of the reported rule, or all bits set.
  uint32_t reported;
  // Which of them HTTP fields speak of, or all bits set.
  uint32_t shown;
  // The place of the reported rule among the rules, or all bits set.
  uint32_t rule;
  // `CALL`: which script, as `labkit_ratelimit_script` numbers them.
  uint32_t script;
  // `CALL`: how many keys there are in the buffer.
  uint32_t keys;
  // `CALL`: how many arguments there are behind them.
  uint32_t args;
  // 0: the call may go on; 1: it may not.
  uint8_t verdict;
  // 1 matched, 2 exceeded, 4 skipped, 8 warned, 16 error, 32 degraded.
  uint8_t flags;
  // What failed: 0 nothing, 1 the identifier, 2 the cost, 3 a callable, 4 a pattern, 5 a value of the wrong type, 6 the
  // store, 7 the circuit is open, 8 the call was abandoned, 9 the library.
  uint8_t failure;
  // 0.
  uint8_t reserved;
} LabkitRatelimitAnswer;

// What came of one counting rule.
typedef struct LabkitRatelimitEvaluation {
  // What was counted, this call included.
  double count;
  // What is left.
  double remaining;
  // The limit in force.
  uint64_t limit;
  // Until the counter is fresh again, in µs.
  uint64_t reset_after_us;
  // How long to wait before the same call passes, in µs; all bits set where it refuses nothing, or no wait helps.
  uint64_t retry_after_us;
  // The period in force, in seconds.
  uint32_t period_s;
  // The rule's place among the rules.
  uint32_t rule;
  // 0 allow, 1 block, 2 warn, 3 log, 4 banned.
  uint8_t outcome;
  // 1: the rule is over.
  uint8_t exceeded;
  // 1: it refused the call.
  uint8_t blocks;
  // 1: its ban is in force.
  uint8_t banned;
  // 0.
  uint32_t reserved;
} LabkitRatelimitEvaluation;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// The number of this header. A host compares it with the one that it was built for, before it calls anything else.
uint32_t labkit_ratelimit_abi_version(void);

// The library's version, a text that ends in 0 and lives for ever.
const char *labkit_ratelimit_version(void);

// SHA-256 of the sources that it was built from, in hex; it ends in 0 and lives for ever.
const char *labkit_ratelimit_build_hash(void);

// The script of that number: `*digest` are 40 bytes of hex, `*source` its text. Both live for ever.
//
// # Safety
// A pointer, or a `size_t`, can be written at each of the three.
LabkitRatelimitStatus labkit_ratelimit_script(uint32_t script,
                                              const uint8_t **digest,
                                              const uint8_t **source,
                                              size_t *source_len);

// Writes the call of `pending`, for a host whose buffer was too small. Of one that was written before, which the host has
// to keep, `BAD_ARGUMENT` may come.
//
// # Safety
// An answer can be written at `answer`, and `buffer_len` bytes at `buffer`.
LabkitRatelimitStatus labkit_ratelimit_call(uint64_t pending,
                                            struct LabkitRatelimitAnswer *answer,
                                            uint8_t *buffer,
                                            size_t buffer_len);

// Makes a clock that stands at `unix_seconds`; limiters name it in their text. Gives its handle; 0 is a defect.
uint64_t labkit_ratelimit_clock_new(uint32_t unix_seconds);

// Moves it by `by_us` µs; back where that is negative.
LabkitRatelimitStatus labkit_ratelimit_clock_advance(uint64_t clock, int64_t by_us);

// Reads it: `*now_us` is in µs since 1970.
//
// # Safety
// A `uint64_t` can be written at `now_us`.
LabkitRatelimitStatus labkit_ratelimit_clock_now(uint64_t clock, uint64_t *now_us);

// Frees it. Limiters that go by it keep it.
LabkitRatelimitStatus labkit_ratelimit_clock_free(uint64_t clock);

// Makes a limiter from the JSON in `config`. `*limiter` is its handle, to be freed with
// `labkit_ratelimit_limiter_free`; `*text` a text to take: `{"rules": …, "logs": […]}` with `DONE`, `{"error": …,
// "logs": […]}` with `REJECTED`. Both are 0 with any other status.
//
// # Safety
// `config_len` bytes can be read at `config`, and a `uint64_t` written at `limiter` and at `text`.
LabkitRatelimitStatus labkit_ratelimit_limiter_new(const uint8_t *config,
                                                   size_t config_len,
                                                   uint64_t *limiter,
                                                   uint64_t *text);

// Loads documents, JSON as `documents` of `labkit_ratelimit_limiter_new`, in place of those in force. `*text` as there.
//
// # Safety
// `documents_len` bytes can be read at `documents`, and a `uint64_t` written at `text`.
LabkitRatelimitStatus labkit_ratelimit_limiter_reload(uint64_t limiter,
                                                      const uint8_t *documents,
                                                      size_t documents_len,
                                                      uint64_t *text);

// The rules in force: `*text` is a text to take.
//
// # Safety
// A `uint64_t` can be written at `text`.
LabkitRatelimitStatus labkit_ratelimit_limiter_rules(uint64_t limiter, uint64_t *text);

// Counters and gauges as they stand: `*text` is a text to take, a list of `{"name", "kind", "labels", "value"}`.
//
// # Safety
// A `uint64_t` can be written at `text`.
LabkitRatelimitStatus labkit_ratelimit_limiter_metrics(uint64_t limiter, uint64_t *text);

// Closes the circuit of its Redis, as an operator may after mending it.
LabkitRatelimitStatus labkit_ratelimit_limiter_close_circuit(uint64_t limiter);

// Frees a limiter. Calls of other threads that are under way end with it; its pending calls are still to be settled,
// and are `UNKNOWN_HANDLE` then.
LabkitRatelimitStatus labkit_ratelimit_limiter_free(uint64_t limiter);

// Checks (`mode` 0) or peeks (`mode` 1).
//
// `rules` is the serial number of the rules by whose properties the values of `identifier` are ordered; or 0, and each
// value has its name before it. `answers` are those to every question that was asked of this call before. `cost` is of
// a check.
//
// - `DONE`: `answer` is the decision, with `evaluations` as far as there is room. A limiter without any rules needs none.
// - `CALL`: a script is to be run, whose keys and arguments are in `buffer`.
// - `ASK`: `buffer` holds questions; nothing was counted.
// - `STALE`: other rules are in force; nothing was counted.
// - `TOO_SMALL`: `answer->len` bytes are needed. Where `answer->pending` is not 0, `labkit_ratelimit_call` writes them;
//   else repeat the call.
//
// # Safety
// As many bytes or elements as are said can be read, or written, at each pointer, until the call returns.
LabkitRatelimitStatus labkit_ratelimit_decide(uint64_t limiter,
                                              uint64_t rules,
                                              uint32_t mode,
                                              double cost,
                                              const uint8_t *identifier,
                                              size_t identifier_len,
                                              const uint8_t *answers,
                                              size_t answers_len,
                                              struct LabkitRatelimitAnswer *answer,
                                              struct LabkitRatelimitEvaluation *evaluations,
                                              size_t evaluations_len,
                                              uint8_t *buffer,
                                              size_t buffer_len);

// Deletes counter and ban of every counting rule for an identifier, given as to `labkit_ratelimit_decide`.
//
// - `DONE`: `answer->deleted` keys were deleted; `answer->failure` is the last thing that failed, and `answer->text` says so,
//   and what is to be logged.
// - `CALL`, `STALE`, `TOO_SMALL`: as there.
//
// # Safety
// As many bytes as are said can be read, or written, at each pointer, until the call returns.
LabkitRatelimitStatus labkit_ratelimit_clear(uint64_t limiter,
                                             uint64_t rules,
                                             const uint8_t *identifier,
                                             size_t identifier_len,
                                             struct LabkitRatelimitAnswer *answer,
                                             uint8_t *buffer,
                                             size_t buffer_len);

// Writes the HTTP fields of an evaluation into `buffer`: name, value, name, value, each behind its length. `format` 0:
// as GitLab's API documents them; 1: draft-ietf-httpapi-ratelimit-headers-11. `rule` is the rule's name, `now_us` the
// clock of the decision. `*len` is the length of what is written; with `TOO_SMALL`, of what would be.
//
// # Safety
// As many bytes as are said can be read, or written, at each pointer; an evaluation can be read at `evaluation`, and a
// `size_t` written at `len`.
LabkitRatelimitStatus labkit_ratelimit_headers(uint32_t format,
                                               const uint8_t *rule,
                                               size_t rule_len,
                                               const struct LabkitRatelimitEvaluation *evaluation,
                                               uint64_t now_us,
                                               uint8_t *buffer,
                                               size_t buffer_len,
                                               size_t *len);

// Takes what came of the call of `pending`, whose handle ends here, whatever the status; but for a call that another
// limiter planned, which is `BAD_ARGUMENT`, and left as it was.
//
// `kind` 0: `outcome` is the reply of the script, its bytes. 1: it failed with an error of class `error_class`,
// which says `outcome`. 2: the deadline passed. 3: it was never sent, and nobody asks for its
// decision. Of a call that was abandoned, 2 may be told at the deadline, while it is still under way.
//
// The status is as of `labkit_ratelimit_decide` or `labkit_ratelimit_clear`; with `CALL` another call follows, under
// a handle of its own. Of a call that was abandoned, `DONE` comes with no decision.
//
// # Safety
// As many bytes or elements as are said can be read, or written, at each pointer, until the call returns.
LabkitRatelimitStatus labkit_ratelimit_settle(uint64_t limiter,
                                              uint64_t pending,
                                              uint32_t kind,
                                              const uint8_t *error_class,
                                              size_t class_len,
                                              const uint8_t *outcome,
                                              size_t outcome_len,
                                              struct LabkitRatelimitAnswer *answer,
                                              struct LabkitRatelimitEvaluation *evaluations,
                                              size_t evaluations_len,
                                              uint8_t *buffer,
                                              size_t buffer_len);

// Decides the check of `pending` without its reply, whose caller does not wait any longer: as the limiter's `on_error`
// says, with an error of class `error_class` that says `reason`. The handle stays: what comes of the call all the same goes
// to `labkit_ratelimit_settle`, which then only learns whether the store works. Of a clear nothing is decided.
//
// # Safety
// As many bytes or elements as are said can be read, or written, at each pointer, until the call returns.
LabkitRatelimitStatus labkit_ratelimit_abandon(uint64_t limiter,
                                               uint64_t pending,
                                               const uint8_t *error_class,
                                               size_t class_len,
                                               const uint8_t *reason,
                                               size_t reason_len,
                                               struct LabkitRatelimitAnswer *answer,
                                               struct LabkitRatelimitEvaluation *evaluations,
                                               size_t evaluations_len);

// Copies a text into `buffer`, and frees it. `*len` is its length in any case; where `capacity` is less, the status is
// `TOO_SMALL`, nothing is copied, and the text stays.
//
// # Safety
// `capacity` bytes can be written at `buffer`, and a `size_t` at `len`.
LabkitRatelimitStatus labkit_ratelimit_text_take(uint64_t text, uint8_t *buffer, size_t capacity, size_t *len);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* LABKIT_RATELIMIT_H */
