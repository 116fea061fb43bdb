package native

// #include "labkit_ratelimit.h"
import "C"

import (
	"fmt"
	"sync"
	"unsafe"
)

// abi is the number of the header that this package was written for.
const abi = 1

// Verify tells whether the library that was linked is the one that was staged. It is asked before any other call.
var Verify = sync.OnceValue(func() error {
	if linked := uint32(C.labkit_ratelimit_abi_version()); linked != abi {
		return fmt.Errorf("the native library has ABI %d, not %d: run ci/go-library and build with -a", linked, abi)
	}
	return verify(Build(), stagedBuild)
})

func verify(linked, staged string) error {
	if linked != staged {
		return fmt.Errorf("the native library was built from sources %.12s, and %.12s were staged: "+
			"run ci/go-library and build with -a", linked, staged)
	}
	return nil
}

// Version is the library's.
func Version() string {
	return C.GoString(C.labkit_ratelimit_version())
}

// Build is the SHA-256 of the sources that the library was built from.
func Build() string {
	return C.GoString(C.labkit_ratelimit_build_hash())
}

// Archive is the SHA-256 of the archive that was staged.
func Archive() string {
	return stagedArchive
}

// Script is what Redis runs.
type Script struct {
	SHA, Source string
}

// Scripts are known by their numbers.
var Scripts = sync.OnceValue(func() (scripts [2]Script) {
	for at := range scripts {
		var digest, source *C.uint8_t
		var length C.size_t
		if Status(C.labkit_ratelimit_script(C.uint32_t(at), &digest, &source, &length)) == Done {
			// They live for ever: nothing is copied.
			scripts[at] = Script{
				SHA:    unsafe.String((*byte)(digest), 40),
				Source: unsafe.String((*byte)(source), int(length)),
			}
		}
	}
	return scripts
})
