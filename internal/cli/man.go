package cli

// ManCmd is the hidden command __man, which the Makefile runs to make the man page.
type ManCmd struct{}

// Run prints the man page, made from the same grammar as the help.
func (c *ManCmd) Run(app *App) error {
	return WriteManPage(app.Terminal.Out, app.model, manPage())
}

// manPage is the text of the man page beside the commands. It has no version and no date, so that
// the page is the same in every build.
func manPage() ManPage {
	return ManPage{
		Source:      "git-checkpoint",
		Description: description,
		ExitStatus: []ManEntry{
			{"0", "Done. An empty list is no failure."},
			{"1", "It went wrong."},
			{"2", "`diff --exit-code` or `status --exit-code`: there are differences."},
			{"3", "There is no such checkpoint or session."},
			{"4", "Refused: it would lose something, or was not confirmed. Nothing was changed."},
			{"5", "Something is corrupt or invalid."},
			{"6", "The workflow rejects the state or the transition."},
			{"7", "There is a conflict with a remote."},
			{"8", "There was nothing to do: `create --skip-unchanged`, a trigger that is switched off, or a text in `chat` that is none of ours."},
			{"128", "Not a repository that can be used."},
			{"129", "The command line is wrong."},
			{"130", "Interrupted."},
		},
		Configuration: configuration(),
		Environment: []ManEntry{
			{"GIT_CHECKPOINT_SESSION", "Session to use, unless `--session` names one."},
			{"GIT_CHECKPOINT_<NAME>", "Any setting `checkpoint.<name>`, in capital letters."},
			{"GIT_CHECKPOINT_NOW", "The time to take for now (RFC 3339), for tests."},
			{"NO_COLOR", "Set: no colours, unless `--color=always`."},
			{"GIT_PAGER, PAGER", "The pager of `diff` and `log`, as for git."},
		},
		Files: []ManEntry{
			{"refs/checkpoints/<session>/", "The checkpoints and the journal of a session."},
			{"refs/notes/checkpoints", "The records, as notes that `git log` can show."},
			{"refs/tags/checkpoint/<session>/", "Tags of the milestones."},
			{"<git dir>/checkpoint/", "The active session, the random id and caches of this worktree, and the state of a rollback in progress. Deleting it loses no checkpoint, but while a rollback is unfinished it takes away the way to go on, and without its id a worktree no longer knows which rollbacks `undo` can take back."},
		},
		SeeAlso: []string{"git(1)", "git-stash(1)", "git-notes(1)", "git-restore(1)", "git-log(1)"},
	}
}

// configuration lists the settings that are documented.
func configuration() []ManEntry {
	return []ManEntry{
		{"checkpoint.enabled", "Whether checkpoints are made here at all. Default: true."},
		{"checkpoint.session", "Session to use when none is named or active."},
		{"checkpoint.workflow", "Workflow of sessions that start without one."},
		{"checkpoint.remote", "Remote to push to and fetch from. Default: the branch's, else origin."},
		{"checkpoint.autoPush", "Whether each create starts a push in the background. It never slows or fails the create; `status` says how it ended. Default: false."},
		{"checkpoint.autoPack", "Whether a create starts `git pack-refs` and `git repack` in the background when many refs and objects are loose: an eighth and a half of `gc.auto` (6700). Never when `gc.auto` is 0 or `maintenance.auto` false, and never two at once. Default: true."},
		{"checkpoint.refPrefix", "Where refs/checkpoints/ is at remotes that take no such refs, as refs/heads/checkpoints/."},
		{"checkpoint.tag", "Whether a milestone gets a tag. Default: true."},
		{"checkpoint.sign", "Whether checkpoints and events are signed: `true` (as `gpg.format` says), `openpgp`, `ssh` or `x509`, with git's own settings of keys and programs. `commit.gpgSign` is not asked. Default: false."},
		{"checkpoint.maxFileSize", "Larger files are left out, and listed. Default: 100m."},
		{"checkpoint.maxNew", "A checkpoint that would add more than this, or 100,000 files, that the one before does not have is refused, unless --large is given. Default: 1g."},
		{"checkpoint.maxRecordSize", "A larger record is refused. Default: 50m."},
		{"checkpoint.mirror", "<format>:<dir>; files of another system that follow what happens here. May be given several times."},
		{"checkpoint.guard", "`warn`, `block` (a save with a secret is refused) or `off`. Default: warn."},
		{"checkpoint.guard.command", "Another scanner in the place of the built-in rules, which prints gitleaks' JSON report. Not from the repository's own configuration."},
		{"checkpoint.exclude", "A pathspec that no checkpoint takes, from the top of the worktree. May be given several times."},
		{"checkpoint.auto", "Whether triggers other than `manual` make checkpoints. Default: true."},
		{"checkpoint.autoPrune", "Whether each create also drops what the workflow does not keep. Default: as a built-in workflow says, and false for a definition of the repository. A committed .checkpoint/config cannot set it."},
		{"checkpoint.undoLevels", "How many levels of undo, and of redo, `prune` keeps for each worktree. Default: 10."},
		{"checkpoint.maxSize", "The most that a session may hold; `prune` drops the oldest over it."},
		{"checkpoint.pushConsent", "An address that untracked files may go to; a `push` that was agreed to adds it. Counts in the repository's own configuration only."},
		{"checkpoint.promptConsent", "The same for what was said to coding agents: prompts in messages, and transcripts."},
		{"checkpoint.agent.<name>.enabled", "Whether the hooks of this coding agent make checkpoints; `agent add` sets it. Like the three below not from a committed file."},
		{"checkpoint.agent.prompts", "Whether messages have the words of prompts. Default: true."},
		{"checkpoint.agent.transcripts", "Whether each turn keeps what the agent wrote of the conversation. Default: false."},
		{"checkpoint.agent.deadline", "How long a hook may take. Default: 10s."},
		{"checkpoint.expire, checkpoint.failedExpire", "How long `prune` leaves a session that nobody touches, and one that failed or was abandoned, instead of what the workflow says: `14d`, `never`."},
		{"checkpoint.<trigger>.enabled", "Whether this trigger makes checkpoints."},
		{"checkpoint.<trigger>.keep", "How many of its checkpoints `prune` leaves; -1: all."},
	}
}

// summary is what the help and the man page say about the program in one line.
const summary = "Record where a multi-step job stands in a git repository, and take it back there."

// description is the section DESCRIPTION of the man page.
const description = `A checkpoint holds the files of the worktree (everything that git would not ignore, tracked or not, and what is staged), the state of the job (a JSON document of its own) with its outputs, and the place: session, step, trigger, time, branch and HEAD. All of it is git objects, so it is pushed, fetched, verified and collected by git, and can be read with plain git.

` + "`git checkpoint`" + ` alone says where the job stands.

A checkpoint is named by its step (` + "`3`" + `, newest live milestone of step 3), iteration (` + "`6.2`" + `), place after a step (` + "`3+2`" + `), label (` + "`cp-03-architecture`" + `), id or a unique part of its beginning, ` + "`latest`" + `, ` + "`@`" + ` (the current one), ` + "`@~1`" + ` (the one before), with a session before it (` + "`demo:3`" + `), by its ref, or by its commit.`
