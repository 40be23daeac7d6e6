package cli

import "git-checkpoint/internal/cli/usage"

// ManCmd is the hidden command __man, which the Makefile runs to make the man page.
type ManCmd struct{}

// Run prints the man page, made from the same grammar as the help.
func (c *ManCmd) Run(app *App) error {
	return usage.WriteManPage(app.Terminal.Out, app.model, manPage())
}

// manPage is the text of the man page beside the commands. It has no version and no date, so that
// the page is the same in every build.
func manPage() usage.ManPage {
	return usage.ManPage{
		Source:      "git-checkpoint",
		Description: description,
		ExitStatus: []usage.ManEntry{
			{"0", "Done. An empty list is no failure."},
			{"1", "An error that no other code stands for."},
			{"2", "`diff --exit-code` or `status --exit-code`: there are differences."},
			{"3", "There is no such checkpoint or session."},
			{"4", "Refused: something would be lost, or you did not confirm. Nothing was changed."},
			{"5", "Something is corrupt or invalid."},
			{"6", "The workflow rejects the state or the transition."},
			{"7", "There is a conflict with a remote."},
			{"8", "There was nothing to do: `create --skip-unchanged`, a trigger that is switched off, or a text without a command for `chat`."},
			{"128", "Not in a repository that can be used."},
			{"129", "The command line is wrong."},
			{"130", "Interrupted."},
		},
		Configuration: configuration(),
		Environment: []usage.ManEntry{
			{"GIT_CHECKPOINT_SESSION", "Session to use, unless `--session` names one."},
			{"GIT_CHECKPOINT_<NAME>", "The setting `checkpoint.<name>`, with the name in capital letters."},
			{"GIT_CHECKPOINT_NOW", "The time to use as the current time (RFC 3339), for tests."},
			{"NO_COLOR", "If set, no colours are used, unless `--color=always` is given."},
			{"GIT_PAGER, PAGER", "The pager of `diff` and `log`, as for git."},
		},
		Files: []usage.ManEntry{
			{"refs/checkpoints/<session>/", "The checkpoints and the journal of a session."},
			{"refs/notes/checkpoints", "The records, as notes that `git log` can show."},
			{"refs/tags/checkpoint/<session>/", "Tags of the milestones."},
			{"<git dir>/checkpoint/", "The active session, the random id and the caches of this worktree, and the state of a rollback in progress. If you delete it, no checkpoint is lost, but an unfinished rollback can no longer be finished or taken back, and `undo` no longer knows the rollbacks of this worktree."},
		},
		SeeAlso: []string{"git(1)", "git-stash(1)", "git-notes(1)", "git-restore(1)", "git-log(1)"},
	}
}

// configuration lists the settings that are documented.
func configuration() []usage.ManEntry {
	return []usage.ManEntry{
		{"checkpoint.enabled", "Whether checkpoints are made here at all. Default: true."},
		{"checkpoint.session", "Session to use if none is named and none is active."},
		{"checkpoint.workflow", "Workflow of new sessions that name none."},
		{"checkpoint.remote", "Remote to push to and fetch from. Default: the remote of the branch, else origin."},
		{"checkpoint.autoPush", "Whether each create starts a push in the background. The create does not wait for it and does not fail because of it; `status` shows how it ended. Default: false."},
		{"checkpoint.autoPack", "Whether a create starts `git pack-refs` and `git repack` in the background when many are loose: an eighth of `gc.auto` (6700) in refs, or half of it in objects. It never does so if `gc.auto` is 0 or `maintenance.auto` is false, and never twice at a time. Default: true."},
		{"checkpoint.refPrefix", "Where to keep refs/checkpoints/ at remotes that accept no such refs, for example refs/heads/checkpoints/."},
		{"checkpoint.tag", "Whether a milestone gets a tag. Default: true."},
		{"checkpoint.sign", "Whether checkpoints and events are signed: `true` (as `gpg.format` says), `openpgp`, `ssh` or `x509`, with git's own settings for keys and programs. `commit.gpgSign` has no effect. Default: false."},
		{"checkpoint.maxFileSize", "Files larger than this are left out of checkpoints, and listed. Default: 100m."},
		{"checkpoint.maxNew", "A checkpoint that adds more than this, or more than 100,000 files, to the one before is refused, unless `--large` is given. Default: 1g."},
		{"checkpoint.maxRecordSize", "A checkpoint whose record is larger than this is refused. Default: 50m."},
		{"checkpoint.mirror", "`<format>:<dir>`: keep the files of another system in this directory up to date with the checkpoints. Can be set several times."},
		{"checkpoint.guard", "What to do about secrets: `warn`, `block` (a save with a secret is refused) or `off`. Default: warn."},
		{"checkpoint.guard.command", "A scanner to use instead of the built-in rules; it prints a JSON report like gitleaks. Ignored in the repository's own configuration."},
		{"checkpoint.exclude", "A pathspec, from the top of the worktree, that checkpoints leave out. Can be set several times."},
		{"checkpoint.auto", "Whether triggers other than `manual` make checkpoints. Default: true."},
		{"checkpoint.autoPrune", "Whether each create also prunes what the workflow does not keep. Default: what a built-in workflow says; false for a workflow that the repository defines. Ignored in a committed .checkpoint/config."},
		{"checkpoint.undoLevels", "How many levels of undo, and of redo, `prune` keeps for each worktree. Default: 10."},
		{"checkpoint.maxSize", "The most that a session may hold; `prune` removes the oldest checkpoints beyond it."},
		{"checkpoint.pushConsent", "A URL that untracked files may be pushed to; `push` adds it when you agree. Only the repository's own configuration counts."},
		{"checkpoint.promptConsent", "A URL that prompts in messages, and transcripts, may be pushed to; otherwise like `checkpoint.pushConsent`."},
		{"checkpoint.agent.<name>.enabled", "Whether the hooks of this coding agent make checkpoints; `agent add` sets it. This setting and the three below are ignored in a committed file."},
		{"checkpoint.agent.prompts", "Whether the messages of checkpoints contain the prompts. Default: true."},
		{"checkpoint.agent.transcripts", "Whether each turn keeps the agent's transcript of the conversation. Default: false."},
		{"checkpoint.agent.deadline", "How long a hook may take. Default: 10s."},
		{"checkpoint.expire, checkpoint.failedExpire", "How long `prune` keeps a session that nobody touches, and one that failed or was abandoned: `14d`, `never`. Default: what the workflow says."},
		{"checkpoint.<trigger>.enabled", "Whether this trigger makes checkpoints."},
		{"checkpoint.<trigger>.keep", "How many checkpoints with this trigger `prune` keeps; -1 means all."},
	}
}

// summary is what the help and the man page say about the program in one line.
const summary = "Record where a multi-step job stands in a git repository, and take it back there."

// description is the section DESCRIPTION of the man page.
const description = `A checkpoint holds the files of the worktree (everything that git would not ignore, tracked or not, and what is staged), the state of the job (a JSON document of its own) with its outputs, and the place: session, step, trigger, time, branch and HEAD. All of it is stored as git objects, so git pushes, fetches, verifies and collects it, and you can read it with plain git.

` + "`git checkpoint`" + ` alone shows where the job stands.

A checkpoint is named by its step (` + "`3`" + `, the newest live milestone of step 3), iteration (` + "`6.2`" + `), place after a step (` + "`3+2`" + `), label (` + "`cp-03-architecture`" + `), id or a unique part of its beginning, ` + "`latest`" + `, ` + "`@`" + ` (the current one), ` + "`@~1`" + ` (the one before), with a session before it (` + "`demo:3`" + `), by its ref, or by its commit.`
