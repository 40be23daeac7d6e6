package guard

import "strings"

// options are the options by which programs take a password, each with the programs and a pattern of what stands
// between the program and the password. An option that says what it is, such as --password, is a name; see names.go.
var options = []struct{ programs, option string }{
	{"mysql mysqldump mysqladmin mysqlimport mysqlcheck mysqlshow mariadb mariadb-dump mariadb-admin 7z 7za 7zz rar unrar sshpass", ` (?:[^\n|;]{0,200}? )?-h?p`},
	{"sshpass docker podman nerdctl buildah mongo mongosh mongodump mongorestore mongoexport mongoimport twine cqlsh az oc cf influx clickhouse-client", ` (?:[^\n|;]{0,200}? )?-p[ =]`},
	{"redis-cli valkey-cli keydb-cli", ` (?:[^\n|;]{0,200}? )?-a[ =]?`},
	{"curl", ` (?:[^\n|;]{0,200}? )?(?:-u|--user|--proxy-user)[ =]?["']?[^\s:"'$]{1,64}:`},
	{"http https xh", ` (?:[^\n|;]{0,100}? )?(?:-a|--auth)[ =]?["']?[^\s:"'$]{1,64}:`},
	{"smbclient rpcclient lftp", ` (?:[^\n|;]{0,200}? )?(?:-U|-u|--user)[ =]?["']?[^\s%,"'$]{1,64}[%,]`},
	{"ldapsearch ldapmodify ldapadd ldapdelete ldapwhoami ldappasswd", ` (?:[^\n|;]{0,200}? )?-w ?`},
	{"sqlcmd bcp ipmitool zip unzip zipcloak mosquitto_pub mosquitto_sub isql rpc", ` (?:[^\n|;]{0,200}? )?-P ?`}, //nolint:misspell // Mosquitto is an MQTT broker
	{"htpasswd", ` -\w*b\w*(?: -\w+)* \S+ \S+ `},
	{"gh", ` (?:secret|variable) set [^\n|;]{0,120}?(?:--body|-b)[ =]`},
	{"openssl", ` [^\n|;]{0,300}?-(?:pass|passin|passout|k)[ =]["']?(?:pass:)?`},
	{"ssh-keygen", ` (?:[^\n|;]{0,200}? )?-[NP] `},
	{"vault", ` login (?:-\S+ )*(?:token=)?`},
	{"wpa_passphrase", ` \S+ `},
	{"rclone", ` obscure `},
	{"sqlplus", ` (?:-\w+ )*\w+/`},
	{"xfreerdp wfreerdp xfreerdp3", ` (?:[^\n|;]{0,200}? )?/p:`},
	{"net", ` user? (?:\S+ ){1,3}`},
	{"mc", ` alias set \S+ \S+ \S+ `},
}

// commandRules returns a rule for each line of options, and one for programs that read a password from a pipe.
func commandRules() []Rule {
	rule := Rule{
		ID: "command-password", What: "a password in a command", Source: "manuals of curl, mysql, docker and others", Within: textContent, Guess: true,
		Check: func(m match) bool { return isStrong(m.secret) || isChosen(m.secret) },
	}
	rule.Keywords, rule.Needs = []string{"echo ", "printf "}, "|"
	rule.Pattern = `(?i:echo|printf) (?:-\w+ )?["']?(?:\w{1,32}:)?([^\s"'$|<-][^\s"'|]{5,})["']? *\| *(?:sudo )?[^\n|]{0,80}?(?:--password-stdin|--with-token|--stdin|chpasswd|passwd|sudo -S|docker login|-pass stdin)`
	all := []Rule{rule}
	for _, o := range options {
		rule.Keywords, rule.Needs = nil, ""
		for program := range strings.FieldsSeq(o.programs) {
			rule.Keywords = append(rule.Keywords, program+" ", program+".exe ")
		}
		if strings.Contains(o.option, "-") {
			rule.Needs = "-"
		}
		rule.Pattern = `(?i:` + strings.ReplaceAll(o.programs, " ", "|") + `)(?:\.exe)?` + o.option + `["']?([^\s"'$<{%-][^\s"']{5,})`
		all = append(all, rule)
	}
	return all
}
