package continuation

import (
	"bufio"
	"errors"
	"os"
	"path/filepath"
)

// copy makes the new conversation: a copy of the transcript that ends with the turn. Only its owner may read
// it.
func (c *Conversation) copy(p *Prepared) (err error) {
	from, err := Open(c.transcript)
	if err != nil {
		return err
	}
	defer from.Close() //nolint:errcheck // it was only read
	if c.def.Chat.Copy != "" {
		if err := os.Mkdir(filepath.Dir(p.File), 0o700); err != nil {
			return err
		}
	}
	to, err := os.OpenFile(p.File, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	buffered := bufio.NewWriter(to)
	err = c.def.Chat.Cut(buffered, from, *c.turn.Position, c.turn.Turn, [2]string{c.turn.Session, p.ID})
	return errors.Join(err, buffered.Flush(), to.Close())
}
