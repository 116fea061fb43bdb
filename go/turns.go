package ratelimit

import "context"

// turns are those of calls that a client runs at once. Who has none waits here: in the client's pool it would be before
// whatever else the host asks of Redis, with a goroutine and a context that are of no use yet. No turns: nobody waits.
type turns chan struct{}

// turnsOf are as many as a pool has connections; 0 where nobody knows.
func turnsOf(poolSize int) turns {
	if poolSize <= 0 {
		return nil
	}
	return make(turns, poolSize)
}

// take waits for a turn; false where it did not come before the alarm, or the end of ctx.
func (t turns) take(ctx context.Context, rung <-chan struct{}) bool {
	if t == nil {
		return true
	}
	select {
	case t <- struct{}{}:
		return true
	default:
	}
	select {
	case t <- struct{}{}:
		return true
	case <-rung:
		return false
	case <-ctx.Done():
		return false
	}
}

// pass gives a turn to who waits longest.
func (t turns) pass() {
	if t != nil {
		<-t
	}
}
