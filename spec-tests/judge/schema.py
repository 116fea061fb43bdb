"""JSON Schema 2020-12, the part of it that `schema.json` uses.

A keyword this file does not know is an error of the schema, so the schema cannot promise more than is checked.
Stricter than the standard in one point, as scenarios are: `5.0` is a number, not an integer.
"""

import re
from collections.abc import Callable, Iterator
from typing import Any

from judge.strict_json import write

Finding = tuple[str, str]
"""A path (`[3].steps[0].check`) and what is wrong there."""

ANNOTATIONS = {"$schema", "title", "description", "$defs"}
TYPES: dict[str, Callable[[Any], bool]] = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
}


class Schema:
    """In: a parsed schema. `check(value)` gives the findings, an empty list if the value fits."""

    def __init__(self, root: dict[str, Any]) -> None:
        self.root = root

    def check(self, value: Any) -> list[Finding]:
        return list(self._check(self.root, value, ""))

    def _check(self, schema: Any, value: Any, path: str) -> Iterator[Finding]:
        if schema is True:
            return
        if schema is False:
            yield path, "must not be there"
            return
        for keyword, argument in schema.items():
            if keyword in ANNOTATIONS or keyword in {"then", "else"}:
                continue
            handler = KEYWORDS.get(keyword)
            if handler is None:
                raise ValueError(f"schema.json uses the keyword {keyword!r}, which judge/schema.py does not know: add it there")
            yield from handler(self, schema, argument, value, path)

    def _fits(self, schema: Any, value: Any) -> bool:
        return next(self._check(schema, value, ""), None) is None

    def _ref(self, _schema: Any, target: str, value: Any, path: str) -> Iterator[Finding]:
        yield from self._check(self.root["$defs"][target.removeprefix("#/$defs/")], value, path)

    def _type(self, _schema: Any, names: str | list[str], value: Any, path: str) -> Iterator[Finding]:
        names = [names] if isinstance(names, str) else names
        if not any(TYPES[name](value) for name in names):
            yield path, f"must be {' or '.join(names)}, is {_shown(value)}"

    def _enum(self, _schema: Any, members: list[Any], value: Any, path: str) -> Iterator[Finding]:
        if not any(_same(member, value) for member in members):
            yield path, f"must be one of {', '.join(map(write, members))}, is {_shown(value)}"

    def _const(self, _schema: Any, member: Any, value: Any, path: str) -> Iterator[Finding]:
        if not _same(member, value):
            yield path, f"must be {write(member)}, is {_shown(value)}"

    def _not(self, _schema: Any, inner: Any, value: Any, path: str) -> Iterator[Finding]:
        if self._fits(inner, value):
            yield path, f"must not fit {write(inner)}"

    def _any_of(self, _schema: Any, choices: list[Any], value: Any, path: str) -> Iterator[Finding]:
        if not any(self._fits(choice, value) for choice in choices):
            yield path, f"{_shown(value)} fits none of {write(choices)}"

    def _all_of(self, _schema: Any, parts: list[Any], value: Any, path: str) -> Iterator[Finding]:
        for part in parts:
            yield from self._check(part, value, path)

    def _if(self, schema: Any, condition: Any, value: Any, path: str) -> Iterator[Finding]:
        branch = "then" if self._fits(condition, value) else "else"
        yield from self._check(schema.get(branch, True), value, path)

    def _required(self, _schema: Any, names: list[str], value: Any, path: str) -> Iterator[Finding]:
        if isinstance(value, dict):
            for name in names:
                if name not in value:
                    yield path, f"the field {name!r} is missing"

    def _properties(self, _schema: Any, properties: dict[str, Any], value: Any, path: str) -> Iterator[Finding]:
        if isinstance(value, dict):
            for name, inner in properties.items():
                if name in value:
                    yield from self._check(inner, value[name], _member(path, name))

    def _additional(self, schema: Any, inner: Any, value: Any, path: str) -> Iterator[Finding]:
        if isinstance(value, dict):
            known = schema.get("properties", {})
            for name in value:
                if name in known:
                    continue
                if inner is False:
                    yield _member(path, name), f"unknown field; known here: {', '.join(known) or 'none'}"
                else:
                    yield from self._check(inner, value[name], _member(path, name))

    def _property_names(self, _schema: Any, inner: Any, value: Any, path: str) -> Iterator[Finding]:
        if isinstance(value, dict):
            for name in value:
                yield from self._check(inner, name, _member(path, name))

    def _items(self, _schema: Any, inner: Any, value: Any, path: str) -> Iterator[Finding]:
        if isinstance(value, list):
            for index, item in enumerate(value):
                yield from self._check(inner, item, f"{path}[{index}]")

    def _unique(self, _schema: Any, wanted: bool, value: Any, path: str) -> Iterator[Finding]:
        if wanted and isinstance(value, list) and any(_same(a, b) for i, a in enumerate(value) for b in value[:i]):
            yield path, "holds one item twice"

    def _pattern(self, _schema: Any, pattern: str, value: Any, path: str) -> Iterator[Finding]:
        # In ECMAScript `$` is the end of the text alone; Python's would also stand before a last newline.
        if isinstance(value, str) and not re.search(re.sub(r"\$\Z", r"\\Z", pattern), value):
            yield path, f"{write(value)} does not match {pattern}"

    def _minimum(self, _schema: Any, least: float, value: Any, path: str) -> Iterator[Finding]:
        if TYPES["number"](value) and value < least:
            yield path, f"must be at least {least}, is {value}"

    def _min_length(self, _schema: Any, least: int, value: Any, path: str) -> Iterator[Finding]:
        if isinstance(value, str) and len(value) < least:
            yield path, "must not be empty" if least == 1 else f"must have at least {least} characters"

    def _min_items(self, _schema: Any, least: int, value: Any, path: str) -> Iterator[Finding]:
        if isinstance(value, list) and len(value) < least:
            yield path, f"must have at least {least} item(s)"

    def _min_properties(self, _schema: Any, least: int, value: Any, path: str) -> Iterator[Finding]:
        if isinstance(value, dict) and len(value) < least:
            yield path, f"must have at least {least} field(s)"

    def _max_properties(self, _schema: Any, most: int, value: Any, path: str) -> Iterator[Finding]:
        if isinstance(value, dict) and len(value) > most:
            yield path, f"must have at most {most} field(s)"


KEYWORDS: dict[str, Callable[..., Iterator[Finding]]] = {
    "$ref": Schema._ref,
    "type": Schema._type,
    "enum": Schema._enum,
    "const": Schema._const,
    "not": Schema._not,
    "anyOf": Schema._any_of,
    "allOf": Schema._all_of,
    "if": Schema._if,
    "required": Schema._required,
    "properties": Schema._properties,
    "additionalProperties": Schema._additional,
    "propertyNames": Schema._property_names,
    "items": Schema._items,
    "uniqueItems": Schema._unique,
    "pattern": Schema._pattern,
    "minimum": Schema._minimum,
    "minLength": Schema._min_length,
    "minItems": Schema._min_items,
    "minProperties": Schema._min_properties,
    "maxProperties": Schema._max_properties,
}


def _same(left: Any, right: Any) -> bool:
    return isinstance(left, bool) == isinstance(right, bool) and left == right


def _member(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _shown(value: Any) -> str:
    text = write(value)
    return text if len(text) <= 80 else text[:77] + "..."
