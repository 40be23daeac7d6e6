package interop

import (
	"context"
	"path"

	"git-checkpoint/internal/core/checkpoint"
)

// Configuration reads the configuration file of another system. from is the file or the root of a
// project that has one. Only crunch has such a file. The warnings name the members that have no
// equivalent here. It changes no configuration.
func Configuration(ctx context.Context, s *checkpoint.Rules, from string) (settings []checkpoint.Setting, warnings []string, err error) {
	places, err := find(from, []string{Crunch})
	if err != nil {
		return nil, nil, &checkpoint.Error{Kind: checkpoint.KindNotFound, Err: err}
	}
	p, there := places[Crunch]
	if !there {
		return nil, nil, noConfiguration(from)
	}
	// Do not read the project's documents, which may be many and have problems of their own.
	p.only = crunchConfig
	answer := &ImportAnswer{}
	if _, _, err := read(ctx, s, Crunch, p, answer); err != nil {
		return nil, nil, err
	}
	if len(answer.Problems) > 0 {
		return nil, nil, faulty(answer.Problems, "nothing was set")
	}
	if answer.Settings == nil {
		return nil, nil, noConfiguration(from)
	}
	return answer.Settings, answer.Warnings, nil
}

// noConfiguration is the error for a place without a configuration file.
func noConfiguration(from string) error {
	return checkpoint.Failure(checkpoint.KindNotFound, "name crunch's file, or the root of the project that has it in "+path.Dir(crunchConfig), "there is no %s in %q", path.Base(crunchConfig), from)
}
