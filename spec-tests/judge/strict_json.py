"""JSON as scenarios and runners may write it: nothing that two parsers could read differently."""

import json
import math
from typing import Any

INTEGERS = range(-(2**63), 2**64)


class BadJson(ValueError):
    """The text is not strict JSON; the message says where and why."""


def parse(text: str) -> Any:
    """In: JSON text. Out: its value; integers are `int`, every other number `float`. Raises BadJson.

    Refused: an object that holds one key twice, NaN and Infinity as bare words, integers beyond 64 bits, doubles that overflow.
    """
    try:
        return json.loads(text, object_pairs_hook=_object, parse_constant=_constant, parse_int=_integer, parse_float=_double)
    except json.JSONDecodeError as error:
        raise BadJson(f"line {error.lineno}, column {error.colno}: {error.msg}") from error
    except RecursionError as error:
        raise BadJson("nested too deeply") from error


def write(value: Any) -> str:
    """In: a value. Out: one line of JSON, keys in their own order."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members: dict[str, Any] = {}
    for key, value in pairs:
        if key in members:
            raise BadJson(f"the key {json.dumps(key)} stands twice in one object: remove one")
        members[key] = value
    return members


def _constant(word: str) -> Any:
    raise BadJson(f'{word} is not JSON: write {{"$float": "nan"}} or {{"$float": "inf"}}')


def _integer(digits: str) -> int:
    if len(digits) > 20 or int(digits) not in INTEGERS:
        raise BadJson(f"the integer {digits[:40]} is beyond 64 bits")
    return int(digits)


def _double(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise BadJson(f'the number {digits} overflows a double: write {{"$float": "inf"}}')
    return number
