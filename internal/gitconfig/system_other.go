//go:build !linux

package gitconfig

// systemFile is unknown: each way to install git has its own place for it.
const systemFile = ""
