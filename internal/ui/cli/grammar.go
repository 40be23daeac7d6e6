package cli

import (
	"cmp"
	"reflect"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"git-checkpoint/internal/ui/cli/usage"
)

// grammar is the whole command line. kong reads the commands, flags and help texts from the struct
// tags; the order of the fields is the order of the help and of the man page.
//
// Some tags are not kong's but ours:
//
//   - whole: narrowed must not parse this command without the others, because it needs to know them
//     all.
//   - complete: what kind of values the shell completes: file, command, agent, format, or a kind of
//     setup.Candidates.
//   - unlisted: the help of the program only names the command, because few people type it.
//   - brief: the flag is one of the few that the short help of its command shows.
//   - with, apart: the names of those flags and arguments that go with the flag, beside the common ones, or that do not.
//   - dashed, verbatim, command: the last argument takes words that kong must not parse (see
//     usage.Parse). A dashed tag with a text makes that text the hint for a word before the "--", and
//     bare says in the help that the "--" may be missing.
type grammar struct {
	ShowHelp usage.HelpFlag  `name:"help" group:"common" help:"Show the whole help of the command; -h shows the part that most people need."`
	Brief    usage.BriefFlag `name:"brief-help" short:"h" hidden:"" help:"Show the short help of the command."`
	Verbose  bool            `short:"v" group:"common" help:"Name checkpoints by label and id, and say what is left out otherwise."`
	Color    string          `group:"common" enum:"auto,always,never" default:"auto" placeholder:"<when>" help:"Colour the output: auto, always or never."`

	Overview OverviewCmd `cmd:"" default:"1" hidden:"" help:"Show the status and the commands that people need next."`

	Save     CreateCmd   `cmd:"" group:"work" help:"Make a checkpoint of the files and the state of the job."`
	Create   CreateCmd   `cmd:"" unlisted:"" group:"work" help:"Save, and tag the step."`
	Describe DescribeCmd `cmd:"" unlisted:"" group:"work" help:"Correct the message of a checkpoint."`
	Run      RunCmd      `cmd:"" group:"work" help:"Run a command as a step, and make a checkpoint if it succeeds."`
	Resume   ResumeCmd   `cmd:"" group:"work" help:"Show where work stopped, and continue from there."`
	List     ListCmd     `cmd:"" group:"work" help:"List the checkpoints of a session."`
	Show     ShowCmd     `cmd:"" group:"work" help:"Show one checkpoint."`
	Pick     PickCmd     `cmd:"" unlisted:"" group:"work" help:"Choose a checkpoint from a list with a preview."`
	Diff     DiffCmd     `cmd:"" group:"work" help:"Compare two checkpoints, or one with the worktree."`
	Web      WebCmd      `cmd:"" unlisted:"" group:"work" help:"Show the job in a browser, or write it to an HTML file."`
	Status   StatusCmd   `cmd:"" group:"work" help:"Show where the job stands and what changed since."`
	Watch    WatchCmd    `cmd:"" unlisted:"" group:"work" help:"Make a checkpoint whenever files have changed and settled."`

	Rollback RollbackCmd `cmd:"" group:"back" help:"Take the worktree and the state back to a checkpoint."`
	Restore  RestoreCmd  `cmd:"" group:"back" help:"Bring files back as a checkpoint has them."`
	Revert   RevertCmd   `cmd:"" group:"back" help:"Take back what steps did, and leave what others did since."`
	Undo     UndoCmd     `cmd:"" group:"back" help:"Take back the last rollback here, or several."`
	Redo     RedoCmd     `cmd:"" group:"back" help:"Redo what an undo took back."`
	History  HistoryCmd  `cmd:"" unlisted:"" group:"back" help:"Show every event of a session."`
	Log      LogCmd      `cmd:"" unlisted:"" group:"back" help:"Run git log over the checkpoints of a session."`

	Fork       ForkCmd       `cmd:"" group:"try" help:"Try a step several ways, each in a worktree of its own."`
	Compare    CompareCmd    `cmd:"" unlisted:"" group:"try" help:"Compare attempts side by side."`
	Blame      BlameCmd      `cmd:"" unlisted:"" group:"try" help:"Show which step wrote each line of a file."`
	Why        WhyCmd        `cmd:"" group:"try" help:"Show the prompt and the step behind a line or a commit."`
	Report     ReportCmd     `cmd:"" unlisted:"" group:"try" help:"Tell reviewers what is behind the commits of a range."`
	Search     SearchCmd     `cmd:"" unlisted:"" group:"try" help:"Find words in prompts, messages, transcripts and paths."`
	Bisect     BisectCmd     `cmd:"" unlisted:"" group:"try" help:"Find the step that broke something."`
	Transcript TranscriptCmd `cmd:"" unlisted:"" group:"try" help:"Print conversations with coding agents."`
	Land       LandCmd       `cmd:"" group:"try" help:"Turn steps into commits on the current branch."`
	Promote    PromoteCmd    `cmd:"" unlisted:"" group:"try" help:"Bring an attempt back into the session that it was forked from."`

	Validate ValidateCmd `cmd:"" unlisted:"" group:"proof" help:"Verify that checkpoints are complete and unchanged."`
	Rebuild  RebuildCmd  `cmd:"" unlisted:"" group:"proof" help:"Restore what is damaged from what is still there."`
	Doctor   DoctorCmd   `cmd:"" group:"proof" help:"Find problems, and fix what is safe to fix."`

	Session SessionCmd `cmd:"" group:"keep" help:"Start, switch and close sessions."`
	Prune   PruneCmd   `cmd:"" unlisted:"" group:"keep" aliases:"cleanup" help:"Remove old checkpoints, by the rules of the workflow or by flags."`
	Delete  DeleteCmd  `cmd:"" group:"keep" help:"Delete checkpoints."`
	Expunge ExpungeCmd `cmd:"" unlisted:"" group:"keep" help:"Remove a file or a secret from all checkpoints."`
	Pin     PinCmd     `cmd:"" unlisted:"" group:"keep" help:"Keep checkpoints from being pruned."`
	Unpin   UnpinCmd   `cmd:"" unlisted:"" group:"keep" help:"Let checkpoints be pruned again."`

	Push   PushCmd   `cmd:"" group:"travel" help:"Send checkpoints to a remote."`
	Fetch  FetchCmd  `cmd:"" unlisted:"" group:"travel" help:"Fetch checkpoints from a remote, and merge them with those here."`
	Sync   SyncCmd   `cmd:"" unlisted:"" group:"travel" help:"Fetch, then push."`
	Remote RemoteCmd `cmd:"" unlisted:"" group:"travel" help:"Compare the sessions here with a remote."`
	Export ExportCmd `cmd:"" unlisted:"" group:"travel" help:"Write sessions to a file."`
	Import ImportCmd `cmd:"" unlisted:"" group:"travel" help:"Read sessions from a file."`
	Guard  GuardCmd  `cmd:"" unlisted:"" group:"travel" help:"Find secrets, and choose which may leave this machine."`

	Workflow   WorkflowCmd   `cmd:"" unlisted:"" group:"setup" help:"List, show and check workflow definitions."`
	Agent      AgentCmd      `cmd:"" group:"setup" help:"Connect coding agents, so that every prompt becomes a step."`
	AgentHook  AgentHookCmd  `cmd:"" unlisted:"" name:"hook" group:"setup" help:"Handle an event of a coding agent; the agent runs this."`
	MCP        MCPCmd        `cmd:"" unlisted:"" name:"mcp" group:"setup" help:"Serve agents over the Model Context Protocol."`
	Chat       ChatCmd       `cmd:"" unlisted:"" group:"setup" help:"Run a command that was typed into an agent's chat."`
	Init       InitCmd       `cmd:"" unlisted:"" group:"setup" help:"Set up this repository (optional)."`
	Deinit     DeinitCmd     `cmd:"" unlisted:"" group:"setup" help:"Remove what init and agent add set up."`
	Config     ConfigCmd     `cmd:"" unlisted:"" group:"setup" help:"Show the settings and where each one comes from."`
	Version    VersionCmd    `cmd:"" unlisted:"" group:"setup" help:"Show the version of this program."`
	Completion CompletionCmd `cmd:"" unlisted:"" group:"setup" help:"Print a completion script for a shell."`
	Help       HelpCmd       `cmd:"" unlisted:"" whole:"" group:"setup" help:"Show the help of a command."`
	Hook       HookCmd       `cmd:"" name:"__hook" hidden:"" help:"Run as a git hook."`
	Pack       PackCmd       `cmd:"" name:"__pack" hidden:"" help:"Run as the packing that a create starts in the background."`
	Plugin     PluginCmd     `cmd:"" whole:"" name:"__plugin" hidden:"" help:"Write an agent's plugin into a new directory."`
	Man        ManCmd        `cmd:"" whole:"" name:"__man" hidden:"" help:"Print the man page."`
	Complete   CompleteCmd   `cmd:"" whole:"" name:"__complete" hidden:"" help:"Answer a completion script."`
}

