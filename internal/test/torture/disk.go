package torture

// The disk is read with plain system calls into a map of nodes. That is the reference for
// everything: neither the program nor git is asked what is in the worktree.

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"sort"
	"strings"
	"time"
)

// node is a file, a symbolic link, a directory or anything else on disk.
type node struct {
	Type fs.FileMode
	Perm fs.FileMode
	// Content of a file, or target of a symbolic link.
	Data string
	Time time.Time
}

// file reports whether it is a regular file.
func (n node) file() bool { return n.Type == 0 }

// captures reports whether a checkpoint can hold it.
func (n node) captures() bool { return n.Type == 0 || n.Type == fs.ModeSymlink }

// mode returns the mode that git gives to it in a tree.
func (n node) mode() string {
	switch {
	case n.Type == fs.ModeSymlink:
		return "120000"
	case n.Perm&0o100 != 0:
		return "100755"
	}
	return "100644"
}

// withoutModes gives all files the same permissions: those of a disk without modes say nothing.
func (d disk) withoutModes() {
	for p, n := range d {
		if n.file() {
			n.Perm = 0o644
			d[p] = n
		}
	}
}

// alike reports whether git would see no difference: permissions count only as far as git
// records them.
func (n node) alike(m node) bool {
	return n.Type == m.Type && n.Data == m.Data && (n.Type != 0 || n.mode() == m.mode())
}

// String describes the node for a message.
func (n node) String() string {
	data := n.Data
	if len(data) > 40 {
		data = data[:40] + fmt.Sprintf("… (%d bytes)", len(n.Data))
	}
	switch {
	case n.Type.IsDir():
		return "a directory " + fmt.Sprintf("%04o", n.Perm)
	case n.Type == fs.ModeSymlink:
		return fmt.Sprintf("a link to %q", data)
	case n.Type != 0:
		return "a " + n.Type.String()
	}
	return fmt.Sprintf("%04o %q %s", n.Perm, data, n.Time.Format("05.000000"))
}

// disk maps paths to everything below a directory.
type disk map[string]node

// readDisk reads everything below dir, except for paths that skip names. It opens one
// directory at a time, so that paths may be longer than the system accepts.
func readDisk(dir string, skip func(string) bool) (disk, error) {
	d := disk{}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return d, d.read(root, "", skip)
}

// read adds the content of root, whose path is prefix.
func (d disk) read(root *os.Root, prefix string, skip func(string) bool) error {
	defer root.Close()
	f, err := root.Open(".")
	if err != nil {
		return err
	}
	names, err := f.Readdirnames(-1)
	f.Close()
	if err != nil {
		return err
	}
	for _, name := range names {
		p := path.Join(prefix, name)
		// The caller names what changes by itself, such as the objects of git.
		if skip(p) {
			continue
		}
		info, err := root.Lstat(name)
		if err != nil {
			return err
		}
		n := node{Type: info.Mode().Type(), Perm: info.Mode().Perm(), Time: info.ModTime()}
		switch {
		case n.Type == fs.ModeSymlink:
			// Permissions of a link mean nothing and differ between systems.
			n.Perm = 0
			n.Data, err = root.Readlink(name)
		case n.Type.IsDir():
			var sub *os.Root
			if sub, err = root.OpenRoot(name); err == nil {
				err = d.read(sub, p, skip)
			}
		case n.file():
			n.Data, err = content(root, name)
		}
		if err != nil {
			return err
		}
		d[p] = n
	}
	return nil
}

// content reads a whole file.
func content(root *os.Root, name string) (string, error) {
	f, err := root.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	var b strings.Builder
	_, err = io.Copy(&b, f)
	return b.String(), err
}

// below returns the part of d below dir, with paths relative to it.
func (d disk) below(dir string) disk {
	out := disk{}
	for p, n := range d {
		if rest, ok := strings.CutPrefix(p, dir+"/"); ok {
			out[rest] = n
		}
	}
	return out
}

// paths returns all paths, sorted.
func (d disk) paths() []string {
	out := make([]string, 0, len(d))
	for p := range d {
		out = append(out, p)
	}
	sort.Strings(out)
	return out
}

// under reports whether p is dir or is below it.
func under(p, dir string) bool { return p == dir || strings.HasPrefix(p, dir+"/") }

// changes lists the differences between two readings. Times count, those of directories
// too.
func changes(before, after disk) (out []string) {
	for _, p := range before.paths() {
		n, there := after[p]
		switch {
		case !there:
			out = append(out, fmt.Sprintf("%q is gone, was %v", p, before[p]))
		// Equal times may differ as structs, so compare them by Equal.
		case n != before[p] && !(n.Time.Equal(before[p].Time) && n.String() == before[p].String() && n.Data == before[p].Data):
			out = append(out, fmt.Sprintf("%q was %v, is %v", p, before[p], n))
		}
	}
	for _, p := range after.paths() {
		if _, there := before[p]; !there {
			out = append(out, fmt.Sprintf("%q is new: %v", p, after[p]))
		}
	}
	return out
}
