package web

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"
)

// events is the stream of server-sent events that an open page listens to. It sends "changed" when
// refs have changed; the script of the page then asks for what is new. Every checkpoint, rollback
// or pin changes a ref, so there is nothing else to look at. One create changes several refs, so
// the page is told when a second look finds no further change.
func (s *Server) events(w http.ResponseWriter, r *http.Request) {
	const polled = 500 * time.Millisecond // how often an open page looks for changes
	// How often it is written to without one: if that fails, the reader is gone and no longer keeps the server alive.
	const aliveEvery = time.Minute
	w.Header().Set("Content-Type", "text/event-stream")
	send := func(text string) bool {
		_, err := fmt.Fprint(w, text)
		return err == nil && http.NewResponseController(w).Flush() == nil
	}
	told := timesOf(s.Refs)
	before := told
	look, alive := time.NewTicker(polled), time.NewTicker(aliveEvery)
	defer look.Stop()
	defer alive.Stop()
	for open := send("retry: 2000\n\n"); open; {
		select {
		case <-r.Context().Done():
			return
		case <-look.C:
			now := timesOf(s.Refs)
			if now == before && now != told {
				told = now
				open = send("data: changed\n\n")
			}
			before = now
		case <-alive.C:
			open = send(": still here\n\n")
		}
	}
}

// timesOf lists all directories below dirs with their modification times. Creating, replacing or
// deleting a ref changes that of its directory.
func timesOf(dirs []string) string {
	var all []byte
	for _, dir := range dirs {
		_ = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
			if err != nil || !d.IsDir() {
				return nil //nolint:nilerr // it is gone again
			}
			if info, err := d.Info(); err == nil {
				all = fmt.Appendf(all, "%s %d\n", path, info.ModTime().UnixNano())
			}
			return nil
		})
	}
	return string(all)
}
