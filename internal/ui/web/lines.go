package web

import (
	"context"
	"net/http"
	"path/filepath"
	"strings"

	"git-checkpoint/internal/core/author"
	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/store"
	"git-checkpoint/internal/verb/why"
)

// linesPage shows the steps behind the lines of a file, or behind a commit.
type linesPage struct {
	What string // the file, from the top of the worktree, or the commit, as typed
	Runs []run
	Cut  bool // the file has more lines
	*why.Commit
	Changed []changedBy
}

// run is consecutive lines of one origin. Steps is empty if nobody is known to have made them, and
// Commit if they are in no commit.
type run struct {
	Steps   []linked
	Commit  name.OID
	Subject string
	Lines   []why.Line
}

// linked is a step that a page names. Outside is set if no known tool made it.
type linked struct {
	why.Claim
	Outside bool
}

// changedBy is a step behind a commit, with the files of it.
type changedBy struct {
	linked
	Files []string
}

// lines shows what is behind the file or the commit of the request.
func (s *Server) lines(ctx context.Context, service *checkpoint.Service, r *http.Request) (view, error) {
	const mostShown = 5000 // how many lines of a file a page shows
	p := &linesPage{What: r.FormValue("what")}
	v := view{Name: "lines", Title: "Lines", Data: p}
	if p.What == "" {
		return v, nil
	}
	if oid, is := why.ResolveCommit(ctx, service.Repo, p.What); is && r.FormValue("as") != "file" {
		found, err := why.Commits(ctx, service.Rules, []name.OID{oid}, nil)
		if err != nil {
			return view{}, err
		}
		p.Commit = &found[0]
		for _, step := range found[0].Steps {
			c := changedBy{linked: linkedTo(step.Claim)}
			for _, path := range step.Files {
				c.Files = append(c.Files, plain(string(path)))
			}
			p.Changed = append(p.Changed, c)
		}
		return v, nil
	}
	if strings.Contains(p.What, "\x00") || git.RefusedName(filepath.ToSlash(p.What), false) {
		return view{}, checkpoint.Failure(checkpoint.KindNotFound, "", "there is no file %q", name.Clip(p.What, name.Said))
	}
	lines, err := why.Lines(ctx, service.Rules, why.Request{File: filepath.Join(service.Repo.WorkTree, filepath.FromSlash(p.What))})
	if err != nil {
		return view{}, err
	}
	if p.Cut = len(lines) > mostShown; p.Cut {
		lines = lines[:mostShown]
	}
	p.Runs = runsOf(lines)
	return v, nil
}

// runsOf puts consecutive lines of one origin together.
func runsOf(lines []why.Line) (runs []run) {
	last := ""
	for _, l := range lines {
		origin := string(l.Commit)
		for _, c := range l.Claims {
			origin += " " + c.Ref + " " + string(c.By)
		}
		if len(runs) == 0 || origin != last {
			one := run{Commit: l.Commit, Subject: l.Subject}
			for _, c := range l.Claims {
				one.Steps = append(one.Steps, linkedTo(c))
			}
			runs, last = append(runs, one), origin
		}
		l.Text = strings.TrimSuffix(l.Text, "\r")
		runs[len(runs)-1].Lines = append(runs[len(runs)-1].Lines, l)
	}
	return runs
}

func linkedTo(c why.Claim) linked { return linked{c, c.By == author.Outside} }

// byOther is a path of an agent's step that the agent is not known to have made.
type byOther struct {
	Path    record.Path
	Who     string       // outside or unknown; empty: a session did it
	Session name.Session // that one
}

// byOthers returns what of an agent's step the agent is not known to have made, as `show` lists it.
func byOthers(ctx context.Context, service *store.Store, rec *record.Record) (all []byOther) {
	a, has := rec.Agent()
	st, err := checkpoint.State(ctx, service, rec.Session)
	if !has || err != nil || st.Entry(rec.ID) == nil {
		return nil
	}
	step := author.Turn(st, st.Entry(rec.ID), a)
	for _, path := range step.Paths() {
		switch who := step.Who(path); {
		case who.Other() == "":
		case who.Session != "":
			all = append(all, byOther{Path: path, Session: who.Session})
		default:
			all = append(all, byOther{Path: path, Who: who.Other()})
		}
	}
	return all
}
