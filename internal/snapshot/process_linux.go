package snapshot

import (
	"bytes"
	"os"
	"strconv"
)

// bornAt is when a process began, in ticks since the system did: the number of a process
// that was killed is soon another's, above all where a container begins to count anew. It
// is empty when that is not known.
func bornAt(pid int) string {
	const startTime = 19
	fields := statOf(pid)
	if len(fields) <= startTime {
		return ""
	}
	return string(fields[startTime])
}

// ended reports whether a process is dead although its number is still taken: a zombie,
// which stays for good where the first process of a container does not wait for it.
func ended(pid int) bool {
	fields := statOf(pid)
	return len(fields) > 0 && (string(fields[0]) == "Z" || string(fields[0]) == "X")
}

// statOf gives the fields of /proc/<pid>/stat from the state on: those behind the name,
// which may hold anything. There are none when the file cannot be read.
func statOf(pid int) [][]byte {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return nil
	}
	return bytes.Fields(data[bytes.LastIndexByte(data, ')')+1:])
}
