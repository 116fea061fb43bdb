package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	ratelimit "gitlab.com/gitlab-org/labkit-ratelimit/go"
)

// errUntyped: Go's types do not hold it, so that no program can hand it over but as JSON.
var errUntyped = errors.New("untyped")

// rule is a rule of a scenario: as Go code writes it; or as JSON, where it could not be written so.
func rule(text json.RawMessage) (ratelimit.Rule, error) {
	var fields map[string]any
	if decode(text, &fields) != nil {
		return ratelimit.RuleFromJSON(text), nil
	}
	var rule ratelimit.Rule
	err := typed(fields, &rule)
	if errors.Is(err, errUntyped) {
		return ratelimit.RuleFromJSON(text), nil
	}
	return rule, err
}

func typed(fields map[string]any, rule *ratelimit.Rule) (err error) {
	for name, field := range fields {
		switch name {
		case "name":
			err = assign(field, &rule.Name)
		case "action":
			err = assign(field, (*string)(&rule.Action))
		case "description":
			err = assign(field, &rule.Description)
		case "count_distinct":
			err = assign(field, &rule.CountDistinct)
		case "algorithm":
			err = assign(field, (*string)(&rule.Algorithm))
		case "final":
			err = assign(field, &rule.Final)
		case "match":
			rule.Match, err = match(field)
		case "characteristics":
			rule.Characteristics, err = listOf(field, func(item any, word *string) error { return assign(item, word) })
		case "overrides":
			rule.Overrides, err = listOf(field, override)
		case "limit":
			rule.LimitFunc, err = function(field, func(n uint64) { rule.Limit = n })
		case "period_s":
			rule.PeriodFunc, err = function(field, func(n uint64) { rule.Period = time.Duration(n) * time.Second })
		case "ban_for_s":
			rule.BanForFunc, err = function(field, func(n uint64) { rule.BanFor = time.Duration(n) * time.Second })
		case "burst":
			err = count(field, func(n uint64) { rule.Burst = n })
		default:
			err = errUntyped
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func override(given any, override *ratelimit.Override) (err error) {
	fields, ok := given.(map[string]any)
	if !ok {
		return errUntyped
	}
	for name, field := range fields {
		switch name {
		case "match":
			override.Match, err = match(field)
		case "limit":
			err = count(field, func(n uint64) { override.Limit = n })
		case "period_s":
			err = count(field, func(n uint64) { override.Period = time.Duration(n) * time.Second })
		case "ban_for_s":
			err = count(field, func(n uint64) { override.BanFor = time.Duration(n) * time.Second })
		case "burst":
			err = count(field, func(n uint64) { override.Burst = n })
		default:
			err = errUntyped
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func assign[T any](given any, to *T) error {
	value, ok := given.(T)
	if !ok {
		return errUntyped
	}
	*to = value
	return nil
}

func listOf[T any](given any, read func(any, *T) error) ([]T, error) {
	items, ok := given.([]any)
	if !ok {
		return nil, errUntyped
	}
	list := make([]T, len(items))
	for at := range items {
		if err := read(items[at], &list[at]); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// count is a number that Go's zero values leave room for, and durations too.
func count(given any, set func(uint64)) error {
	written, ok := given.(json.Number)
	if !ok {
		return errUntyped
	}
	switch n, err := number(written); n := n.(type) {
	case int64:
		if n < 1 || n > 1<<53 {
			return errUntyped
		}
		set(uint64(n))
		return err
	default:
		return errUntyped
	}
}

// function is the callable of one parameter that a map stands for; any other number goes to set.
func function(given any, set func(uint64)) (ratelimit.NumberFunc, error) {
	fields, ok := given.(map[string]any)
	if !ok {
		if given == nil {
			return nil, nil
		}
		return nil, count(given, set)
	}
	if text, ok := fields["raise"].(string); ok && len(fields) == 1 {
		return func(any) (any, error) { return nil, errors.New(text) }, nil
	}
	name, ok := fields["context"].(string)
	if !ok || refuseUnknown(fields, "callable", "context", "default") != nil {
		return nil, errUntyped
	}
	otherwise, err := value(fields["default"])
	if err != nil {
		return nil, err
	}
	return func(context any) (any, error) {
		values, _ := context.(map[string]any)
		if given, ok := values[name]; ok {
			return given, nil
		}
		return otherwise, nil
	}, nil
}

func match(given any) (map[string]any, error) {
	fields, ok := given.(map[string]any)
	if !ok {
		return nil, errUntyped
	}
	matchers := make(map[string]any, len(fields))
	for property, field := range fields {
		written, err := value(field)
		if err != nil {
			return nil, fmt.Errorf("match.%s: %w", property, err)
		}
		matchers[property] = matcher(written)
	}
	return matchers, nil
}

// matcher is a matcher as Go code writes it, where it can; else the tree goes to the library as it is.
func matcher(given any) any {
	switch given := given.(type) {
	case []any:
		all := make([]any, len(given))
		for at := range given {
			all[at] = matcher(given[at])
		}
		return ratelimit.All(all...)
	case map[string]any:
		if len(given) != 1 {
			return given
		}
		for marker, operand := range given {
			if made, ok := made(marker, operand); ok {
				return made
			}
		}
	}
	return given
}

func made(marker string, operand any) (any, bool) {
	text, isText := operand.(string)
	list, isList := operand.([]any)
	switch {
	case marker == "eq":
		return ratelimit.Eq(operand), true
	case marker == "ne":
		return ratelimit.NotEq(operand), true
	case marker == "not":
		return ratelimit.Not(matcher(operand)), true
	case marker == "regex" && isText:
		return ratelimit.Regex(text), true
	case marker == "nre" && isText:
		return ratelimit.NotRegex(text), true
	case marker == "prefix" && isText:
		return ratelimit.Prefix(text), true
	case marker == "cidr" && isText:
		return ratelimit.CIDR(text), true
	case (marker == "one_of" || marker == "oneOf") && isList:
		return ratelimit.OneOf(list...), true
	case (marker == "none_of" || marker == "noneOf") && isList:
		return ratelimit.NoneOf(list...), true
	}
	return nil, false
}
