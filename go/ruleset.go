package ratelimit

// ruleSet is the rules in force at one time, as far as Go must know them.
type ruleSet struct {
	// Serial is the core's number of exactly these rules.
	Serial uint64 `json:"serial"`
	// Properties that they mention, in the order in which the core wants their values.
	Properties []string `json:"properties"`
	Rules      []struct {
		Name string `json:"name"`
	} `json:"rules"`
}

// name of the rule at a place; "" where there is none.
func (s *ruleSet) name(place uint32) string {
	if s == nil || int64(place) >= int64(len(s.Rules)) {
		return ""
	}
	return s.Rules[place].Name
}
