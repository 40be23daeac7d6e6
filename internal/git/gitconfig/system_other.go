//go:build !linux

package gitconfig

// systemFile is not known here: every way to install git has another place for it.
const systemFile = ""
