package guard

// specialRules recognise a secret by the format that it is stored in, or by the place where it stands.
func specialRules() []Rule { //nolint:funlen // a table
	return []Rule{
		{
			ID: "private-key", What: "a private key", Source: "RFC 7468; OpenSSH, PROTOCOL.key",
			Pattern: `-----BEGIN[A-Z ]{0,20} PRIVATE KEY(?: BLOCK)?-----((?:[^\w/+=-]|\\[nr]|//|#|\b(?:[A-Z][A-Za-z-]+: ?[^\n\\"]*))*[A-Za-z0-9+/=](?:[A-Za-z0-9+/=]|[\s"'+,.\\|&_;()>#*])+)`,
			Start:   anywhere, Reach: 4000, Check: isKeyBody,
		},
		{
			ID: "encoded-private-key", What: "a private key in base64", Source: "kubernetes.io, kubeconfig and Secrets of type tls",
			Keywords: []string{"ls0tls1crudjti"},
			Pattern:  `LS0tLS1CRUdJTi[A-Za-z0-9+/]{80,}={0,2}`, Reach: longestReach, Check: isEncodedKey,
		},
		{
			ID: "putty-key", What: "a private key", Source: "PuTTY's manual, appendix C",
			Keywords: []string{"private-lines:"},
			Pattern:  `Private-Lines: \d+\s+([A-Za-z0-9+/=\s]{40,})`, Check: isKeyBody,
		},
		{
			ID: "jwk-private-key", What: "a private key", Source: "RFC 7517",
			Keywords: []string{"kty"}, Start: anywhere,
			Pattern: `kty"[^{}]*?"[dk]"\s*:\s*"([\w-]{22,})"`, Reach: longestReach, Check: isRandom,
		},
		{
			ID: "jwk-private-key", Keywords: []string{"kty"}, Start: anywhere, Back: 2000,
			Pattern: `[^{}]*"d"\s*:\s*"([\w-]{22,})"[^{}]*"kty"|[\s\S]*\{[^{}]*"d"\s*:\s*"([\w-]{22,})"[^{}]*"kty"`, Check: isRandom,
		},
		{
			ID: "session-cookie", What: "a session in a cookie", Source: "RFC 6265",
			Keywords: []string{"cookie"}, Within: textContent, Guess: true, Firm: true,
			Pattern: `(?i)cookie2?["']?[ \t]*[:=,][ \t]*(?:["'\w]+:[ \t]*)?["']?(?:[\w.-]+=[^;\s"']*;[ \t]*)*?[\w.-]*(?:sess|sid\b|auth|token|jwt|remember)[\w.-]*=([^;\s"']{16,})`, Start: anywhere, Check: func(m match) bool { return isUnmistakable(m.secret, near) },
		},
		{
			ID: "wallet-key", What: "a private key of a wallet", Source: "hardhat.org, accounts",
			Keywords: []string{"accounts", "private"}, Pattern: `(?i)(?:accounts|private_?keys?)["']?\s*[:=]\s*\[\s*["'](?:0x)?([0-9a-f]{64})`, Check: isRandom,
		},
		{
			ID:       "discord-token",
			Keywords: []string{".login(", ".run(", "bot "},
			Pattern:  `(?:\.(?:login|run)\(\s*["'\x60]|Bot )([MNO][\w-]{23,27}\.[\w-]{6}\.[\w-]{27,40})`, Start: anywhere,
		},
		{
			ID: "jwt", What: "a signed token (JWT)", Source: "RFC 7519",
			Pattern: `eyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{20,}`, Reach: longestReach, Check: isJWT,
		},
		{
			ID: "url-password", What: "a password in an address", Source: "RFC 3986, userinfo",
			Keywords: []string{"://"}, Needs: "@",
			Pattern: `://[^\s:/?#\[\]@"'<>\x60\\]{0,64}:([^\s/"\x60\\]{3,})@([\w.-]+|\[[\da-f:]+\]|\w+\()`, Start: anywhere, Within: textContent, Guess: true, Firm: true, Check: isURLPassword,
		},
		{
			ID: "url-password", What: "a password in an address", Source: "RFC 3986, userinfo",
			Keywords: []string{"://"}, Needs: "@",
			Pattern: `://([\w-]{20,})(?::x-oauth-basic|:)?@([\w.-]+)`, Start: anywhere, Within: textContent, Guess: true, Firm: true,
			Check: func(m match) bool { return isStrong(m.secret) && hasDigit(m.secret) && !isLocalOrExample(m.groups[2]) },
		},
		{
			ID: "url-password", What: "a password in an address", Source: "go-sql-driver/mysql, DSN",
			Keywords: []string{"@tcp(", "@unix(", "@udp("}, Back: 80,
			Pattern: `[\s\S]*?[\w.-]+:([^\s"'\x60]{6,})@((?:tcp|unix|udp)\([^)]*\))`, Start: anywhere, Within: textContent, Guess: true, Firm: true, Check: isURLPassword,
		},
		{
			ID: "pgpass-password", What: "a password in .pgpass", Source: "postgresql.org, the password file",
			Keywords: []string{":5432:", ":*:", ":5433:", ":6432:"},
			Pattern:  `:(?:5432|5433|6432|\*):[^:\s]{1,64}:[^:\s]{1,64}:((?:[^\s:\\]|\\.){6,})(?:\r?\n|\z)`, Start: anywhere, Within: textContent, Guess: true,
			Check: func(m match) bool {
				return credentialLine().Match(m.before) && (isStrong(m.secret) || isChosen(m.secret))
			},
		},
		{
			ID: "basic-auth", What: "a password for HTTP", Source: "requests' and axios' documentation, authentication",
			Keywords: []string{"auth=(", "auth = (", "basicauth(", "basic_auth(", ".login(", "credential(", "credentials(", "auth(", "authentication(", "authenticator(", "user = \"", "user=\"", "userpwd"}, Needs: ",:",
			Pattern: `(?i)[\w. =]{1,20}\(\s*@?["'][^"'\s]{1,64}["']\s*,\s*@?["']([^"'\s]{6,})["']|user(?:pwd)? ?[=,] ?["'][\w.@-]{1,64}:([^"'\s]{6,})["']`, Start: anywhere, Within: textContent, Guess: true,
			Check: func(m match) bool { return isStrong(m.secret) || isChosen(m.secret) },
		},
	}
}

