//go:build unix

package torture

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// ownGroup makes the command start in a process group of its own.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// killGroup kills the whole process group, so that git processes of the program die with it, and
// waits until they have ended: on a busy machine a process that is killed while it creates a file
// may create it a second later.
func killGroup(cmd *exec.Cmd) {
	syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) //nolint:errcheck // it may have ended
	for time.Sleep(20 * time.Millisecond); groupRuns(cmd.Process.Pid); {
		time.Sleep(5 * time.Millisecond)
	}
}

// groupRuns reports whether a process group has a process that has not ended. A zombie has. Where
// the system has no /proc the answer is no.
func groupRuns(group int) bool {
	files, _ := filepath.Glob("/proc/[0-9]*/stat") //nolint:errcheck // the pattern is right
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended since
		}
		// The name of the program is in parentheses and may hold spaces. After it come the state, the
		// parent and the group.
		fields := strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:]))
		if len(fields) > 2 && fields[2] == strconv.Itoa(group) && fields[0] != "Z" && fields[0] != "X" {
			return true
		}
	}
	return false
}
