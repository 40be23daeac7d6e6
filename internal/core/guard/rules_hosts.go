package guard

// hostRules are the tokens of hosts for code, packages and builds. A short prefix such as
// "cio" or "oy2" needs a stricter check, because ordinary text contains it.
func hostRules() []Rule {
	return []Rule{
		{
			ID: "github-token", What: "a GitHub token", Source: "github.blog, behind GitHub's new authentication token formats",
			Keywords: []string{"ghp_", "gho_", "ghu_", "ghs_", "ghr_"},
			Pattern:  `gh[pousr]_[A-Za-z0-9]{36,}`, Check: isGitHubs,
		},
		{
			ID: "github-fine-grained-token", What: "a GitHub token", Source: "docs.github.com, fine-grained personal access tokens",
			Pattern: `github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}`,
		},
		{
			ID: "gitlab-token", What: "a GitLab token", Source: "docs.gitlab.com, token prefixes",
			Keywords: []string{"glpat-", "gldt-", "glrt-", "glcbt-", "glptt-", "glft-", "glsoat-", "glagent-", "glimt-", "gloas-", "glffct-"},
			Pattern:  `gl(?:pat|dt|rt|cbt|ptt|ft|soat|agent|imt|oas|ffct)-[\w.-]{20,}`,
		},
		{
			ID: "bitbucket-token", What: "a Bitbucket app password", Source: "support.atlassian.com, app passwords",
			Pattern: `ATBB[A-Za-z0-9]{24,32}[0-9A-F]{0,8}`,
		},
		{
			ID: "atlassian-token", What: "an Atlassian token", Source: "support.atlassian.com, API tokens",
			Keywords: []string{"atatt3", "atctt3"},
			Pattern:  `AT[AC]TT3[\w=-]{150,}`,
		},
		{
			ID: "npm-token", What: "an npm token", Source: "github.blog, npm's new access token format",
			Pattern: `npm_[A-Za-z0-9]{36}`, Check: isGitHubs,
		},
		{
			ID: "npmrc-token", What: "a token of a package registry", Source: "docs.npmjs.com, npmrc",
			Keywords: []string{"_authtoken", "_auth=", "_auth =", "_password=", "_password ="},
			Pattern:  `(?:_authToken|_auth|_password)[ \t]{0,3}=[ \t]{0,3}"?([\w+/=.-]{16,})`, Start: anywhere, Within: textContent,
			Check: func(m match) bool {
				return len(m.before) > 0 && (m.before[0] == '/' || m.before[len(m.before)-1] == ':') && isLongRandom(m.secret)
			},
		},
		{
			ID: "pypi-token", What: "a PyPI token", Source: "pypi.org, API tokens",
			Keywords: []string{"pypi-ageicHlwaS5vcmc", "pypi-agendgvzdc5wexBp"},
			Pattern:  `pypi-(?:AgEIcHlwaS5vcmc|AgENdGVzdC5weXBp)[\w-]{50,}`, Reach: 1200,
		},
		{
			ID: "rubygems-token", What: "a RubyGems key", Source: "guides.rubygems.org, API keys",
			Pattern: `rubygems_[0-9a-f]{48}`,
		},
		{
			ID: "crates-token", What: "a crates.io token", Source: "crates.io's source, token prefix",
			Pattern: `cio[A-Za-z0-9]{32}`, Check: func(m match) bool { return classes(m.secret) == 3 && isRandom(m) },
		},
		{
			ID: "nuget-key", What: "a NuGet key", Source: "github.com, secret scanning patterns",
			Pattern: `oy2[a-z0-9]{43}`, Check: func(m match) bool { return classes(m.secret) == 2 && isRandom(m) },
		},
		{
			ID: "clojars-token", What: "a Clojars token", Source: "github.com/clojars, deploy tokens",
			Pattern: `CLOJARS_[a-f0-9]{60}`,
		},
		{
			ID: "docker-token", What: "a Docker token", Source: "docs.docker.com, access tokens",
			Keywords: []string{"dckr_pat_", "dckr_oat_"},
			Pattern:  `dckr_[po]at_[\w-]{27,64}`,
		},
		{
			ID: "docker-config-auth", What: "a password in Docker's configuration", Source: "docs.docker.com, config.json",
			Keywords: []string{`"auth"`},
			Pattern:  `"auth"[ \t]{0,3}:[ \t]{0,3}"([A-Za-z0-9+/]{16,}={0,2})"`, Check: isBasicAuth, Start: anywhere, Guess: true,
		},
		{
			ID: "artifactory-key", What: "an Artifactory key", Source: "gitleaks",
			Keywords: []string{"akcp", "cmvmd"},
			Pattern:  `AKCp[A-Za-z0-9]{69}|cmVmd[A-Za-z0-9]{59}`, Check: func(m match) bool { return entropy(m.secret) >= 4.3 },
		},
		{
			ID: "circleci-token", What: "a CircleCI token", Source: "circleci.com, API tokens",
			Keywords: []string{"ccipat_", "ccipra_"},
			Pattern:  `CCIP(?:AT|RA)_[A-Za-z0-9]{22}_[0-9a-f]{40}`,
		},
		{
			ID: "buildkite-token", What: "a Buildkite token", Source: "buildkite.com, managing API access tokens",
			Pattern: `bkua_[0-9a-f]{40}`,
		},
		{
			ID: "sourcegraph-token", What: "a Sourcegraph token", Source: "sourcegraph.com, access tokens",
			Keywords: []string{"sgp_", "slk_"},
			Pattern:  `sgp_(?:(?:[0-9a-f]{16}|local)_)?[0-9a-f]{40}|slk_[0-9a-f]{64}`,
		},
		{
			ID: "netlify-token", What: "a Netlify token", Source: "docs.netlify.com, personal access tokens",
			Pattern: `nfp_[A-Za-z0-9_]{36}`,
		},
		{
			ID: "vercel-token", What: "a Vercel token", Source: "vercel.com, token formats",
			Keywords: []string{"vcp_", "vci_", "vca_", "vcr_", "vck_"},
			Pattern:  `vc[piark]_[A-Za-z0-9]{24,60}`, Check: func(m match) bool { return classes(m.secret) == 4 && isRandom(m) },
		},
		{
			ID: "doppler-token", What: "a Doppler token", Source: "docs.doppler.com, token formats",
			Keywords: []string{"dp.pt.", "dp.st.", "dp.ct.", "dp.sa.", "dp.scim.", "dp.audit."},
			Pattern:  `dp\.(?:pt|st|ct|sa|scim|audit)\.(?:[a-z0-9\-_]{2,35}\.)?[A-Za-z0-9]{40,44}`,
		},
		{
			ID: "onepassword-token", What: "a 1Password token", Source: "developer.1password.com, service accounts",
			Keywords: []string{"ops_eyj", "a3-"},
			Pattern:  `ops_eyJ[A-Za-z0-9+/_-]{250,}={0,3}|A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})-[A-Z0-9]{5}-[A-Z0-9]{5}-[A-Z0-9]{5}`, Reach: 3300,
		},
	}
}
