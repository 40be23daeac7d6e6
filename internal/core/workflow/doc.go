// Package workflow reads workflow definitions and evaluates them.
//
// A definition is a JSON document that describes the steps of a job, its triggers and statuses, the
// schema and rules of its state, where in a document the parts are found, what resume asks, and
// what prune removes. The built-in definitions are the files in definitions/; a repository may
// bring its own. The reference for authors is docs/workflows.md.
//
// Start with Definition (definition.go), which mirrors the JSON member by member. Parse checks a
// user's definition completely and reports each problem with line and member; Builtin trusts the
// embedded ones and compiles their expressions on demand. The questions that the rest of the
// program asks are methods of Definition, roughly in the order of a create: Accept takes a document
// apart, SwitchedOff tells whether a checkpoint is wanted, Place picks its step, Derive computes
// missing members, Check validates the result, Retain decides what prune drops, and Resume decides
// how work goes on.
//
// Expressions (expression.go) are compiled by the expr library behind a guard (guard.go), which
// removes every construct whose cost cannot be bounded.
//
// The package is pure: it reads no file, clock, environment or git. Callers pass everything in. No
// workflow name is special in the code, so a copy of a definition under another name behaves the
// same. A state is never re-encoded: numbers keep their digits and members keep their order.
//
// Definitions and documents are untrusted. Size, nesting depth, expanded schema, expression length
// and the work of an evaluation have limits, and an error names the limit that was exceeded.
package workflow
