package clearance

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"git-checkpoint/internal/core/checkpoint"
)

// This file names the member of a record in which a finding is.

// recordFile is the name of the record in its commit; see package store.
const recordFile = "checkpoint.json"

// inRecord names the member of a checkpoint's record in which a finding is, for a message, or
// returns "".
func inRecord(ctx context.Context, s *checkpoint.Service, f Found, label string) string {
	blob, err := s.Repo.Objects.Batch().Typed(ctx, string(f.OID), "blob")
	if err != nil {
		return ""
	}
	member := memberAt(blob.Data, f.Line)
	if state, is := strings.CutPrefix(member, "state."); is {
		return fmt.Sprintf("%s in the state of %s", inOneLine(state), label)
	}
	return fmt.Sprintf("%s in the record of %s", inOneLine(member), label)
}

// memberAt returns the path of the member with the first value on a line of JSON or below, such
// as state.build.key.
func memberAt(text []byte, line int) string {
	type level struct {
		names bool // an object
		name  string
		index int
		value bool // the next token of an object is a value
	}
	var levels []*level
	values := json.NewDecoder(bytes.NewReader(text))
	for {
		token, err := values.Token()
		if err != nil {
			return "something"
		}
		if token == json.Delim('}') || token == json.Delim(']') {
			levels = levels[:len(levels)-1]
			continue
		}
		if len(levels) > 0 {
			switch top := levels[len(levels)-1]; {
			case !top.names:
				top.name = strconv.Itoa(top.index)
				top.index++
			case !top.value:
				top.name, _ = token.(string)
				top.value = true
				continue
			default:
				top.value = false
			}
		}
		if delim, is := token.(json.Delim); is {
			levels = append(levels, &level{names: delim == '{'})
			continue
		}
		if 1+bytes.Count(text[:values.InputOffset()], []byte{'\n'}) >= line {
			var path []string
			for _, one := range levels {
				path = append(path, one.name)
			}
			return strings.Join(path, ".")
		}
	}
}
