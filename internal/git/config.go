package git

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"

	"git-checkpoint/internal/git/gitconfig"
)

// readConfig reads the whole configuration as git sees it from the directory of o. It uses a Location
// with plain set: with our own -c settings the list would hold them instead of the user's.
func readConfig(ctx context.Context, l *Location, o Options) (*gitconfig.Config, error) {
	probe := &Location{program: l.program, env: l.env, plain: true}
	res, err := probe.Run(ctx, Cmd{Args: []string{"config", "-z", "--list"}, Dir: cmp.Or(o.Dir, ".")})
	if err != nil {
		return nil, err
	}
	return gitconfig.ParseConfig(res.Stdout), nil
}

// Promisor returns the remote that has what a partial clone lacks; "": it is no partial clone.
func (l *Location) Promisor() string {
	if of, _ := l.Config.Get("extensions.partialClone"); of != "" {
		return of
	}
	for _, of := range l.Config.Remotes("promisor") {
		if yes, err := l.Config.Bool("remote."+of+".promisor", false); yes && err == nil {
			return of
		}
	}
	return ""
}

// ReadConfigFile reads one file in git's configuration syntax. It does not follow includes. A
// missing file is an empty configuration.
func (l *Location) ReadConfigFile(ctx context.Context, path string) (*gitconfig.Config, error) {
	info, err := os.Stat(path)
	if os.IsNotExist(err) {
		return gitconfig.ParseConfig(nil), nil
	}
	if err == nil && !info.Mode().IsRegular() { // git would block on a named pipe until somebody writes to it
		return nil, fmt.Errorf("read configuration %q: it is not a regular file", path)
	}
	res, err := l.Run(ctx, Cmd{Args: []string{"config", "-z", "--list", "--no-includes", "--file", filepath.Clean(path)}})
	if err != nil {
		return nil, fmt.Errorf("read configuration %q: %w", path, err)
	}
	return gitconfig.ParseConfig(res.Stdout), nil
}
