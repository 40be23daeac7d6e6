package gitconfig

// systemFile is where git reads the machine's configuration when it was built for
// /usr, by git's own Makefile.
const systemFile = "/etc/gitconfig"
