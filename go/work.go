package ratelimit

import (
	"sync"

	"gitlab.com/gitlab-org/labkit-ratelimit/go/internal/native"
)

// work is the room that one call needs: what it hands to the core, and where the core answers.
type work struct {
	identifier  []byte
	answers     []byte
	buffer      []byte
	evaluations []native.Evaluation
	answer      native.Answer
	// Whether the core wrote questions or keys into the buffer, in which there are values.
	wrote bool
}

// largest is what is kept of a buffer for the next call: one that was larger was an exception.
const largest = 64 << 10

var works = sync.Pool{New: func() any {
	return &work{buffer: make([]byte, 1024), evaluations: make([]native.Evaluation, 8)}
}}

func newWork() *work {
	return works.Get().(*work)
}

// identify takes the values of an identifier.
func (w *work) identify(id Identifier, properties []string) {
	clear(w.identifier)
	w.identifier = id.appendTo(w.identifier[:0], properties)
}

// done gives the room back, without the values of the identifier: they are nobody's after the call.
func (w *work) done() {
	clear(w.identifier)
	w.identifier = w.identifier[:0]
	if w.wrote {
		clear(w.buffer)
		w.wrote = false
	}
	if cap(w.identifier) > largest || cap(w.answers) > largest || len(w.buffer) > largest {
		return
	}
	w.answers = w.answers[:0]
	works.Put(w)
}

// fit makes room for the evaluations of as many rules.
func (w *work) fit(rules int) {
	if len(w.evaluations) < rules {
		w.evaluations = make([]native.Evaluation, rules)
	}
}

// grow makes the buffer as large as the core said that it must be.
func (w *work) grow() {
	w.buffer = make([]byte, w.answer.Len)
}
