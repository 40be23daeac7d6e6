package gitconfig

// systemFile is the machine's configuration file of a git that was built for the prefix /usr.
// discover.IsDistributed makes sure that no other git is assumed.
const systemFile = "/etc/gitconfig"
