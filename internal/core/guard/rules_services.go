package guard

// serviceRules are the keys of payment, mail, chat and other services.
func serviceRules() []Rule {
	return []Rule{
		{
			ID: "slack-token", What: "a Slack token", Source: "docs.slack.dev, token types",
			Keywords: []string{"xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxs-", "xoxe-", "xoxe.", "xapp-"},
			Pattern:  `xox[bpars]-(?:\d-)?[A-Za-z0-9-]{20,}|xoxe(?:\.xox[bp])?-\d-[A-Za-z0-9-]{20,}|xapp-\d-[A-Z0-9]+-\d+-[a-z0-9]{30,}`,
			Check:    func(m match) bool { return classes(m.secret) >= 3 && isRandom(m) },
		},
		{
			ID: "slack-webhook", What: "a Slack webhook", Source: "docs.slack.dev, incoming webhooks",
			Keywords: []string{"hooks.slack.com/"},
			Pattern:  `hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9+/]{40,56})`,
			Check:    func(m match) bool { return entropy(m.secret) >= 3.8 && !isPlaceholder(m.secret) },
		},
		{
			ID: "discord-webhook", What: "a Discord webhook", Source: "docs.discord.com, webhooks",
			Keywords: []string{"/api/webhooks/"},
			Pattern:  `/api/webhooks/\d{17,20}/([\w-]{60,72})`, Start: anywhere,
		},
		{
			ID: "discord-token", What: "a Discord bot token", Source: "docs.discord.com, authentication",
			Keywords: []string{"discord", "bot_token", "bottoken", ".login(", ".run(", "authorization"},
			Pattern:  `(?:(?i:discord|bot_?token|authorization)[\w.-]{0,20}` + assigned + `|\.(?:login|run)\(\s*)["'\x60]?(?:Bot )?([MNO][\w-]{23,27}\.[\w-]{6}\.[\w-]{27,40})`, Start: anywhere,
		},
		{
			ID: "teams-webhook", What: "a Microsoft Teams webhook", Source: "gitleaks",
			Keywords: []string{".webhook.office.com/"},
			Pattern:  `\.webhook\.office\.com/webhookb2/(` + uuid + `@` + uuid + `/IncomingWebhook/[a-z0-9]{32}/` + uuid + `)`, Start: anywhere,
		},
		{
			ID: "telegram-token", What: "a Telegram bot token", Source: "core.telegram.org, bots",
			Keywords: []string{":aa"}, Back: 10,
			Pattern: `(?:\D{0,2}|.)(\d{8,10}:AA[\w-]{33})`, Start: anywhere,
		},
		{
			ID: "stripe-key", What: "a Stripe key", Source: "docs.stripe.com, API keys",
			Keywords: []string{"sk_live_", "sk_test_", "rk_live_", "rk_test_", "sk_prod_", "rk_prod_"},
			Pattern:  `[sr]k_(?:live|test|prod)_[A-Za-z0-9]{16,}`,
		},
		{
			ID: "stripe-webhook-secret", What: "a Stripe webhook secret", Source: "docs.stripe.com, webhooks",
			Pattern: `whsec_[A-Za-z0-9+/=]{32,64}`,
		},
		{
			ID: "square-token", What: "a Square token", Source: "developer.squareup.com; gitleaks",
			Keywords: []string{"sq0atp-", "sq0csp-", "eaaa"},
			Pattern:  `sq0(?:atp|csp)-[\w-]{22,60}|EAAA[\w-]{60}`,
		},
		{
			ID: "braintree-token", What: "a Braintree token", Source: "developer.paypal.com, access tokens",
			Keywords: []string{"access_token$"},
			Pattern:  `access_token\$(?:production|sandbox)\$[0-9a-z]{16}\$[0-9a-f]{32}`,
		},
		{
			ID: "shopify-token", What: "a Shopify token", Source: "shopify.dev, access tokens",
			Keywords: []string{"shpat_", "shpss_", "shpca_", "shppa_"},
			Pattern:  `shp(?:at|ss|ca|pa)_[0-9a-fA-F]{32}`,
		},
		{
			ID: "sendgrid-key", What: "a SendGrid key", Source: "twilio.com, SendGrid API keys",
			Keywords: []string{"sg."},
			Pattern:  `SG\.[\w-]{22}\.[\w-]{43}`,
		},
		{
			ID: "mailgun-key", What: "a Mailgun key", Source: "documentation.mailgun.com, authentication",
			Pattern: `key-[0-9a-f]{32}`,
		},
		{
			ID: "mailchimp-key", What: "a Mailchimp key", Source: "mailchimp.com, API keys",
			Keywords: []string{"-us"}, Back: 32,
			Pattern: `[0-9a-f]{32}-us\d{1,2}`,
		},
		{
			ID: "twilio-key", What: "a Twilio key", Source: "twilio.com, API keys",
			Keywords: []string{"twilio"},
			Pattern:  `(?i:twilio[\w.-]{0,30})` + assigned + `["'\x60]?((?:SK)?[0-9a-f]{32})`, Start: anywhere, Shape: assignment, Within: textContent,
		},
		{
			ID: "linear-key", What: "a Linear key", Source: "linear.app, API",
			Keywords: []string{"lin_api_", "lin_oauth_"},
			Pattern:  `lin_(?:api_[A-Za-z0-9]{40}|oauth_[0-9a-f]{64})`,
		},
		{
			ID: "notion-token", What: "a Notion token", Source: "developers.notion.com, changelog",
			Keywords: []string{"ntn_", "secret_"},
			Pattern:  `ntn_[0-9]{11}[A-Za-z0-9]{35}|secret_[A-Za-z0-9]{43}`,
		},
		{
			ID: "figma-token", What: "a Figma token", Source: "figma.com, access tokens",
			Keywords: []string{"figd_", "figo_", "figu_"},
			Pattern:  `fig[dou]_[\w-]{36,60}`,
		},
		{
			ID: "airtable-token", What: "an Airtable token", Source: "airtable.com, personal access tokens",
			Pattern: `pat[A-Za-z0-9]{14}\.[0-9a-f]{64}`,
		},
		{
			ID: "postman-key", What: "a Postman key", Source: "learning.postman.com, API keys",
			Pattern: `PMAK-[0-9a-f]{24}-[0-9a-f]{34}`,
		},
		{
			ID: "newrelic-key", What: "a New Relic key", Source: "docs.newrelic.com, API keys",
			Keywords: []string{"nrak-", "nrii-", "nrjs-"},
			Pattern:  `NRAK-[A-Z0-9]{27}|NRII-[\w-]{32}|NRJS-[0-9a-f]{19}`,
		},
		{
			ID: "datadog-key", What: "a Datadog key", Source: "docs.datadoghq.com, API keys",
			Keywords: []string{"datadog", "dd_api_key", "dd_app_key", "dd_application_key"},
			Pattern:  `(?i:(?:datadog|dd_(?:api|app|application)_key)[\w.-]{0,20})` + assigned + `["'\x60]?([0-9a-f]{40}|[0-9a-f]{32})`, Start: anywhere, Shape: assignment, Within: textContent,
		},
		{
			ID: "grafana-token", What: "a Grafana token", Source: "grafana.com, service accounts",
			Keywords: []string{"glsa_", "glc_"},
			Pattern:  `glsa_[A-Za-z0-9]{32}_[0-9a-f]{8}|glc_[A-Za-z0-9+/]{32,}={0,2}`,
		},
		{
			ID: "sentry-token", What: "a Sentry token", Source: "docs.sentry.io, auth tokens",
			Keywords: []string{"sntrys_", "sntryu_"},
			Pattern:  `sntrys_eyJ[A-Za-z0-9+/=]{80,}_[A-Za-z0-9+/]{43}|sntryu_[0-9a-f]{64}`, Reach: 500,
		},
		{
			ID: "mapbox-token", What: "a secret Mapbox token", Source: "docs.mapbox.com, access tokens",
			Keywords: []string{"sk.eyj"},
			Pattern:  `sk\.eyJ[\w-]{40,}\.[\w-]{20,30}`,
		},
		{
			ID: "dropbox-token", What: "a Dropbox token", Source: "dropbox.com/developers, OAuth",
			Keywords: []string{"sl.u."},
			Pattern:  `sl\.u\.[\w-]{130,}`, Reach: 1200,
		},
		{
			ID: "launchdarkly-key", What: "a LaunchDarkly key", Source: "launchdarkly.com, keys",
			Keywords: []string{"launchdarkly", "ld_sdk_key"},
			Pattern:  `(?i:launchdarkly|ld_sdk_key)[\w.-]{0,20}` + assigned + `["']?((?:sdk|api)-` + uuid + `)`, Start: anywhere, Shape: assignment,
		},
		{
			ID: "okta-token", What: "an Okta token", Source: "developer.okta.com, API tokens",
			Keywords: []string{"okta", "ssws "},
			Pattern:  `(?i:okta[\w.-]{0,20}` + assigned + `["']?|ssws )(00[\w-]{40})`, Start: anywhere,
		},
	}
}
