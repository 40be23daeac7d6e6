package rollback

import (
	"context"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/storage/snapshot"
	"git-checkpoint/internal/storage/store"
	"git-checkpoint/internal/verb/continuation"
)

// converse plans how the conversation goes on, or notes that it could. An undo of that comes back to the
// conversation that stayed.
func (r *Plan) converse(ctx context.Context) error {
	if levels := r.answer.Levels; len(levels) > 0 && levels[0].List == "undo" && r.To.Entry != nil {
		if rec, err := checkpoint.ReadRecord(ctx, r.s.Store, r.To.Entry); err == nil {
			r.answer.Chat = continuation.Stayed(r.s.Repo, rec)
		}
	}
	if r.Adds || r.Exact || r.Part || r.plan == nil {
		return nil
	}
	found, err := continuation.Find(ctx, r.s.Sessions, r.Files, r.record, continuation.SameWorktree)
	switch {
	case r.req.Chat && err != nil:
		return err
	case r.req.Chat:
		r.conversation, r.answer.Chat = found, found.Planned(r.s.Repo)
	case err == nil:
		r.answer.ChatOf = found.Title()
	}
	return nil
}

// goOn keeps the new conversation once the rollback is done. If the rollback failed, it removes the
// conversation, unless the rollback was cut off half-way: then --continue and --abort decide.
func (r *Plan) goOn(ctx context.Context, done *Answer, failed error) {
	if failed == nil {
		done.Chat = continuationAnswer(r.s.Store, r.prepared)
		return
	}
	if dir, err := r.s.Repo.Dir(); err == nil {
		if in, err := snapshot.ReadIntent(dir); in != nil || err != nil {
			return
		}
	}
	dropped(ctx, r.s.Store, r.prepared)
}

// dropped removes a conversation that was prepared, if there is one.
func dropped(ctx context.Context, s *store.Store, p *continuation.Prepared) {
	if err := p.Remove(context.WithoutCancel(ctx), s.Repo); err != nil {
		s.Warn(err.Error())
	}
}

// continuationAnswer returns how a conversation goes on that was prepared, if one was.
func continuationAnswer(s *store.Store, p *continuation.Prepared) *continuation.Answer {
	a, err := p.Keep(s)
	if err != nil {
		s.Warn(err.Error())
	}
	return a
}
