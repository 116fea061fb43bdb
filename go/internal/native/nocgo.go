//go:build !cgo

package native

// The core is a native library: there is no package without cgo. Set CGO_ENABLED=1, and have a C compiler at hand; where one
// compiles for another platform, that is off unless it is set, and CC names the compiler.
var _ = labkit_ratelimit_needs_cgo__set_CGO_ENABLED_to_1_and_have_a_C_compiler
