package native

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// sources is what bindings/c/build.rs hashes, and ci/go-release too.
var sources = []string{"Cargo.lock", "Cargo.toml", "bindings/c", "core/documents", "core/engine", "core/limiter", "core/store"}

// repository is its root, by a path that begins with this folder's. Go's test cache looks again at the files below the
// module alone, and goes by how their paths begin: by a clean path a stale library would pass as "(cached)".
func repository(t *testing.T) string {
	t.Helper()
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	return here + "/../../.."
}

// collect appends the Rust, Lua and TOML files of a folder, by paths that are not cleaned.
func collect(t *testing.T, files []string, root, folder string) []string {
	t.Helper()
	if base := filepath.Base(folder); base == "tests" || base == "examples" {
		return files
	}
	entries, err := os.ReadDir(root + "/" + folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		name := folder + "/" + entry.Name()
		if entry.IsDir() {
			files = collect(t, files, root, name)
		} else if isSource(name) {
			files = append(files, name)
		}
	}
	return files
}

func isSource(name string) bool {
	return slices.Contains([]string{".rs", ".lua", ".toml", ".lock"}, filepath.Ext(name))
}

// In the repository a library of older sources must not pass for one of these.
func TestTheLibraryIsOfTheseSources(t *testing.T) {
	root := repository(t)
	if _, err := os.Stat(root + "/bindings/c/Cargo.toml"); err != nil {
		t.Skip("not in the repository: the sources are not here")
	}
	var files []string
	for _, source := range sources {
		if isSource(source) {
			files = append(files, source)
		} else {
			files = collect(t, files, root, source)
		}
	}
	slices.Sort(files)
	hash := sha256.New()
	for _, name := range files {
		content, err := os.ReadFile(root + "/" + name)
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
