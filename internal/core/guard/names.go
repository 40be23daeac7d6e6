package guard

import (
	"bytes"
	"slices"
	"strings"

	"git-checkpoint/internal/sys/lazy"
)

// promise says what a name promises of its value, and so how much the value itself has to prove.
type promise int

const (
	noSecret promise = iota
	key              // something that programs make, or something else: the value has to look random, and be long
	secret           // a secret: the value has to look random
	password         // what people choose, too
	words12          // the words of a wallet
)

// stems are the words by which the name of a secret is known, with what they promise. A stem that begins with _ is a
// whole word of the name.
var stems = map[string]promise{
	"assword": password, "passwd": password, "passphrase": password, "passcode": password, "_pass": password, "_pwd": password, "passwort": password,
	"bindpw": password, "rootpw": password, "userpw": password, "adminpw": password, "ldappw": password, "requirepass": password, "masterauth": password,
	"storepass": password, "keypass": password, "dbpass": password, "userpass": password, "authpass": password, "kennwort": password, "contraseña": password, "senha": password,
	"identified by": password, "securestring": password, "_pw": password, "pre-shared-key": password, "presharedkey": password, "pre_shared_key": password, "_psk": password, "wpa-psk": password, "key-string": password,
	"secret": secret, "token": secret, "credential": secret, "_pat": key, "_jwt": secret, "bearer": secret, "authorization": secret,
	"_auth": key, "_salt": key, "_apikey": secret, "apikey": secret, "authkey": secret, "mnemonic": words12, "seed phrase": words12, "seed_phrase": words12, "seedphrase": words12,
	"recovery phrase": words12, "community": key, "api key": secret, "access key": secret, "secret key": secret, "private key": secret, "license key": secret, "account key": secret,
	"key": key, "sharedaccesssignature": key, "connectionstring": noSecret, "_sig": key,
}

// vowed are words that make a key a secret: api_key, signingKey.
var vowed = words("api access secret private auth signing sign encryption encrypt crypt master license account webhook app service admin storage shared session hmac aes jwt deploy " +
	"secretkey client consumer server root user write read ingest sdk subscription publishable integration dev prod live test stripe openai anthropic google aws azure azureml maps sendgrid mailgun")

// sidelined are words that make a key no secret: public_key, primary_key, cacheKey.
var sidelined = words("public pub primary foreign sort cache partition index hot short cut row unique map dict lookup group registry order routing arrow shift ctrl alt host hash object " +
	"idempotency message name field column property attr config i18n translation locale redis record entity item node sub super parent this next prev previous first last min max by for is has get set " +
	"data query state react shortcut meta any no per with in on all each same other new old current selected known unknown ssh gpg pgp signer verify verification track fetch url dedup section header label env var manager release")

// qualifying are words after the word that names a secret, which leave it one: password_prod, token2, SECRET_VALUE.
var qualifying = words("s base b b64 64 hex value val text plain plaintext raw string str bytes data literal default prod production dev development stage staging test testing qa uat live main primary secondary " +
	"backup old new current next previous admin user root db database master replica slave server client app api service internal external local remote global public private web www key secret token " +
	"bearer auth access refresh id3 v1 v2 v3 v4 a b c us eu ap one two for of to in the on and is my our your ro rw read write rsa aws gcp azure github gitlab slack stripe openai npm pypi smtp mail email ftp ssh redis " +
	"postgres postgresql mysql mongo mongodb rabbitmq kafka ldap wifi vpn cleartext plain unencrypted ci cd bot hash0 bak tmp x y z")

// words returns whether a word is in a list. It makes no map, which every start of the program would pay for.
func words(list string) func(word string) bool {
	list = " " + list + " "
	return func(word string) bool { return strings.Contains(list, " "+word+" ") }
}

// name is the name of a secret in a text.
type name struct {
	from, to int // of the whole name
	kind     promise
	vague    bool // words follow in the name that may make it the name of something else
}

