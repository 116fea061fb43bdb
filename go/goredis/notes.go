package goredis

import (
	"fmt"
	"runtime"
	"sync"
	"weak"

	"github.com/redis/go-redis/v9"
)

// Notes says, once for each client however many limiters share it, that its own time-outs rule the socket: the checks end
// by their deadlines all the same, but a goroutine and a connection are held for longer.
func (c *Client) Notes() []string {
	if minds, known := c.mindsDeadlines(); minds || !known || c.wasNoted() {
		return nil
	}
	return []string{fmt.Sprintf("%T minds no deadline while it reads and writes (its option ContextTimeoutEnabled is off): "+
		"its own time-outs rule the socket, not the limiter's deadline", c.redis)}
}

// noted are the clients of which that was said.
var noted sync.Map

func (c *Client) wasNoted() bool {
	switch client := c.redis.(type) {
	case *redis.Client:
		return wasNoted(client)
	case *redis.ClusterClient:
		return wasNoted(client)
	default:
		return true
	}
}

// wasNoted keeps no client alive, and forgets one that is gone.
func wasNoted[C any](client *C) bool {
	key := weak.Make(client)
	_, was := noted.LoadOrStore(key, true)
	if !was {
		runtime.AddCleanup(client, func(key weak.Pointer[C]) { noted.Delete(key) }, key)
	}
	return was
}
