package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
)

// plugins gives, for each agent that has plugins, the file that carries it, and the directory in that file.
// That of opencode is a package of npm.
func (r *release) plugins() map[string][2]string {
	all := map[string][2]string{"opencode": {"plugins/opencode-" + r.Name + "-" + r.version + ".tgz", "package/"}}
	for _, agent := range []string{"claude", "codex", "copilot", "droid", "gemini", "qwen"} {
		all[agent] = [2]string{fmt.Sprintf("plugins/%s-%s-%s.tar.gz", r.Name, r.version, agent), r.Name + "/"}
	}
	return all
}

// writePlugins writes the plugins of agents, which the program makes.
func (r *release) writePlugins() error {
	for agent, file := range r.plugins() {
		dir := filepath.Join(r.scratch, "plugins", agent)
		if out, err := exec.Command(r.program(host()), "__plugin", agent, dir).CombinedOutput(); err != nil {
			return fmt.Errorf("plugin of %s: %w: %s", agent, err, out)
		}
		var members []member
		err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return err
			}
			data, err := os.ReadFile(path)
			members = append(members, member{filepath.ToSlash(path[len(dir)+1:]), data, 0o644})
			return err
		})
		var packed bytes.Buffer
		if err == nil {
			err = writeTar(&packed, file[1], members, r.time)
		}
		if err == nil {
			err = r.write(file[0], packed.Bytes())
		}
		if err != nil {
			return err
		}
	}
	return nil
}
