package snapshot

import (
	"bytes"
	"os"
	"strconv"
)

// bornAt returns when a process began, in clock ticks since boot, or "" if that is not known. A
// process number alone does not identify a process: it is soon used again, in particular in a
// container, where numbers start at 1.
func bornAt(pid int) string {
	// Field 22 of proc(5) is "starttime"; the first field here is field 3, the state.
	const startTime = 19
	fields := statOf(pid)
	if len(fields) <= startTime {
		return ""
	}
	return string(fields[startTime])
}

// ended reports whether a process is dead although its number is still taken. Such a zombie can
// stay forever in a container whose first process does not wait for its children.
func ended(pid int) bool {
	fields := statOf(pid)
	return len(fields) > 0 && (string(fields[0]) == "Z" || string(fields[0]) == "X")
}

// statOf returns the fields of /proc/<pid>/stat, beginning with the state. The process name
// before it stands in parentheses and may hold any characters, so the last ")" is searched. It
// returns nil if the file cannot be read.
func statOf(pid int) [][]byte {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return nil
	}
	return bytes.Fields(data[bytes.LastIndexByte(data, ')')+1:])
}
