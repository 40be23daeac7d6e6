// Package agent describes coding agents: where each keeps its settings, which hooks to add there,
// how to read the payload of a hook and how to answer it. An agent is data, one JSON file in
// definitions, so a new agent that sends JSON usually needs no code.
//
// Definition (definition.go) is such a file. Definition.Add and Remove (install.go) plan
// edits of the settings, Change.Apply (write.go) carries them out, and Settings
// (settings.go) edits JSON in place without touching other bytes. Definition.Read
// (payload.go) parses an event into an Event, and Definition.Write (answer.go) formats
// an Answer.
//
// The package works on files and bytes only. It starts no process, opens no repository and
// decides nothing about checkpoints. That is done by package hook, which uses what is read
// here.
package agent
