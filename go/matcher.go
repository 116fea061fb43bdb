package ratelimit

// Matcher is a condition of a rule on one property; Eq and its neighbours make them. Integers and floats compare by
// number, there is no other coercion, and patterns have the syntax of Rust's regex crate in every language.
type Matcher struct {
	marker  string
	operand any
}

// Eq holds for this value: a string, a number, a boolean, or nil for an absent property. A bare value means the same.
func Eq(value any) Matcher {
	return Matcher{"eq", value}
}

// NotEq holds for every other value, also for an absent property.
func NotEq(value any) Matcher {
	return Matcher{"ne", value}
}

// Regex holds where the pattern is found in the text of the value; absent is "". The core runs it, in linear time.
func Regex(pattern string) Matcher {
	return Matcher{"regex", pattern}
}

// NotRegex holds where it is not found, also for an absent property.
func NotRegex(pattern string) Matcher {
	return Matcher{"nre", pattern}
}

// OneOf holds for each of the values.
func OneOf(values ...any) Matcher {
	return Matcher{"one_of", append([]any{}, values...)}
}

// NoneOf holds for every other value, also for an absent property.
func NoneOf(values ...any) Matcher {
	return Matcher{"none_of", append([]any{}, values...)}
}

// Not holds where the matcher does not.
func Not(matcher any) Matcher {
	return Matcher{"not", matcher}
}

// All holds where all of them do. Each is a [Matcher] or a [*regexp.Regexp].
func All(matchers ...any) Matcher {
	return Matcher{"", append([]any{}, matchers...)}
}

// Prefix holds where the text of the value starts with it.
func Prefix(text string) Matcher {
	return Matcher{"prefix", text}
}

// CIDR holds for an IP address inside one of the networks; an IPv4-mapped address is its IPv4 address.
func CIDR(networks ...string) Matcher {
	if len(networks) == 1 {
		return Matcher{"cidr", networks[0]}
	}
	list := make([]any, len(networks))
	for at, network := range networks {
		list[at] = network
	}
	return Matcher{"cidr", list}
}
