// Command oracle says what protovalidate's Go engine thinks of messages.
//
//	oracle schema.binpb < messages
//
// schema.binpb is a FileDescriptorSet with its imports. Each line of the input is a message,
//
//	{"type": "gitlab.ratelimit.config.v1.RateLimits", "message": "<base64 of its bytes>"}
//
// and each line of the output is what is wrong with the message of the same line, nothing if it is valid:
//
//	{"violations": [{"rule_id": "uint64.gte", "path": ["rate_limits", {"key": "a"}, "rules", 0, "limit"], "value": "0"}]}
//
// A name in a path is a field, a number the place in a list, a key one of a map. A value is there where it is an integer.
// Exit 1 if a rule does not compile or cannot be evaluated, if a line cannot be read, or if the set's
// buf/validate/validate.proto is not the one that the engine was built from.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"buf.build/gen/go/bufbuild/protovalidate/protocolbuffers/go/buf/validate"
	"buf.build/go/protovalidate"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"
)

// The longest line: messages are small.
const longestLine = 64 << 20

func main() {
	if err := run(os.Args[1:], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "oracle:", err)
		os.Exit(1)
	}
}

func run(args []string, in io.Reader, out io.Writer) error {
	if len(args) != 1 {
		return errors.New("give one file: a FileDescriptorSet")
	}
	files, err := schema(args[0])
	if err != nil {
		return err
	}
	engine, err := protovalidate.New()
	if err != nil {
		return err
	}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, longestLine)
	written := bufio.NewWriter(out)
	answers := json.NewEncoder(written)
	for n := 1; lines.Scan(); n++ {
		found, err := judge(engine, files, lines.Bytes())
		if err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
		if err := answers.Encode(answer{found}); err != nil {
			return err
		}
	}
	return errors.Join(lines.Err(), written.Flush())
}

func schema(path string) (*protoregistry.Files, error) {
	bytes, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	set := new(descriptorpb.FileDescriptorSet)
	if err := proto.Unmarshal(bytes, set); err != nil {
		return nil, err
	}
	files, err := protodesc.NewFiles(set)
	if err != nil {
		return nil, err
	}
	return files, sameRules(files)
}

// sameRules fails where the schema was written with other annotations than the engine knows.
func sameRules(files *protoregistry.Files) error {
	own := validate.File_buf_validate_validate_proto
	theirs, err := files.FindFileByPath(own.Path())
	if err != nil {
		return err
	}
	if !proto.Equal(bare(own), bare(theirs)) {
		return fmt.Errorf("%s is of another version than the engine's", own.Path())
	}
	return nil
}

// bare is the file without its comments, and without what concerns generated code only.
func bare(file protoreflect.FileDescriptor) *descriptorpb.FileDescriptorProto {
	described := protodesc.ToFileDescriptorProto(file)
	described.SourceCodeInfo = nil
	described.Options = nil
	return described
}

type line struct {
	Type    protoreflect.FullName `json:"type"`
	Message []byte                `json:"message"`
}

type answer struct {
	Violations []violation `json:"violations"`
}

type violation struct {
	RuleID string `json:"rule_id"`
	Path   []any  `json:"path"`
	Value  string `json:"value,omitempty"`
}

type mapKey struct {
	Key string `json:"key"`
}

func judge(engine protovalidate.Validator, files *protoregistry.Files, text []byte) ([]violation, error) {
	var given line
	if err := json.Unmarshal(text, &given); err != nil {
		return nil, err
	}
	found, err := files.FindDescriptorByName(given.Type)
	if err != nil {
		return nil, err
	}
	descriptor, ok := found.(protoreflect.MessageDescriptor)
	if !ok {
		return nil, fmt.Errorf("%s is no message", given.Type)
	}
	message := dynamicpb.NewMessage(descriptor)
	if err := proto.Unmarshal(given.Message, message); err != nil {
		return nil, err
	}
	violations := []violation{}
	err = engine.Validate(message)
	var invalid *protovalidate.ValidationError
	if !errors.As(err, &invalid) {
		return violations, err
	}
	for _, each := range invalid.Violations {
		path, err := place(each.Proto.GetField())
		if err != nil {
			return nil, err
		}
		violations = append(violations, violation{each.Proto.GetRuleId(), path, value(each.FieldValue)})
	}
	return violations, nil
}

func place(path *validate.FieldPath) ([]any, error) {
	steps := []any{}
	for _, element := range path.GetElements() {
		steps = append(steps, element.GetFieldName())
		switch below := element.GetSubscript().(type) {
		case nil:
		case *validate.FieldPathElement_Index:
			steps = append(steps, below.Index)
		case *validate.FieldPathElement_StringKey:
			steps = append(steps, mapKey{below.StringKey})
		default:
			return nil, fmt.Errorf("no map of the schema has keys such as %v", below)
		}
	}
	return steps, nil
}

func value(of protoreflect.Value) string {
	switch plain := of.Interface().(type) {
	case uint32, uint64, int32, int64:
		return fmt.Sprint(plain)
	default:
		return ""
	}
}
