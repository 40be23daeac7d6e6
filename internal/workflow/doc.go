// Package workflow owns workflow definitions and what follows from them.
//
// A definition is data: steps, triggers, statuses, the schema and rules of the
// state, where in a document the parts live, what resume asks, what retention
// drops. The built-in ones are the JSON files in definitions/; a repository may
// bring its own. This package parses definitions, refuses broken ones by line
// and member, and evaluates them over values that the caller hands in.
//
// It is pure: no file, no clock, no git, no environment. It names no workflow —
// a copy of a definition under another name behaves the same — and it never
// re-encodes a state: numbers keep their digits, members their order.
//
// Definitions and documents are untrusted. Size, depth, expanded schema,
// expression length and the work of an evaluation are bounded; what is over a
// bound is refused by name.
package workflow
