package workflow

import (
	"embed"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
)

//go:embed definitions/*.json
var definitions embed.FS

// DefaultName is the definition that is used without a workflow.
const DefaultName = "default"

// Names lists the built-in definitions, sorted.
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

// Builtin gives a built-in definition; ok is false when there is none of that
// name. Its expressions are compiled when they are needed, because every start of
// the program pays for this: that all of them are right is a test's business.
func Builtin(name string) (d *Definition, ok bool) {
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
	return d, len(found) == 0
}

// Default is the definition that is used without a workflow.
func Default() *Definition {
	d, ok := Builtin(DefaultName)
	if !ok {
		return &Definition{Name: DefaultName, Version: "1"}
	}
	return d
}

// Origin names the built-in definition whose documents this one's are: a copy under
// another name, whatever else was changed in it. It is "" when there is none.
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

// JSON is the definition as it was written, fit to be renamed and used.
func (d *Definition) JSON() json.RawMessage { return slices.Clone(d.source) }

// Branch names the branch that a session of this workflow may own.
func (d *Definition) Branch(session string) string {
	source := d.Session.Branch
	if source == "" {
		source = "{workflow}/{session}"
	}
	return d.fill(newMeter(), sessionScope(), source, map[string]any{"workflow": d.Name, "session": session})
}
