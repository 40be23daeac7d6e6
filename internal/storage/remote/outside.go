package remote

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"git-checkpoint/internal/git"
)

// maxIDs is how many ids one command line has.
const maxIDs = 400

// PushLFS has git-lfs upload content by its ids, which are SHA-256. git-lfs finds the endpoint that
// belongs to the address, and sends nothing that is there already.
func (r *Remote) PushLFS(ctx context.Context, ids []string) error {
	at, err := r.lfsAddress(ctx)
	if err != nil {
		return err
	}
	for some := range slices.Chunk(ids, maxIDs) {
		_, err := r.run(ctx, "push files of git-lfs to", git.Cmd{Args: append([]string{"lfs", "push", "--object-id", at}, some...)})
		if err != nil {
			return err
		}
	}
	return nil
}

// lfsAddress returns what names the endpoint to git-lfs: the remote's name, or an address where a
// push goes to several, unless the configuration gives the remote one endpoint. git-lfs takes a
// directory as a URL only.
func (r *Remote) lfsAddress(ctx context.Context) (string, error) {
	for _, key := range []string{".lfspushurl", ".lfsurl"} {
		if _, set := r.Repo.Config.Get("remote." + r.Name + key); set {
			return r.Name, nil
		}
	}
	if r.Configured() && r.Place == "" {
		return r.Name, nil
	}
	at, err := r.PushURL(ctx)
	if err != nil {
		return "", err
	}
	dir := at
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(r.Repo.WorkTree, dir)
	}
	if info, err := os.Stat(dir); err == nil && info.IsDir() && !strings.Contains(at, "://") {
		return "file://" + filepath.ToSlash(dir), nil
	}
	return at, nil
}
