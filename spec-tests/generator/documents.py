"""Random scenarios whose rules stand in documents: chains as in code, handed over another way."""

from random import Random
from typing import Any

from generator import grid, identifiers, rules

SHARE = 0.25
ONLY_FILES = {"name": "only_files", "action": "skip"}


def dressed(scenario: dict[str, Any], seed: int) -> dict[str, Any]:
    """In: a scenario with rules of code, and its seed. Out: for one seed in four, its rules in documents, or documents above them; else as it is.

    Draws from a stream of its own: what a seed makes without documents does not hang on this file.
    """
    random = Random(f"documents {seed}")
    if random.random() >= SHARE:
        return scenario
    if "expect_build_error" in scenario:
        return _broken(random, scenario)
    kinds = (_in_a_contract, _in_a_contract_below_files, _below_a_contract_and_files, _below_files)
    while not grid.keeps_away(made := random.choice(kinds)(random, scenario)):
        pass
    return made


def properties_of(rule: dict[str, Any]) -> set[str]:
    """In: a rule. Out: the properties that it looks at; of a skip rule those of its match."""
    matches = [rule.get("match", {})]
    named: set[str] = set()
    if rule["action"] != "skip":
        matches += [other["match"] for other in rule.get("overrides", [])]
        named = {*rule.get("characteristics", []), rule.get("count_distinct", "")} - {""}
    return named.union(*matches)


def plain(random: Random, rule: dict[str, Any]) -> dict[str, Any]:
    """In: a rule of code. Out: it as a document can hold it: numbers for callables, text for bytes."""
    made: dict[str, Any] = _without_bytes(rule)
    for field, usual in rules.usual(rule).items():
        if isinstance(made.get(field), dict):
            made[field] = made[field].get("default") or random.choice(usual)
    return made


def _in_a_contract(random: Random, scenario: dict[str, Any]) -> dict[str, Any]:
    """The same chain as default rules."""
    made = {key: value for key, value in scenario.items() if key != "rules"}
    return _with_contract(random, made, default_rules=[plain(random, rule) for rule in scenario["rules"]])


def _in_a_contract_below_files(random: Random, scenario: dict[str, Any]) -> dict[str, Any]:
    """The same chain as default rules, with files above it."""
    return _with_files(random, _in_a_contract(random, scenario), _files(random, scenario["rules"]))


def _below_a_contract_and_files(random: Random, scenario: dict[str, Any]) -> dict[str, Any]:
    """The same chain in code, a contract without default rules, files above it."""
    return _with_files(random, _with_contract(random, scenario), _files(random, scenario["rules"]))


def _below_files(random: Random, scenario: dict[str, Any]) -> dict[str, Any]:
    """The same chain in code, files above it, no contract: no skips, and no property that the code does not mention."""
    mentioned = set[str]().union(*map(properties_of, scenario["rules"]))
    files = _files(random, scenario["rules"])
    fitting = [[rule for rule in file if rule["action"] != "skip" and properties_of(rule) <= mentioned] for file in files]
    return _with_files(random, scenario, fitting)


def _broken(random: Random, scenario: dict[str, Any]) -> dict[str, Any]:
    """The rules with their one mistake, in a contract or in a file."""
    *good, bad = scenario["rules"]
    chain = [*(plain(random, rule) for rule in good), bad]
    made = {key: value for key, value in scenario.items() if key != "rules"}
    if bad["action"] == "skip":
        made["expect_build_error"] = {"code": "skip_takes_no_numbers"}
    if random.random() < 0.5:
        return _with_contract(random, made, default_rules=chain)
    return _with_files(random, _with_contract(random, made), [chain])


def _files(random: Random, chain: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """One file's rules, or two files': some with names of the chain, some with a name in both; now and then a trailing skip."""
    files = []
    for _ in range(random.choice((1, 1, 2))):
        names = dict.fromkeys(
            random.choice(chain)["name"] if random.random() < 0.4 else f"f{index}_{random.choice(('user', 'ip'))}"
            for index in range(random.randint(1, 3))
        )
        drawn = [plain(random, rules.rule(random, name)) for name in names]
        files.append([*drawn, ONLY_FILES] if random.random() < 0.15 else drawn)
    return files


def _with_contract(random: Random, scenario: dict[str, Any], **more: Any) -> dict[str, Any]:
    """The scenario with a contract for its limiter; its evaluation stands there or stays an option."""
    spec = {"description": "Random rules.", "available_properties": list(identifiers.PROPERTIES), **more}
    made = dict(scenario)
    options = dict(scenario.get("options", {}))
    if "evaluation" in options and random.random() < 0.5:
        spec["evaluation"] = options.pop("evaluation")
        del made["options"]
        if options:
            made["options"] = options
    contract = {scenario["limiter"]: spec}
    made["available_limiters"] = {"available_limiters": contract} if random.random() < 0.5 else contract
    return made


def _with_files(random: Random, scenario: dict[str, Any], files: list[list[dict[str, Any]]]) -> dict[str, Any]:
    """The scenario with files, in any form; their skips are permitted where there is a contract."""
    made = dict(scenario)
    if contract := scenario.get("available_limiters"):
        limiters = contract.get("available_limiters", contract)
        skips = sorted({rule["name"] for file in files for rule in file if rule["action"] == "skip"})
        limiters[scenario["limiter"]]["allowed_skip_rules"] = skips
    made["rate_limits"] = [_file(random, scenario["limiter"], file) for file in files]
    return made


def _file(random: Random, limiter: str, file: list[dict[str, Any]]) -> dict[str, Any]:
    document: dict[str, Any] = {limiter: {"rules": file} if random.random() < 0.3 else file}
    return {"rate_limits": document} if random.random() < 0.5 else document


def _without_bytes(node: Any) -> Any:
    if isinstance(node, dict):
        return node["$bytes"] if "$bytes" in node else {key: _without_bytes(value) for key, value in node.items()}
    return [_without_bytes(entry) for entry in node] if isinstance(node, list) else node
