package remote

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"git-checkpoint/internal/git"
)

// Endpoint is where git-lfs sends content. If no key names one, it is that of the push address.
type Endpoint struct {
	URL       string
	Key       string // of the configuration that names it; empty: none
	Committed bool   // only .lfsconfig has the key: a file that anybody may have written who can commit
}

// LFSEndpoint returns the endpoint that git-lfs would take for a push. The first of these keys names it,
// in git's configuration or else in .lfsconfig.
func (r *Remote) LFSEndpoint(ctx context.Context) (e Endpoint, err error) {
	if e.URL, err = r.PushURL(ctx); err != nil {
		return e, err
	}
	committed := r.lfsConfig(ctx)
	for _, key := range []string{"lfs.pushurl", "lfs.url", "remote." + r.Name + ".lfspushurl", "remote." + r.Name + ".lfsurl"} {
		url, set := r.Repo.Config.Get(key)
		if !set {
			url = committed[strings.ToLower(key)]
		}
		if url == "" {
			continue
		}
		if to, err := r.Repo.Output(ctx, "ls-remote", "--get-url", "--", url); err == nil {
			url = to // url.<base>.insteadOf
		}
		// The address that git-lfs makes of the one for git is no other place.
		at := strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(url, "/"), "/info/lfs"), ".git")
		if at == strings.TrimSuffix(strings.TrimSuffix(e.URL, "/"), ".git") {
			url, set = e.URL, true
		}
		return Endpoint{URL: url, Key: key, Committed: !set}, nil
	}
	return e, nil
}

// lfsConfig returns what .lfsconfig says: in the worktree, else in the index, else in HEAD. It is read as git-lfs
// reads it: with the files that it includes, and each line is a key, also one inside a value.
func (r *Remote) lfsConfig(ctx context.Context) map[string]string {
	out := map[string]string{}
	for _, from := range []string{"--file=" + filepath.Join(r.Repo.WorkTree, ".lfsconfig"), "--blob=:.lfsconfig", "--blob=HEAD:.lfsconfig"} {
		all, err := r.Repo.Output(ctx, "config", "--includes", from, "--list")
		if err != nil {
			continue // it is not there
		}
		for line := range strings.Lines(all) {
			key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
			out[strings.ToLower(key)] = value
		}
		break
	}
	return out
}

// PushLFS has git-lfs upload content by its ids, which are SHA-256, to the endpoint of LFSEndpoint. It sends
// nothing that is there already.
func (r *Remote) PushLFS(ctx context.Context, to Endpoint, ids []string) error {
	const maxIDs = 400 // how many ids one command line has
	at, config := r.lfsAddress(to), []string(nil)
	if to.Key != "" { // .lfsconfig may change meanwhile
		config = []string{"lfs.pushurl=" + to.URL}
	}
	for some := range slices.Chunk(ids, maxIDs) {
		_, err := r.run(ctx, "push files of git-lfs to", git.Cmd{Args: append([]string{"lfs", "push", "--object-id", at}, some...), Config: config})
		if err != nil {
			return err
		}
	}
	return nil
}

// lfsAddress returns what names the endpoint to git-lfs: the remote's name, or an address where a
// push goes to several, unless the configuration gives the remote one endpoint. git-lfs takes a
// directory as a URL only.
func (r *Remote) lfsAddress(to Endpoint) string {
	if r.Configured() && r.Place == "" || strings.HasPrefix(to.Key, "remote.") {
		return r.Name
	}
	dir := to.URL
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(r.Repo.WorkTree, dir)
	}
	if info, err := os.Stat(dir); err == nil && info.IsDir() && !strings.Contains(to.URL, "://") {
		return "file://" + filepath.ToSlash(dir)
	}
	return to.URL
}
