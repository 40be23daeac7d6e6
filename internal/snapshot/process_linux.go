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
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return ""
	}
	const startTime = 19 // of the fields behind the name, which may hold anything
	fields := bytes.Fields(data[bytes.LastIndexByte(data, ')')+1:])
	if len(fields) <= startTime {
		return ""
	}
	return string(fields[startTime])
}
