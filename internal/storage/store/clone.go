package store

import (
	"fmt"
	"hash/fnv"
	"os"
)

// CloneDigits returns four digits that are the same in all worktrees of this clone as long as it
// exists, even after it was moved on its disk, and usually different in another clone. Nothing is
// written for them.
func (s *localFiles) CloneDigits() string {
	host, _ := os.Hostname() //nolint:errcheck // the directory tells most clones apart
	h := fnv.New32a()
	fmt.Fprintf(h, "%s %s", host, identity(s.repo.CommonDir)) //nolint:errcheck // a hash takes everything
	return fmt.Sprintf("%04d", h.Sum32()%10000)
}