// namedRules are of values that stand beside a name; see names.go and shapes.go. The first ones are known by the name
// and the pattern of the value.
func namedRules() []Rule {
	guess := func(id, what, source string) Rule {
		return Rule{ID: id, What: what, Source: source, Within: textContent, Guess: true}
	}
	return []Rule{
		{ID: "aws-secret-key", What: "an AWS secret access key", Source: "docs.aws.amazon.com, IAM access keys", Named: "secretaccesskey awssecret", Pattern: `[A-Za-z0-9/+]{40}`},
		{ID: "aws-session-token", What: "an AWS session token", Source: "docs.aws.amazon.com, temporary credentials", Named: "sessiontoken", Pattern: `(?:IQoJ|FwoG|FQoG)[A-Za-z0-9/+=]{100,}`},
		{ID: "azure-storage-key", What: "an Azure storage key", Source: "learn.microsoft.com, storage connection strings", Named: "accountkey", Pattern: `[A-Za-z0-9+/]{86}==`},
		{ID: "azure-shared-access-key", What: "an Azure shared access key", Source: "learn.microsoft.com, Service Bus connection strings", Named: "sharedaccesskey", Pattern: `[A-Za-z0-9+/]{43}=`},
		{ID: "azure-sas-signature", What: "an Azure shared access signature", Source: "learn.microsoft.com, service SAS", Named: "=sig", Pattern: `[A-Za-z0-9%/+]{40,80}(?:%3[Dd]|=)`},
		{ID: "heroku-key", Named: "heroku", Pattern: uuid},
		{ID: "cloudflare-key", Named: "cloudflare cfapi", Pattern: `[0-9a-f]{37}|[\w-]{40}`},
		{ID: "cohere-key", What: "a Cohere key", Source: "gitleaks", Named: "cohere coapikey", Pattern: `[A-Za-z0-9]{40}`},
		{ID: "twilio-key", Named: "twilio", Pattern: `(?:SK)?[0-9a-f]{32}`},
		{ID: "datadog-key", What: "a Datadog key", Source: "docs.datadoghq.com, API keys", Named: "datadog ddapikey ddappkey ddapplicationkey", Pattern: `[0-9a-f]{40}|[0-9a-f]{32}`},
		{ID: "launchdarkly-key", What: "a LaunchDarkly key", Source: "launchdarkly.com, keys", Named: "launchdarkly ldsdkkey", Pattern: `(?:sdk|api)-` + uuid},
		{ID: "okta-token", Named: "okta", Pattern: `00[\w-]{40}`},
		{ID: "discord-token", Named: "discord bottoken", Pattern: `[MNO][\w-]{23,27}\.[\w-]{6}\.[\w-]{27,40}`},
		{ID: "npmrc-token", What: "a token of a package registry", Source: "docs.npmjs.com, npmrc", Named: "=_authtoken =_auth =_password", Pattern: `[\w+/=.-]{16,}`, Check: func(m match) bool { return isLongRandom(m.secret) || isBasicAuth(m) }},
		{ID: "docker-config-auth", What: "a password in Docker's configuration", Source: "docs.docker.com, config.json", Named: "=auth", Pattern: `[A-Za-z0-9+/]{16,}={0,2}`, Guess: true, Check: isBasicAuth},
		{ID: "authorization-header", What: "a credential in a header", Source: "RFC 7617, RFC 6750", Within: textContent, Guess: true, Firm: true},
		guess("connection-password", "a password in a connection string", "learn.microsoft.com, connection string syntax"),
		guess("netrc-password", "a password in .netrc", "GNU inetutils, .netrc"),
		guess("named-password", "a password", "gitleaks, generic-api-key"),
		guess("named-secret", "a secret", "gitleaks, generic-api-key"),
		guess("paired-secret", "a secret", "kubernetes.io, environment variables"),
	}
}

// credentialLine matches what precedes the port in a line of .pgpass.
var credentialLine = lazily(`^(?: *\d+(?:[:|\t]|→)\s*)?[\w.*-]+(?::\*)?$`)
