package ratelimit

// Option is what a call brings beside its identifier.
type Option struct {
	apply uint8
	cost  float64
	value any
}

const (
	setsCost uint8 = iota + 1
	setsContext
)

// Cost is what a check costs: a finite number of 0 or more, kept to 6 decimal places; 1 by default. A check of cost 0
// reads the state and writes nothing. A peek has none.
func Cost(cost float64) Option {
	return Option{apply: setsCost, cost: cost}
}

// Context is a value for the functions of the rules ([NumberFunc]). It is not a [context.Context].
func Context(value any) Option {
	return Option{apply: setsContext, value: value}
}

// request is a call's options together.
type request struct {
	cost  float64
	value any
}

func requestOf(options []Option) request {
	together := request{cost: 1}
	for _, option := range options {
		switch option.apply {
		case setsCost:
			together.cost = option.cost
		case setsContext:
			together.value = option.value
		}
	}
	return together
}