// nameAt returns the name around a stem, or one of the kind noSecret.
func nameAt(text []byte, at int, stem string) name {
	end := at + len(strings.TrimPrefix(stem, "_"))
	if stem[0] == '_' && (!startsWord(text[end:], text[end-1]) || !endsWord(text[:at]) && !(text[at] < 'a' && text[at-1] >= 'a')) {
		return name{}
	}
	n := name{from: at, to: end, kind: stems[stem]}
	const most = 80
	for n.from > 0 && inName(text[n.from-1]) && at-n.from < most {
		n.from--
	}
	for n.to < len(text) && inName(text[n.to]) && n.to-at < most {
		n.to++
	}
	for n.to > at && text[n.to-1] == '.' { // the end of a sentence
		n.to--
	}
	before, after := text[n.from:at], text[min(end, n.to):n.to]
	if stem == "key" {
		n.kind = keyOf(before, text[at:end])
	}
	for _, word := range split(after) {
		switch {
		case aside(word):
			return name{}
		case len(word) > 1 && len(word) < 12 && qualifying(word), isNumber(word):
		default:
			n.vague = true
		}
	}
	return n
}

func inName(b byte) bool { return isWord(b) || b == '-' || b == '.' }

// aside are words in a name after that of a secret, of what belongs to a secret and is none.
var aside = words("id ids at alg len ttl env var ref refs name names file files path paths dir url urls uri uris endpoint header headers prefix suffix type types expiry expires expiration expire length size count " +
	"algorithm policy field fields label manager provider stdin encryption hint reset validator strength min max input box form page link rotation hashed hash digest format regex pattern pos kind list map set " +
	"class error err exception handler store storage cache service1 index idx num number limit bucket usage enabled required lifetime age created updated changed date time scope scopes issuer audience " +
	"generator factory builder parser reader filter mgr util helper test1 tests fixture mock")

// keyOf returns what a "key" promises, by the words before it.
func keyOf(before, stem []byte) promise {
	words := split(before)
	if len(words) == 0 || isLetter(before[len(before)-1]) && isLetter(stem[0]) && stem[0] >= 'a' && !vowedEnd(before) {
		return noSecret
	}
	switch word := words[len(words)-1]; {
	case sidelined(word), isNumber(word):
		return noSecret
	case vowed(word):
		return secret
	}
	return key
}

// vowedEnd reports whether a name in one case, such as APIKEY or signingkey, ends with a vowed word.
func vowedEnd(before []byte) bool {
	all := strings.ToLower(string(before))
	return slices.ContainsFunc([]string{"api", "access", "secret", "private", "auth", "signing", "encryption", "master", "license", "account", "webhook", "app"}, func(word string) bool {
		return strings.HasSuffix(all, word)
	})
}

// split returns the words of a name, in lower case: of DB_PASSWORD2, dbPassword-2 or DBPassword2.
func split(text []byte) (all []string) {
	for _, groups := range wordsOf().FindAllSubmatch(text, -1) {
		for _, word := range groups[1:] {
			if len(word) > 0 {
				all = append(all, string(bytes.ToLower(word)))
			}
		}
	}
	return all
}

// wordsOf matches a word, or several capitals and the word after them.
var wordsOf = lazy.Pattern(`([0-9]+)|([A-Z]*?)([A-Z]?[a-z]+)|([A-Z]+)`)

// endsWord and startsWord report whether a word of a name ends before a stem, and begins after it.
func endsWord(before []byte) bool { return len(before) == 0 || !isLetter(before[len(before)-1]) }

func startsWord(after []byte, last byte) bool {
	return len(after) == 0 || !isLetter(after[0]) || after[0] < 'a' && last >= 'a'
}

func isNumber(word string) bool { return len(word) > 0 && isDigit(word[0]) }

func isDigit(b byte) bool { return '0' <= b && b <= '9' }
