package leaks

import (
	"strings"
	"testing"
)

func TestWhatStaysIsFoundUntilItEnds(t *testing.T) {
	letGo := make(chan struct{})
	go func() { <-letGo }()
	if found := left(); !strings.Contains(found, "TestWhatStaysIsFoundUntilItEnds.func1") {
		t.Errorf("it is not in %q", found)
	}
	close(letGo)
	if found := left(); strings.Contains(found, "TestWhatStaysIsFoundUntilItEnds.func1") {
		t.Errorf("it has ended, and is in %q", found)
	}
}
