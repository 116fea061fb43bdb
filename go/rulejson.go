package ratelimit

import (
	"encoding/hex"
	"encoding/json"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"
)

// ruleWriter writes rules as the core reads them. What only Go can run stays here, and its number goes to the core.
type ruleWriter struct {
	functions []NumberFunc
	patterns  []*regexp.Regexp
	// What is wrong and the core cannot see.
	findings []object
	// Of the client.
	punctual bool
	turns    turns
	// Lists and maps around the matcher in hand, and in it.
	around   []uintptr
	branches int
}

func (w *ruleWriter) found(code, path, message string) {
	w.findings = append(w.findings, object{"code": code, "path": path, "message": message})
}

// object is a JSON object without what is not given.
type object map[string]any

func (o object) put(field string, value any, given bool) {
	if given {
		o[field] = value
	}
}

func (w *ruleWriter) rules(rules []Rule) []any {
	written := make([]any, len(rules))
	for at := range rules {
		path := "rules[" + strconv.Itoa(at) + "]"
		if rule := &rules[at]; rule.raw != nil {
			written[at] = w.raw(rule.raw, path)
		} else {
			w.twice(path+".limit", rule.Limit != 0, rule.LimitFunc)
			w.twice(path+".period_s", rule.Period != 0, rule.PeriodFunc)
			w.twice(path+".ban_for_s", rule.BanFor != 0, rule.BanForFunc)
			written[at] = w.rule(rule)
		}
	}
	return written
}

// twice finds a number that is given, and by a function too.
func (w *ruleWriter) twice(path string, given bool, function NumberFunc) {
	if given && function != nil {
		w.found("duplicate_key", path, "the number stands here twice: as it is, and by a function")
	}
}

func (w *ruleWriter) rule(rule *Rule) any {
	written := object{"name": rule.Name}
	written.put("action", rule.Action, rule.Action != "")
	written.put("match", w.match(rule.Match), len(rule.Match) > 0)
	written.put("characteristics", rule.Characteristics, len(rule.Characteristics) > 0)
	written.put("limit", w.number(rule.Limit, rule.LimitFunc), rule.Limit != 0 || rule.LimitFunc != nil)
	written.put("period_s", w.number(seconds(rule.Period), rule.PeriodFunc), rule.Period != 0 || rule.PeriodFunc != nil)
	written.put("ban_for_s", w.number(seconds(rule.BanFor), rule.BanForFunc), rule.BanFor != 0 || rule.BanForFunc != nil)
	written.put("count_distinct", rule.CountDistinct, rule.CountDistinct != "")
	written.put("algorithm", rule.Algorithm, rule.Algorithm != "")
	written.put("burst", rule.Burst, rule.Burst != 0)
	written.put("final", true, rule.Final)
	written.put("description", rule.Description, rule.Description != "")
	overrides := make([]any, len(rule.Overrides))
	for at := range rule.Overrides {
		overrides[at] = w.override(&rule.Overrides[at])
	}
	written.put("overrides", overrides, len(overrides) > 0)
	return written
}

func (w *ruleWriter) override(override *Override) any {
	written := object{"match": w.match(override.Match)}
	written.put("limit", override.Limit, override.Limit != 0)
	written.put("period_s", seconds(override.Period), override.Period != 0)
	written.put("ban_for_s", seconds(override.BanFor), override.BanFor != 0)
	written.put("burst", override.Burst, override.Burst != 0)
	return written
}

func (w *ruleWriter) number(fixed any, function NumberFunc) any {
	if function == nil {
		return fixed
	}
	w.functions = append(w.functions, function)
	return object{"$call": len(w.functions) - 1}
}

// seconds is a number of them: an integer where they are whole.
func seconds(d time.Duration) any {
	if d%time.Second == 0 {
		return int64(d / time.Second)
	}
	return d.Seconds()
}

func (w *ruleWriter) match(matchers map[string]any) object {
	written := make(object, len(matchers))
	for property, matcher := range matchers {
		w.branches = 0
		written[property] = w.matcher(matcher, 0)
	}
	return written
}

const (
	// deepest is beyond what the core takes, and short of what a list that holds itself would take.
	deepest = 64
	// mostBranches is how many lists and maps one matcher may have. One that is there many times counts each time, and
	// a few that hold one another have no end that anybody would wait for.
	mostBranches = 1 << 13
)

func (w *ruleWriter) matcher(given any, depth int) any {
	if depth > deepest {
		return []any{}
	}
	switch given := given.(type) {
	case Matcher:
		operand := w.matcher(given.operand, depth+1)
		if given.marker == "" {
			return operand
		}
		return object{given.marker: operand}
	case *regexp.Regexp:
		if given == nil {
			return nil
		}
		w.patterns = append(w.patterns, given)
		return object{"$pattern": len(w.patterns) - 1}
	case []byte:
		return textOrBytes(given)
	}
	value := reflect.ValueOf(given)
	if kind := value.Kind(); (kind == reflect.Slice || kind == reflect.Map) && value.Len() > 0 {
		// One that holds itself has no end, and where it does so twice, no depth is small enough.
		if slices.Contains(w.around, value.Pointer()) {
			return object{"$bad": kindOf(value) + " that holds itself"}
		}
		if w.branches++; w.branches > mostBranches {
			return object{"$bad": "more lists and maps than anybody needs"}
		}
		w.around = append(w.around, value.Pointer())
		defer func() { w.around = w.around[:len(w.around)-1] }()
	}
	switch value.Kind() {
	case reflect.Slice, reflect.Array:
		if _, ok, _ := textOf(value); ok || isBytes(value) {
			return w.scalar(given)
		}
		list := make([]any, value.Len())
		for at := range list {
			list[at] = w.matcher(value.Index(at).Interface(), depth+1)
		}
		return list
	case reflect.Map:
		if value.Type().Key().Kind() != reflect.String {
			return w.scalar(given)
		}
		marked := make(object, value.Len())
		for pair := value.MapRange(); pair.Next(); {
			marker := pair.Key().String()
			if marker != "" && marker[0] == '$' {
				return object{"$bad": "a map with the key " + marker}
			}
			marked[marker] = w.matcher(pair.Value().Interface(), depth+1)
		}
		return marked
	default:
		return w.scalar(given)
	}
}

// scalar is a value as identifiers have it: read the way they are, so that both mean the same.
func (w *ruleWriter) scalar(given any) any {
	value, what := scalarOf(given)
	if what != "" {
		return object{"$bad": what}
	}
	switch value := value.(type) {
	case float64:
		switch {
		case math.IsNaN(value):
			return object{"$float": "nan"}
		case math.IsInf(value, 0):
			return object{"$float": "inf"}
		}
		// With an exponent it is no integer, however large: one beyond 64 bits would be a text.
		return json.RawMessage(strconv.FormatFloat(value, 'e', -1, 64))
	case []byte:
		return textOrBytes(value)
	default:
		return value
	}
}

// textOrBytes is bytes as JSON can say them.
func textOrBytes(bytes []byte) any {
	if utf8.Valid(bytes) {
		return string(bytes)
	}
	return object{"$bytes": hex.EncodeToString(bytes)}
}
