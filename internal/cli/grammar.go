package cli

import (
	"reflect"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// grammar is the whole command line. kong reads the commands, flags and help texts from the struct
// tags; the order of the fields is the order of the help and of the man page.
//
// Some tags are not kong's but ours:
//
//   - whole: narrowed must not parse this command without the others, because it needs to know them
//     all, or because its name differs from its field.
//   - complete: what kind of values the shell completes (see complete.go).
//   - dashed, verbatim, command: the last argument takes words that kong must not parse (see parse
//     in parse.go). A dashed tag with a text makes that text the hint for a word before the "--".
type grammar struct {
	ShowHelp helpFlag    `name:"help" short:"h" help:"Show what the command takes."`
	Color    colorSwitch `enum:"auto,always,never" default:"auto" placeholder:"<when>" help:"Colour the output: auto, always or never."`

	Overview OverviewCmd `cmd:"" default:"1" hidden:"" help:"Show the status and what people need next."`

	Create CreateCmd `cmd:"" group:"work" aliases:"save" help:"Record where the job stands."`
	Run    RunCmd    `cmd:"" group:"work" help:"Run a command as a step; a checkpoint when it succeeds."`
	Resume ResumeCmd `cmd:"" group:"work" help:"Say where work stopped, and go on from there."`
	List   ListCmd   `cmd:"" group:"work" help:"List the checkpoints of a session."`
	Show   ShowCmd   `cmd:"" group:"work" help:"Show one checkpoint."`
	Pick   PickCmd   `cmd:"" group:"work" help:"Choose a checkpoint from a list with a preview."`
	Diff   DiffCmd   `cmd:"" group:"work" help:"Compare two checkpoints, or one with the worktree."`
	Web    WebCmd    `cmd:"" group:"work" help:"Show the job in a browser, or write it as a page."`
	Status StatusCmd `cmd:"" group:"work" help:"Say where the job stands and what changed since."`

	Rollback RollbackCmd `cmd:"" group:"back" aliases:"restore" help:"Take the worktree and the state back to a checkpoint."`
	Undo     UndoCmd     `cmd:"" group:"back" help:"Take back the last rollback here, or several."`
	Redo     RedoCmd     `cmd:"" group:"back" help:"Do again what undo took back."`
	History  HistoryCmd  `cmd:"" group:"back" help:"Show every event of a session, for audit."`
	Log      LogCmd      `cmd:"" group:"back" help:"Run git log over the checkpoints of a session."`

	Fork       ForkCmd       `cmd:"" group:"try" help:"Try a step several ways, each in a worktree of its own."`
	Compare    CompareCmd    `cmd:"" group:"try" help:"Put attempts side by side."`
	Blame      BlameCmd      `cmd:"" group:"try" help:"Say which step wrote each line of a file."`
	Bisect     BisectCmd     `cmd:"" group:"try" help:"Find the step that broke something."`
	Transcript TranscriptCmd `cmd:"" group:"try" help:"Print conversations with coding agents."`
	Land       LandCmd       `cmd:"" group:"try" help:"Make commits of steps on the current branch."`
	Promote    PromoteCmd    `cmd:"" group:"try" help:"Bring an attempt into the session that it was forked from."`

	Validate ValidateCmd `cmd:"" group:"proof" help:"Prove that checkpoints are whole and nothing was changed."`
	Rebuild  RebuildCmd  `cmd:"" group:"proof" help:"Make again what can be derived of what is damaged."`
	Doctor   DoctorCmd   `cmd:"" group:"proof" help:"Find what is in the way, and mend what is safe to mend."`

	Session SessionCmd `cmd:"" group:"keep" help:"Start, choose and end sessions."`
	Prune   PruneCmd   `cmd:"" group:"keep" aliases:"cleanup" help:"Drop checkpoints by the rules of the workflow, or by flags."`
	Delete  DeleteCmd  `cmd:"" group:"keep" help:"Delete checkpoints."`
	Expunge ExpungeCmd `cmd:"" group:"keep" help:"Take a file or a secret out of all checkpoints."`
	Pin     PinCmd     `cmd:"" group:"keep" help:"Keep checkpoints from being pruned."`
	Unpin   UnpinCmd   `cmd:"" group:"keep" help:"Let checkpoints be pruned again."`

	Push   PushCmd   `cmd:"" group:"travel" help:"Send checkpoints to a remote."`
	Fetch  FetchCmd  `cmd:"" group:"travel" help:"Bring checkpoints from a remote, and join them with those here."`
	Sync   SyncCmd   `cmd:"" group:"travel" help:"Fetch, then push."`
	Remote RemoteCmd `cmd:"" group:"travel" help:"Compare with a remote."`
	Export ExportCmd `cmd:"" group:"travel" help:"Write sessions into a file."`
	Import ImportCmd `cmd:"" group:"travel" help:"Read sessions from a file."`
	Guard  GuardCmd  `cmd:"" group:"travel" help:"Find secrets, and let them leave or not."`

	Workflow   WorkflowCmd   `cmd:"" group:"setup" help:"List, show and check the definitions of workflows."`
	Agent      AgentCmd      `cmd:"" group:"setup" help:"Connect coding agents, so that every prompt is a step."`
	AgentHook  AgentHookCmd  `cmd:"" whole:"" name:"hook" group:"setup" help:"Handle an event of a coding agent; agents run it."`
	Watch      WatchCmd      `cmd:"" group:"work" help:"Make a checkpoint when files have changed and then been quiet."`
	MCP        MCPCmd        `cmd:"" name:"mcp" group:"setup" help:"Serve agents over the Model Context Protocol."`
	Chat       ChatCmd       `cmd:"" group:"setup" help:"Run what a person typed in a chat, if it is ours."`
	Init       InitCmd       `cmd:"" group:"setup" help:"Prepare this repository (optional)."`
	Deinit     DeinitCmd     `cmd:"" group:"setup" help:"Take the preparation out again."`
	Config     ConfigCmd     `cmd:"" group:"setup" help:"Show the settings and where each comes from."`
	Version    VersionCmd    `cmd:"" group:"setup" help:"Show the version of this program."`
	Completion CompletionCmd `cmd:"" whole:"" group:"setup" help:"Print a completion script for a shell."`
	Help       HelpCmd       `cmd:"" whole:"" group:"setup" help:"Show the help of a command."`
	Hook       HookCmd       `cmd:"" whole:"" name:"__hook" hidden:"" help:"Be a git hook."`
	Pack       PackCmd       `cmd:"" name:"__pack" hidden:"" help:"Be the packing that a create starts."`
	Man        ManCmd        `cmd:"" whole:"" name:"__man" hidden:"" help:"Print the man page."`
	Complete   CompleteCmd   `cmd:"" whole:"" name:"__complete" hidden:"" help:"Answer a completion script."`
}

// These flags change how all output looks, so they are stored in the App as soon as kong has parsed
// them: AfterApply is a hook of kong.
type (
	colorSwitch string
	jsonSwitch  bool
	quietSwitch bool
)

// AfterApply remembers --color in the App.
func (c colorSwitch) AfterApply(app *App) error {
	app.color = string(c)
	return nil
}

// AfterApply remembers --json in the App: answers and errors become JSON.
func (j jsonSwitch) AfterApply(app *App) error {
	app.json = bool(j)
	return nil
}

// AfterApply remembers --quiet in the App: confirmations and warnings are not printed.
func (q quietSwitch) AfterApply(app *App) error {
	app.quiet = bool(q)
	return nil
}

// groups are the sections of the help, in their order there.
func groups() []kong.Group {
	return []kong.Group{
		{Key: "work", Title: "While working:"},
		{Key: "back", Title: "Going back:"},
		{Key: "try", Title: "Trying several ways:"},
		{Key: "proof", Title: "Trusting it:"},
		{Key: "keep", Title: "Sessions and what is kept:"},
		{Key: "travel", Title: "Between machines:"},
		{Key: "setup", Title: "Setting up:"},
	}
}

// Flags that several commands share. A command embeds those that it has.
type (
	jsonFlag struct {
		JSON jsonSwitch `name:"json" help:"Answer in JSON."`
	}
	quietFlag struct {
		Quiet quietSwitch `short:"q" help:"Say nothing when all went well."`
	}
	sessionFlag struct {
		Session string `placeholder:"<name>" complete:"session" help:"Session to use instead of the one that is active here."`
	}
	dryRunFlag struct {
		DryRun bool `short:"n" help:"Show what would be done, and do nothing."`
	}
)

// narrowed returns a grammar with only the command that the first argument names, built with
// reflect from the fields of grammar. It is nil if the first argument is no command or if the
// command is tagged whole. Most command lines need one command, and to have kong build the whole
// grammar takes a third of the start-up time of the program.
func narrowed(args []string) any {
	if len(args) == 0 {
		return nil
	}
	var kept []reflect.StructField
	found := false
	all := reflect.TypeFor[grammar]()
	for i := range all.NumField() {
		field := all.Field(i)
		if _, command := field.Tag.Lookup("cmd"); !command {
			kept = append(kept, field)
			continue
		}
		_, whole := field.Tag.Lookup("whole")
		names := append(strings.Split(field.Tag.Get("aliases"), ","), strings.ToLower(field.Name))
		if args[0] != "" && !whole && slices.Contains(names, args[0]) {
			kept, found = append(kept, field), true
		}
	}
	if !found {
		return nil
	}
	return reflect.New(reflect.StructOf(kept)).Interface()
}
