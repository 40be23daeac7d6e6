package agent

import (
	"regexp"

	"github.com/tidwall/sjson"
)

// HookFor returns the first event with a hook of ours that has this meaning, or "".
func (d *Definition) HookFor(kind Kind) string {
	for _, h := range d.Hooks.Events {
		if d.Events[h.Event].Kind == kind {
			return h.Event
		}
	}
	return ""
}

// Sample returns a payload as the agent sends it, of a conversation in a directory.
func (d *Definition) Sample(session, directory, prompt string) []byte {
	payload := []byte("{}")
	set := func(path, text string) {
		if made, err := sjson.SetBytes(payload, path, text); err == nil {
			payload = made
		}
	}
	// A condition in a path of a payload: the element of a list whose member has a value.
	element := regexp.MustCompile(`#\((\w+)=="(\w+)"\)`)
	setAll := func(paths []string, text string) {
		for _, path := range paths {
			if at := element.FindStringSubmatchIndex(path); at != nil {
				set(path[:at[0]]+"0."+path[at[2]:at[3]], path[at[4]:at[5]])
			}
			set(element.ReplaceAllString(path, "0"), text)
		}
	}
	setAll(d.Members.Session, session)
	setAll(d.Members.Directory, directory)
	setAll(d.Members.Prompt, prompt)
	return payload
}
