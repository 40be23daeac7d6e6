package workflow

import (
	"cmp"
	"embed"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"sync"
)

//go:embed definitions/*.json
var definitions embed.FS

// DefaultName is the definition of sessions that were started without a workflow.
const DefaultName = "default"

// AgentName is the definition of sessions that an agent's hooks start.
const AgentName = "agent"

// Names returns the names of the built-in definitions, sorted.
func Names() []string {
	entries, err := definitions.ReadDir("definitions")
	if err != nil {
		return nil
	}
	names := make([]string, len(entries))
	for i, entry := range entries {
		names[i] = strings.TrimSuffix(entry.Name(), ".json")
	}
	slices.Sort(names)
	return names
}

// builtins keeps what Builtin returned, by name.
var builtins sync.Map

// Builtin returns a built-in definition; ok is false if there is none with that name. Unlike Parse
// it does not verify the definition or compile its expressions, because every start of the program
// pays for this. A test verifies that all built-in definitions are correct.
func Builtin(name string) (d *Definition, ok bool) {
	if kept, ok := builtins.Load(name); ok {
		return kept.(*Definition), true
	}
	data, err := definitions.ReadFile("definitions/" + name + ".json")
	if err != nil {
		return nil, false
	}
	value, err := decode(data, maxDefinitionSize)
	if err != nil {
		return nil, false
	}
	var found problems
	d = &Definition{source: data}
	assign(value, reflect.ValueOf(d).Elem(), "", &found)
	builtins.Store(name, d)
	return d, len(found) == 0
}

// Default returns the definition that applies without a workflow.
func Default() *Definition {
	d, _ := Builtin(DefaultName)
	return d
}

// Origin returns the name of the built-in definition that has the same document layout as d, or "".
// It recognises a renamed copy of a built-in definition, whatever else was changed in it.
func (d *Definition) Origin() string {
	same := func(b *Definition) bool {
		return reflect.DeepEqual(b.Document, d.Document) && reflect.DeepEqual(b.State.Members, d.State.Members)
	}
	if same(Default()) {
		return "" // it has no documents of its own
	}
	for _, n := range Names() {
		if b, ok := Builtin(n); ok && same(b) {
			return n
		}
	}
	return ""
}

// JSON returns the text of the definition as it was written.
func (d *Definition) JSON() json.RawMessage { return slices.Clone(d.source) }

// Branch returns the name of the branch that `session start --branch` creates for a session.
func (d *Definition) Branch(session string) string {
	source := cmp.Or(d.Session.Branch, "{workflow}/{session}")
	return d.evaluatorOver(sessionScope(), map[string]any{"workflow": d.Name, "session": session}).fill(source)
}
