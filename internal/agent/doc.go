// Package agent knows coding agents: where each keeps its settings, which hooks to add there, how to
// read what a hook is given and how to answer it. An agent is data: one file in definitions describes
// it, and an agent that sends JSON needs no code.
//
// The package works on bytes. It starts no process, opens no repository and decides nothing about
// checkpoints; package hook does that with what it reads here.
package agent
