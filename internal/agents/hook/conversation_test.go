package hook

import (
	"path/filepath"
	"testing"
	"time"

	"git-checkpoint/internal/core/agent"
)

// A subagent's conversation is that of its parent, and old ones are forgotten, whatever the
// directory is called.
func TestConversations(t *testing.T) {
	now := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	h := &memory{agent: "claude", dir: filepath.Join(t.TempDir(), "a [b] *"), now: func() time.Time { return now }}
	release, err := h.lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	if err := h.saveConversation(&conversation{ID: "old"}); err != nil {
		t.Fatal(err)
	}
	now = now.Add(forgetAfter + time.Hour)
	if err := h.saveConversation(&conversation{ID: "parent", Children: []string{"child"}}); err != nil {
		t.Fatal(err)
	}
	if c := h.open(agent.Event{Session: "child"}); c.ID != "parent" || !c.child {
		t.Errorf("the child's conversation is %+v", c)
	}
	if c := h.read(h.file("old")); c.ID != "" {
		t.Errorf("remembered after a month: %+v", c)
	}
	if c := h.open(agent.Event{Session: "other"}); c.ID != "other" || c.child {
		t.Errorf("another conversation is %+v", c)
	}
}
