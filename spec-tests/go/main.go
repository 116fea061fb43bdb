// Command go runs conformance scenarios with the Go module and prints what came back: see spec-tests/PROTOCOL.md.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"

	ratelimit "gitlab.com/gitlab-org/labkit-ratelimit/go"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	store := flag.String("store", "", "memory, redis or cluster")
	single := flag.String("redis", "", "HOST:PORT")
	cluster := flag.String("cluster", "", "HOST:PORT,...: every master")
	flag.Parse()
	var backend *backend
	switch *store {
	case "memory":
	case "redis":
		backend = newBackend([]string{*single}, false)
	case "cluster":
		backend = newBackend(strings.Split(*cluster, ","), true)
	default:
		return errors.New("give --store memory, --store redis --redis HOST:PORT or --store cluster --cluster HOST:PORT,HOST:PORT")
	}
	out := bufio.NewWriter(os.Stdout)
	defer func() { _ = out.Flush() }()
	lines := json.NewEncoder(out)
	lines.SetEscapeHTML(false)
	print := func(line any) error { return lines.Encode(line) }
	runner := map[string]any{"language": "go", "version": ratelimit.LibraryVersion(), "store": *store}
	if err := print(map[string]any{"runner": runner}); err != nil {
		return err
	}
	done := 0
	for _, file := range flag.Args() {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		var scenarios []map[string]json.RawMessage
		if err := json.Unmarshal(text, &scenarios); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		for _, data := range scenarios {
			scenario, err := newScenario(data, backend)
			if err == nil && !scenario.runsOn(*store) {
				continue
			}
			if err == nil {
				err = scenario.run(func(step int, op string, actual any) error {
					return print(map[string]any{"scenario": scenario.Name, "step": step, "op": op, "actual": actual})
				})
			}
			if err != nil {
				return fmt.Errorf("%s: %s: %w", file, data["name"], err)
			}
			done++
		}
	}
	return print(map[string]any{"done": done})
}
