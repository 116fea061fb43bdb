package native

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const root = "../../.."

// sources is what bindings/c/build.rs hashes.
var sources = []string{"Cargo.lock", "Cargo.toml", "bindings/c", "core/documents", "core/engine", "core/limiter", "core/store"}

// In the repository a library of older sources must not pass for one of these. (Go's test cache knows the files that a
// test opens.)
func TestTheLibraryIsOfTheseSources(t *testing.T) {
	if _, err := os.Stat(filepath.Join(root, "bindings/c/Cargo.toml")); err != nil {
		t.Skip("not in the repository: the sources are not here")
	}
	var files []string
	for _, source := range sources {
		err := filepath.WalkDir(filepath.Join(root, source), func(path string, entry fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if entry.IsDir() && (entry.Name() == "tests" || entry.Name() == "examples") {
				return fs.SkipDir
			}
			if slices.Contains([]string{".rs", ".lua", ".toml", ".lock"}, filepath.Ext(path)) {
				name, err := filepath.Rel(root, path)
				files = append(files, filepath.ToSlash(name))
				return err
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(files)
	hash := sha256.New()
	for _, name := range files {
		content, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(hash, "%s\x00%d\x00", name, len(content))
		hash.Write(content)
	}
	if of := hex.EncodeToString(hash.Sum(nil)); of != Build() {
		t.Errorf("the library was built from %s, and the sources are %s: run ci/go-library", Build(), of)
	}
}

func TestTheArchiveIsTheOneThatWasStaged(t *testing.T) {
	if err := Verify(); err != nil {
		t.Error(err)
	}
	archives, err := filepath.Glob("*_*/liblabkit_ratelimit_c.a")
	if err != nil || len(archives) == 0 {
		t.Skip("another archive is linked")
	}
	for _, path := range archives {
		archive, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if of := sha256.Sum256(archive); hex.EncodeToString(of[:]) != Archive() {
			t.Errorf("%s is not the one that was staged: run ci/go-library", path)
		}
	}
}

func TestAStaleLibraryIsLoud(t *testing.T) {
	err := verify(strings.Repeat("a", 64), strings.Repeat("b", 64))
	if err == nil || !strings.Contains(err.Error(), "aaaaaaaaaaaa, and bbbbbbbbbbbb were staged") {
		t.Error(err)
	}
}

func TestHandlesThatAreNoneAreTold(t *testing.T) {
	var answer Answer
	if status := Decide(1<<40, 0, Check, 1, nil, nil, &answer, nil, nil); status != UnknownHandle {
		t.Error(status)
	}
	if Free(0) != UnknownHandle || FreeClock(7) != UnknownHandle || Take(99) != nil && len(Take(99)) != 0 {
		t.Error("they passed")
	}
	if status := Settle(0, 12345, Reply, "", "", &answer, nil, nil); status != UnknownHandle {
		t.Error(status)
	}
	if _, _, status := New([]byte("{")); status != BadArgument {
		t.Error(status)
	}
}

// Without cgo there is no library, and the compiler's first word says so.
func TestWithoutCgoTheCompilerSaysWhatToDo(t *testing.T) {
	command := exec.Command("go", "build", ".")
	command.Env = append(os.Environ(), "CGO_ENABLED=0")
	said, err := command.CombinedOutput()
	if err == nil || !strings.Contains(string(said), "labkit_ratelimit_needs_cgo__set_CGO_ENABLED_to_1_and_have_a_C_compiler") {
		t.Errorf("%v: %s", err, said)
	}
}
