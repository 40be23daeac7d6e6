package guard

// cloudRules are the keys of cloud providers and of platforms that run there.
func cloudRules() []Rule {
	return []Rule{
		{
			ID: "aws-access-key", What: "an AWS access key", Source: "docs.aws.amazon.com, IAM identifiers",
			Keywords: []string{"akia", "asia", "abia", "acca"},
			Pattern:  `(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}`,
		},
		{
			ID: "aws-secret-key", What: "an AWS secret access key", Source: "docs.aws.amazon.com, IAM access keys",
			Keywords: []string{"secret_access_key", "secretaccesskey", "secret-access-key", "aws_secret_key", "aws_secret"},
			Pattern:  `[\w-]{10,20}` + assigned + `["'\x60]?([A-Za-z0-9/+]{40})`, Start: anywhere, Shape: assignment,
		},
		{
			ID: "aws-session-token", What: "an AWS session token", Source: "docs.aws.amazon.com, temporary credentials",
			Keywords: []string{"session_token", "sessiontoken"},
			Pattern:  `(?i:session_?token)` + assigned + `["'\x60]?((?:IQoJ|FwoG|FQoG)[A-Za-z0-9/+=]{100,})`, Start: anywhere, Shape: assignment, Reach: 1200,
		},
		{
			ID: "aws-bedrock-key", What: "an Amazon Bedrock API key", Source: "docs.aws.amazon.com, Bedrock API keys",
			Keywords: []string{"absk", "bedrock-api-key-"},
			Pattern:  `ABSK[A-Za-z0-9+/]{109,}={0,2}|bedrock-api-key-YmVkcm9jay[A-Za-z0-9+/=]{20,}`,
		},
		{
			ID: "aws-mws-token", What: "an Amazon MWS token", Source: "truffleHog's rules",
			Keywords: []string{"amzn.mws."},
			Pattern:  `amzn\.mws\.` + uuid,
		},
		{
			ID: "google-api-key", What: "a Google API key", Source: "docs.cloud.google.com, API keys",
			Pattern: `AIza[\w-]{35}`,
		},
		{
			ID: "google-oauth-secret", What: "a Google OAuth client secret", Source: "developers.google.com, OAuth 2.0",
			Pattern: `GOCSPX-[\w-]{28}`,
		},
		{
			ID: "google-oauth-token", What: "a Google OAuth token", Source: "developers.google.com, OAuth 2.0",
			Keywords: []string{"ya29."},
			Pattern:  `ya29\.[\w-]{30,}`,
		},
		{
			ID: "azure-storage-key", What: "an Azure storage key", Source: "learn.microsoft.com, storage connection strings",
			Keywords: []string{"accountkey"},
			Pattern:  `(?i:accountkey)` + assigned + `["']?([A-Za-z0-9+/]{86}==)`, Start: anywhere, Shape: assignment,
		},
		{
			ID: "azure-shared-access-key", What: "an Azure shared access key", Source: "learn.microsoft.com, Service Bus connection strings",
			Keywords: []string{"sharedaccesskey"},
			Pattern:  `(?i:sharedaccesskey)` + assigned + `["']?([A-Za-z0-9+/]{43}=)`, Shape: assignment,
		},
		{
			ID: "azure-sas-signature", What: "an Azure shared access signature", Source: "learn.microsoft.com, service SAS",
			Keywords: []string{"sig="},
			Pattern:  `sig=([A-Za-z0-9%/+]{40,80}(?:%3[Dd]|=))`, Check: func(m match) bool { return isRandom(m) && entropy(m.secret) >= 4 },
		},
		{
			ID: "azure-client-secret", What: "an Azure client secret", Source: "learn.microsoft.com, credential scanning",
			Keywords: []string{"7q~", "8q~"}, Back: 3,
			Pattern: `[\w.~-]{3}[78]Q~[\w.~-]{31,34}`,
		},
		{
			ID: "azure-devops-token", What: "an Azure DevOps token", Source: "learn.microsoft.com, personal access tokens",
			Keywords: []string{"azdo"}, Back: 76,
			Pattern: `[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}`,
		},
		{
			ID: "alibaba-access-key", What: "an Alibaba Cloud access key", Source: "alibabacloud.com, AccessKey pairs",
			Pattern: `LTAI[A-Za-z0-9]{20}`,
		},
		{
			ID: "digitalocean-token", What: "a DigitalOcean token", Source: "docs.digitalocean.com, API",
			Keywords: []string{"dop_v1_", "doo_v1_", "dor_v1_"},
			Pattern:  `do[opr]_v1_[0-9a-f]{64}`,
		},
		{
			ID: "heroku-key", What: "a Heroku API key", Source: "devcenter.heroku.com, platform API",
			Keywords: []string{"hrku-", "heroku"},
			Pattern:  `HRKU-[\w-]{30,80}|(?i:heroku[\w-]{0,20})` + assigned + `["']?(` + uuid + `)`, Start: anywhere,
		},
		{
			ID: "cloudflare-key", What: "a Cloudflare key", Source: "developers.cloudflare.com, API tokens; gitleaks",
			Keywords: []string{"cloudflare", "cf_api", "v1.0-"},
			Pattern:  `v1\.0-[0-9a-f]{24}-[0-9a-f]{146}|(?i:(?:cloudflare|cf_api)[\w.-]{0,20})` + assigned + `["']?([0-9a-f]{37}|[\w-]{40})`, Start: anywhere,
		},
		{
			ID: "fly-token", What: "a Fly.io token", Source: "fly.io, access tokens",
			Keywords: []string{"fm2_", "fo1_"},
			Pattern:  `fm2_[A-Za-z0-9+/]{100,}={0,3}|fo1_[\w-]{43}`, Reach: 3200,
		},
		{
			ID: "vault-token", What: "a HashiCorp Vault token", Source: "developer.hashicorp.com, Vault tokens",
			Keywords: []string{"hvs.", "hvb.", "hvr."},
			Pattern:  `hv[sbr]\.[\w-]{24,}`,
		},
		{
			ID: "terraform-token", What: "a Terraform Cloud token", Source: "developer.hashicorp.com, API tokens",
			Keywords: []string{".atlasv1."}, Back: 14,
			Pattern: `[A-Za-z0-9]{14}\.atlasv1\.[\w=-]{60,70}`,
		},
		{
			ID: "pulumi-token", What: "a Pulumi token", Source: "pulumi.com, access tokens",
			Pattern: `pul-[0-9a-f]{40}`,
		},
		{
			ID: "databricks-token", What: "a Databricks token", Source: "docs.databricks.com, personal access tokens",
			Pattern: `dapi[0-9a-f]{32}(?:-\d)?`,
		},
		{
			ID: "planetscale-key", What: "a PlanetScale key", Source: "planetscale.com, service tokens",
			Pattern: `pscale_(?:tkn|pw|oauth)_[\w.-]{32,64}`,
		},
		{
			ID: "supabase-key", What: "a Supabase key", Source: "supabase.com, API keys",
			Keywords: []string{"sbp_", "sb_secret_"},
			Pattern:  `sbp_[0-9a-f]{40}|sb_secret_[\w-]{30,50}`,
		},
		{
			ID: "tailscale-key", What: "a Tailscale key", Source: "tailscale.com, key prefixes",
			Pattern: `tskey-(?:auth|api|client|scim|webhook)-\w{10,24}-\w{20,40}`,
		},
	}
}

// Parts of patterns that several rules share.
const (
	uuid = `[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}`
	// assigned is what stands between a name and its value in programming languages and
	// configuration: = := : => ?= "," and so on, with the quote or tag that ends the name.
	assigned = `\\?["'\x60\])]{0,3}[ \t]{0,8}(?::[ \t]{0,3}[&\w<>']{1,20}[ \t]{1,3}=|=>|:=|\?=|={1,3}|:|>|,)[ \t]{0,8}\\?`
)
