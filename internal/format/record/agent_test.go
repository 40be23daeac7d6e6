package record

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

// The member agent reads back as it was set, and its length is limited. A malformed member counts
// as none.
func TestAgent(t *testing.T) {
	want := Agent{Name: "claude", Model: "m", Session: "é<>&", Tool: "Edit", Event: "PostToolUse", Paths: map[string]string{"a": Named}, Whole: &Whole{Paths: map[string]string{"b": "claude-1"}}}
	r := &Record{}
	if err := r.SetAgent(want); err != nil {
		t.Fatal(err)
	}
	if got, is := r.Agent(); !is || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v", got, is)
	}
	if err := r.SetAgent(Agent{Name: "x", Tool: strings.Repeat("a", 257)}); err == nil {
		t.Error("257 characters were taken")
	}
	if err := r.SetAgent(Agent{Name: "\xff"}); err == nil {
		t.Error("invalid UTF-8 was taken")
	}
	for _, raw := range []string{`"x"`, `{}`, `null`, `{"name":1}`, `[`} {
		r.Extra[string(memberAgent)] = json.RawMessage(raw)
		if got, is := r.Agent(); is {
			t.Errorf("%s is %+v", raw, got)
		}
	}
}
