//go:build !linux

package git

// systemConfig is unknown: each way to install git has its own place for it.
const systemConfig = ""

func isDistributed(string) bool { return false }

func workingDir() (string, error) { return "", errAsk }

func ours(string) bool { return false }

func sameDevice(_, _ string) bool { return false }