// everyday are the commands that -h describes; help -a describes more.
func everyday() []string {
	return []string{"save", "status", "list", "show", "diff", "rollback", "undo", "revert", "resume", "why", "land", "push"}
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

// Flags that several commands share. A command embeds those that it has. App.run reads --json and
// --quiet from whatever command has them.
type (
	jsonFlag struct {
		JSON bool `name:"json" group:"common" help:"Print the answer as JSON."`
	}
	quietFlag struct {
		Quiet bool `short:"q" group:"common" help:"Print nothing if all goes well."`
	}
	// resultFlags are for commands whose answer confirms what they did.
	resultFlags struct {
		jsonFlag
		quietFlag
	}
	sessionFlag struct {
		Session string `group:"common" placeholder:"<name>" complete:"session" help:"Session to use instead of the active one."`
	}
	dryRunFlag struct {
		DryRun bool `short:"n" brief:"" help:"Show what would be done, but change nothing."`
	}
)

// narrowed returns a grammar with only the command that the first argument names, built with
// reflect from the fields of grammar. It is nil if the first argument is not a command or if the
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
		names := append(strings.Split(field.Tag.Get("aliases"), ","), cmp.Or(field.Tag.Get("name"), strings.ToLower(field.Name)))
		if args[0] != "" && !whole && slices.Contains(names, args[0]) {
			kept, found = append(kept, field), true
		}
	}
	if !found {
		return nil
	}
	return reflect.New(reflect.StructOf(kept)).Interface()
}
