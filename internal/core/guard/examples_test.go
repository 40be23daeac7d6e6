package guard_test

import (
	"encoding/base64"
	"fmt"
	"hash/crc32"
	"math/rand"
	"regexp"
	"strconv"
	"strings"
)

// example belongs to a rule: texts in which it finds one secret, and texts in which it
// finds none. They contain no secrets, not even invented ones, because other scanners would
// report these. {kind:n} becomes n random characters when the test runs.
type example struct {
	match []string
	none  []string
}

const pem = "-----BEGIN RSA PRIVATE KEY-----\n{b64:64}\n{b64:64}\n{b64:64}\n-----END RSA PRIVATE KEY-----\n"

func examples() map[string]example {
	all := map[string]example{
		"aws-access-key":          {[]string{"key = AKIA{base32:16}", "\"ASIA{base32:16}\"", "x\\nAKIA{base32:16}\\n"}, []string{"AKIA" + "IOSFODNN7EXAMPLE", "MAKIA{base32:16}", "AKIA{base32:20}", "AKIA"}},
		"aws-secret-key":          {[]string{"AWS_SECRET_ACCESS_KEY={b64:40}", "aws_secret_access_key = {b64:40}", `"SecretAccessKey": "{b64:40}"`}, []string{"aws_secret_access_key = ${AWS_SECRET}", "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCY" + "EXAMPLEKEY"}},
		"aws-session-token":       {[]string{"AWS_SESSION_TOKEN=IQoJ{b64:300}", `"SessionToken": "FwoG{b64:200}"`}, []string{"AWS_SESSION_TOKEN=$TOKEN"}},
		"aws-bedrock-key":         {[]string{"ABSK{b64:128}=", "bedrock-api-key-YmVkcm9jay{b64:60}"}, []string{"ABSK{b64:20}"}},
		"aws-mws-token":           {[]string{"amzn.mws.{uuid}"}, []string{"amzn.mws.token"}},
		"google-api-key":          {[]string{"key=AIza{word:35}", `"AIza{word:35}"`}, []string{"AIza{word:20}"}},
		"google-oauth-secret":     {[]string{"GOCSPX-{word:28}"}, []string{"GOCSPX-your-secret"}},
		"google-oauth-token":      {[]string{"access_token: ya29.{word:120}"}, []string{"ya29.short"}},
		"azure-storage-key":       {[]string{"DefaultEndpointsProtocol=https;AccountName=a;AccountKey={b64:86}==;EndpointSuffix=core.windows.net"}, []string{"AccountKey=<key>;"}},
		"azure-shared-access-key": {[]string{"SharedAccessKeyName=Root;SharedAccessKey={b64:43}="}, []string{"SharedAccessKeyName=Root;SharedAccessKey=secret"}},
		"azure-sas-signature":     {[]string{"https://a.blob.core.windows.net/c?sv=2022-11-02&sp=r&sig={alnum:43}%3D"}, []string{"sig=" + "abc%3D"}},
		"azure-client-secret":     {[]string{"secret {word:3}8Q~{word:34}"}, []string{"a~8Q~b"}},
		"azure-devops-token":      {[]string{"pat {alnum:76}AZDO{alnum:4}"}, []string{"AZDO"}},
		"alibaba-access-key":      {[]string{"LTAI{alnum:20}"}, []string{"LTAI{alnum:5}"}},
		"digitalocean-token":      {[]string{"dop_v1_{hex:64}", "doo_v1_{hex:64}"}, []string{"dop_v1_{hex:10}"}},
		"heroku-key":              {[]string{"HEROKU_API_KEY={uuid}", "HRKU-{alnum:36}"}, []string{"heroku create"}},
		"cloudflare-key":          {[]string{"CLOUDFLARE_API_TOKEN={word:40}", "CF_API_KEY = \"{hex:37}\"", "v1.0-{hex:24}-{hex:146}"}, []string{"cloudflare_api_token = var.token"}},
		"fly-token":               {[]string{"FlyV1 fm2_{b64:200}", "fo1_{word:43}"}, []string{"fm2_x"}},
		"vault-token":             {[]string{"VAULT=hvs.{word:90}", "hvb.{word:140}"}, []string{"hvs.short"}},
		"terraform-token":         {[]string{"token = \"{alnum:14}.atlasv1.{word:67}\""}, []string{"x.atlasv1.y"}},
		"pulumi-token":            {[]string{"pul-{hex:40}"}, []string{"pul-up"}},
		"databricks-token":        {[]string{"dapi{hex:32}", "dapi{hex:32}-2"}, []string{"dapi{hex:8}"}},
		"planetscale-key":         {[]string{"pscale_tkn_{word:43}", "pscale_pw_{word:43}"}, []string{"pscale_tkn_"}},
		"supabase-key":            {[]string{"sbp_{hex:40}", "sb_secret_{word:31}"}, []string{"sb_secret_key"}},
		"tailscale-key":           {[]string{"tskey-auth-{alnum:12}CNTRL-{alnum:32}"}, []string{"tskey-auth-"}},

		"github-token":              {[]string{"ghp_{crc:36}", "gho_{crc:36}", "token ghs_{alnum:36}"}, []string{"ghp_{x:36}", "ghp_{alnum:10}"}},
		"github-fine-grained-token": {[]string{"github_pat_{alnum:22}_{alnum:59}"}, []string{"github_pat_{alnum:22}"}},
		"gitlab-token":              {[]string{"glpat-{word:20}", "glrt-{word:20}", "glptt-{hex:40}"}, []string{"glpat-{x:20}"}},
		"bitbucket-token":           {[]string{"ATBB{alnum:32}"}, []string{"ATBB"}},
		"atlassian-token":           {[]string{"ATATT3xFfGF0{word:175}={HEX:8}"}, []string{"ATATT3{word:10}"}},
		"npm-token":                 {[]string{"npm_{crc:36}", "//registry.npmjs.org/:_authToken=npm_{alnum:36}"}, []string{"npm_config_registry"}},
		"npmrc-token":               {[]string{"//npm.acme.dev/:_authToken={b64:40}"}, []string{"//npm.acme.dev/:_authToken=${NPM_TOKEN}", "_auth = load()"}},
		"pypi-token":                {[]string{"password = pypi-AgEIcHlwaS5vcmc{word:150}"}, []string{"pypi-AgEIcHlwaS5vcmc"}},
		"rubygems-token":            {[]string{"rubygems_{hex:48}"}, []string{"rubygems_version"}},
		"crates-token":              {[]string{"token = \"cio{alnum:32}\""}, []string{"social{alnum:32}", "cio{lower:32}"}},
		"nuget-key":                 {[]string{"oy2{lower:43}"}, []string{"oy2{lower:4}"}},
		"clojars-token":             {[]string{"CLOJARS_{hex:60}"}, []string{"CLOJARS_USERNAME"}},
		"docker-token":              {[]string{"dckr_pat_{word:27}"}, []string{"dckr_pat_"}},
		"docker-config-auth":        {[]string{`{"auths":{"r.acme.dev":{"auth": "{basic}"}}}`}, []string{`"auth": "dXNlcjpwYXNzd29yZA=="`, `"auth": "{alnum:20}"`}},
		"artifactory-key":           {[]string{"AKCp{alnum:69}", "cmVmd{alnum:59}"}, []string{"AKCp{alnum:9}"}},
		"circleci-token":            {[]string{"CCIPAT_{alnum:22}_{hex:40}"}, []string{"CCIPAT_x"}},
		"buildkite-token":           {[]string{"bkua_{hex:40}"}, []string{"bkua_{hex:4}"}},
		"sourcegraph-token":         {[]string{"sgp_{hex:16}_{hex:40}", "sgp_{hex:40}"}, []string{"sgp_local"}},
		"netlify-token":             {[]string{"nfp_{alnum:36}"}, []string{"nfp_x"}},
		"vercel-token":              {[]string{"vcp_{alnum:56}"}, []string{"vcp_{lower:30}"}},
		"doppler-token":             {[]string{"dp.pt.{alnum:43}", "dp.st.dev.{alnum:43}"}, []string{"dp.pt.x"}},
		"onepassword-token":         {[]string{"ops_eyJ{b64:300}", "A3-{BASE36:6}-{BASE36:11}-{BASE36:5}-{BASE36:5}-{BASE36:5}"}, []string{"A3-paper"}},

		"anthropic-key":     {[]string{"ANTHROPIC_API_KEY=sk-ant-api03-{word:93}AA", "sk-ant-admin01-{word:93}AA", "sk-ant-oat01-{word:93}AA"}, []string{"sk-ant-api03-..."}},
		"openrouter-key":    {[]string{"sk-or-v1-{hex:64}"}, []string{"sk-or-v1-{hex:6}"}},
		"openai-key":        {[]string{"OPENAI_API_KEY=sk-proj-{word:74}T3BlbkFJ{word:73}", "sk-{alnum:20}T3BlbkFJ{alnum:20}", "sk-{alnum:48}", "sk-svcacct-{word:74}T3BlbkFJ{word:73}"}, []string{"sk-{x:48}", "task-{hex:32}", "sk-your-key"}},
		"huggingface-token": {[]string{"HF_TOKEN=hf_{letter:34}"}, []string{"hf_hub_download"}},
		"replicate-token":   {[]string{"r8_{alnum:37}"}, []string{"r8_x"}},
		"groq-key":          {[]string{"gsk_{alnum:52}"}, []string{"gsk_{alnum:5}"}},
		"xai-key":           {[]string{"xai-{alnum:80}"}, []string{"xai-grok"}},
		"perplexity-key":    {[]string{"pplx-{alnum:48}"}, []string{"pplx-70b-online"}},
		"cohere-key":        {[]string{"COHERE_API_KEY={alnum:40}", "CO_API_KEY = '{alnum:40}'"}, []string{"COHERE_API_KEY={hex:40}x"}},
		"langsmith-key":     {[]string{"lsv2_pt_{hex:32}_{hex:10}"}, []string{"lsv2_pt_x"}},
		"fireworks-key":     {[]string{"fw_{alnum:24}"}, []string{"fw_firmware_version_numbers"}},
		"nvidia-key":        {[]string{"nvapi-{word:64}"}, []string{"nvapi-x"}},
		"elevenlabs-key":    {[]string{"sk_{hex:48}"}, []string{"task_{hex:48}"}},

		"slack-token":           {[]string{"xoxb-{digit:12}-{digit:13}-{alnum:24}", "xapp-1-A{BASE36:10}-{digit:13}-{hex:64}"}, []string{"xoxb-your-token", "xoxb-"}},
		"slack-webhook":         {[]string{"https://hooks.slack.com/services/T{BASE36:8}/B{BASE36:8}/{alnum:24}"}, []string{"https://hooks.slack.com/services/T00000000/B00000000/{x:24}"}},
		"discord-webhook":       {[]string{"https://discord.com/api/webhooks/{digit:18}/{word:68}"}, []string{"https://discord.com/api/webhooks/1/token"}},
		"session-cookie":        {[]string{"Cookie: a=b; sessionid={alnum:32}; c=d"}, []string{"Cookie: a=b; session=$SESSION"}},
		"wallet-key":            {[]string{`accounts: ["0x{hex:64}"]`}, []string{`accounts: ["0x{hex:40}"]`}},
		"jwk-private-key":       {[]string{`{"kty":"EC","x":"{word:43}","d":"{word:43}"}`, `{"d":"{word:43}","x":"{word:43}","kty":"OKP"}`}, []string{`{"kty":"EC","x":"{word:43}"}`}},
		"discord-token":         {[]string{"x MTA{word:21}.{word:6}.{word:38}", "client.login('M{word:23}.{word:6}.{word:27}')", "Authorization: Bot N{word:23}.{word:6}.{word:38}", "DISCORD_TOKEN=M{alnum:25}.{word:6}.{word:38}", "bot_token: \"N{alnum:23}.{word:6}.{word:27}\""}, []string{"discord = require('discord.js')"}},
		"teams-webhook":         {[]string{"https://acme.webhook.office.com/webhookb2/{uuid}@{uuid}/IncomingWebhook/{hex:32}/{uuid}"}, []string{"https://acme.webhook.office.com/webhookb2/"}},
		"telegram-token":        {[]string{"bot {digit:10}:AA{word:33}", "https://api.telegram.org/bot{digit:9}:AA{word:33}/getMe"}, []string{"12:AAAA"}},
		"stripe-key":            {[]string{"sk_live_{alnum:24}", "rk_live_{alnum:99}", "sk_test_{alnum:24}"}, []string{"sk_live_{x:24}", "pk_live_{alnum:24}"}},
		"stripe-webhook-secret": {[]string{"whsec_{alnum:32}"}, []string{"whsec_..."}},
		"square-token":          {[]string{"sq0atp-{word:22}", "EAAA{word:60}"}, []string{"sq0idp-{word:22}"}},
		"braintree-token":       {[]string{"access_token$production${lower:16}${hex:32}"}, []string{"access_token$x"}},
		"shopify-token":         {[]string{"shpat_{hex:32}"}, []string{"shpat_x"}},
		"sendgrid-key":          {[]string{"SG.{word:22}.{word:43}"}, []string{"MSG.{word:22}.{word:43}", "SG.x.y"}},
		"mailgun-key":           {[]string{"key-{hex:32}"}, []string{"monkey-{hex:32}", "key-value"}},
		"mailchimp-key":         {[]string{"MC: {hex:32}-us12"}, []string{"{hex:40}-us12", "en-us1"}},
		"twilio-key":            {[]string{"TWILIO_AUTH_TOKEN={hex:32}", "twilio_api_key: 'SK{hex:32}'"}, []string{"twilio_account: AC{hex:32}"}},
		"linear-key":            {[]string{"lin_api_{alnum:40}"}, []string{"lin_api_url"}},
		"notion-token":          {[]string{"ntn_{digit:11}{alnum:35}", "secret_{alnum:43}"}, []string{"secret_name"}},
		"figma-token":           {[]string{"figd_{word:40}"}, []string{"figd_x"}},
		"airtable-token":        {[]string{"pat{alnum:14}.{hex:64}"}, []string{"path{alnum:14}.{hex:64}"}},
		"postman-key":           {[]string{"PMAK-{hex:24}-{hex:34}"}, []string{"PMAK-x"}},
		"newrelic-key":          {[]string{"NRAK-{BASE36:27}"}, []string{"NRAK-x"}},
		"datadog-key":           {[]string{"DD_API_KEY={hex:32}", "datadog_app_key: \"{hex:40}\""}, []string{"DD_API_KEY=${DD}"}},
		"grafana-token":         {[]string{"glsa_{alnum:32}_{hex:8}", "glc_{b64:100}"}, []string{"glc_x"}},
		"sentry-token":          {[]string{"sntrys_eyJ{b64:120}_{b64:43}", "sntryu_{hex:64}"}, []string{"sntrys_x"}},
		"mapbox-token":          {[]string{"sk.eyJ{word:80}.{word:22}"}, []string{"pk.eyJ{word:80}.{word:22}"}},
		"dropbox-token":         {[]string{"sl.u.{word:150}"}, []string{"ssl.u.x"}},
		"launchdarkly-key":      {[]string{"LAUNCHDARKLY_SDK_KEY=sdk-{uuid}"}, []string{"launchdarkly = mob-{uuid}"}},
		"okta-token":            {[]string{"OKTA_API_TOKEN=00{word:40}", "Authorization: SSWS 00{word:40}"}, []string{"okta = client"}},

		"private-key": {[]string{pem, "-----BEGIN OPENSSH PRIVATE KEY-----\n{b64:70}\n{b64:70}\n", `"private_key": "-----BEGIN PRIVATE KEY-----\n{b64:64}\n{b64:64}\n-----END"`,
			"-----BEGIN EC PRIVATE KEY-----\r\n{b64:64}\r\n{b64:64}\r\n", "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,{HEX:32}\n\n{b64:64}\n{b64:64}\n",
			"-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: 1\n\n{b64:64}\n{b64:64}\n"},
			[]string{"-----BEGIN PRIVATE KEY-----\n...\n", "-----BEGIN PUBLIC KEY-----\n{b64:64}\n{b64:64}\n", `if strings.HasPrefix(s, "-----BEGIN PRIVATE KEY-----") {`, "-----BEGIN CERTIFICATE-----\n{b64:64}\n{b64:64}\n"}},
		"encoded-private-key": {[]string{"    client-key-data: {pem}", `tls.key: "{pem}"`, "SERVER_KEY={pem}"}, []string{"client-certificate-data: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0t{b64:200}"}},
		"command-password": {[]string{"curl -u ci:{pass} https://git.acme.dev", "curl -sS --user 'ci:{alnum:20}' https://git.acme.dev", "mysql -u root -p{pass} app", "mysqldump -h db -p'{pass}' app", "sshpass -p {pass} ssh a@b", "sshpass -p '{pass}' ssh a@b"},
			[]string{"curl -u $USER:$PASSWORD https://x", "curl -u user:password https://x", "mysql -u root -p app", "mysql -h db --port=3306 app", "sshpass -p $PASSWORD ssh a@b", "sshpass -e ssh a@b"}},
		"pgpass-password":      {[]string{"db.acme.dev:5432:app:app:{pass}", "*:*:*:postgres:{pass}", "localhost:*:app:app:{alnum:16}"}, []string{"localhost:5432:app:app:password"}},
		"basic-auth":           {[]string{"requests.get(url, auth=('ci', '{pass}'))", `auth = ("ci","{alnum:16}")`, "HTTPBasicAuth('ci', '{pass}')", `req.SetBasicAuth("ci", "{pass}")`}, []string{"auth=('user', 'password')", "auth=(user, password)", `SetBasicAuth("user", "pass")`}},
		"putty-key":            {[]string{"PuTTY-User-Key-File-3: ssh-rsa\nPrivate-Lines: 2\n{b64:64}\n{b64:64}\nPrivate-MAC: x"}, []string{"Private-Lines: 0\n"}},
		"age-key":              {[]string{"AGE-SECRET-KEY-1{bech:58}"}, []string{"AGE-SECRET-KEY-1"}},
		"jwt":                  {[]string{"{jwt}", "token: \"{jwt}\""}, []string{"eyJ{word:30}.eyJ{word:30}.{word:43}", "eyJhIjoxfQ"}},
		"url-password":         {[]string{"postgres://app:{pass}@db.internal:5432/app", "redis://:{pass}@10.0.0.3:6379/0", "https://ci:{pass}@git.acme.dev/x.git", "mongodb+srv://u:{pass}@c0.acme.mongodb.net"}, []string{"postgres://user:password@localhost/db", "https://user:${PASS}@host/", "http://example.com:8080/@x", "postgres://app:{pass}@db.example.com/x"}},
		"connection-password":  {[]string{"Server=db;Database=app;User Id=sa;Password={pass};", "jdbc:mysql://db/app?user=a&password={pass}"}, []string{"Server=db;Password=<password>;", "?user=a&password=${PW}"}},
		"authorization-header": {[]string{"Authorization: Basic {basic}", `-H "Authorization: Bearer {alnum:40}"`, `"Authorization": "Bearer {hex:40}"`}, []string{"Authorization: Bearer <token>", "Authorization: Bearer $TOKEN", "Authorization: Basic dXNlcjpwYXNzd29yZA=="}},
		"netrc-password":       {[]string{"machine git.acme.dev login ci password {pass}"}, []string{"machine x login y password <password>"}},
		"named-password":       {[]string{"DB_PASSWORD={pass}", "DB_PASSWORD=h{letter:5}2", "docker run -e 'DB_PASSWORD={pass}' x", "- 'DB_PASSWORD={pass}'", "+DB_PASSWORD={pass}", "12→DB_PASSWORD={pass}", `password: "{pass}"`, "  password: {pass}", `const dbPassword = "{pass}";`, "<password>{pass}</password>", `"password":"{pass}"`, "mysql -u root --password={pass}", `os.Setenv("PGPASSWORD", "{pass}")`, `let password: &str = "{pass}";`}, []string{"password = getPassword()", `password: "changeme"`, `"password": "test-password-1"`, "PASSWORD=${DB_PASSWORD}", `passwordField.setText("Enter your password")`, "password = user.password2", "DB_PASSWORD=$(pass show db)"}},
		"named-secret":         {[]string{"SESSION_SECRET={alnum:32}", `curl -H "X-Api-Key: {alnum:24}" https://x`, "curl -H 'X-Api-Key: {alnum:24}' x", "APP_SECRET={pass}", `api_key = "{hex:32}"`, "client_secret: {alnum:40}", "export ACME_TOKEN={alnum:24}", `"accessToken": "{alnum:40}"`, "SECRET_KEY = 'django-insecure-{word:50}'", `secretKey: "{b64:44}"`}, []string{"token = next_token", `TOKEN_URL = "https://acme.dev/oauth2/token"`, `secretName: my-app-secret-name`, "token: ${{ secrets.GITHUB_TOKEN }}", "api_key: your-api-key-goes-here", "csrf_token = \"csrf-token-header-name\"", "SECRET=$(cat /run/secrets/acme_token1)"}},
		"paired-secret": {[]string{`{"name":"DB_PASSWORD","value":"{pass}"}`, `{"name": "ACME_TOKEN", "type": "plain", "value": "{alnum:24}"},`, "- name: DB_PASSWORD\n  value: {pass}", "    - name: 'API_TOKEN'\n      value: '{alnum:32}'", `<property name="password" value="{pass}"/>`,
			`<property value='{pass}' name='connection.password' />`, `<add key="SmtpPassword" value="{pass}" />`, `{"Key": "AdminPassword", "Value": "{pass}"}`, "- ParameterKey: DbPassword\n  ParameterValue: {pass}", `{"value":"{pass}","name":"DB_PASSWORD"}`, `{Name: "DB_PASSWORD", Value: "{pass}"}`, "- value: {pass}\n  name: DB_PASSWORD"},
			[]string{`{"name":"DB_PASSWORD","value":"${DB_PASSWORD}"}`, "- name: DB_PASSWORD\n  valueFrom:\n    secretKeyRef:\n      name: db-secrets\n", `{"name":"DB_PASSWORD"},{"name":"X","value":"{pass}"}`, "- name: DB_PASSWORD_FILE\n  value: /run/secrets/db1", "- name: DB_PASSWORD\n- name: OTHER\n  value: {pass}", `<input type="password" name="password" value="">`, `name := "password"; value := decode(x1)`}},
	}
	for id, forms := range tokenForms {
		all[id] = example{forms, []string{forms[0][:strings.IndexByte(forms[0], '{')] + "x"}}
	}
	return all
}

var part = regexp.MustCompile(`\{(\w+)(?::(\d+))?\}`)

// fill replaces the placeholders of a template.
func fill(r *rand.Rand, template string) string {
	return part.ReplaceAllStringFunc(template, func(p string) string {
		m := part.FindStringSubmatch(p)
		n, _ := strconv.Atoi(m[2])
		return random(r, m[1], n)
	})
}

func random(r *rand.Rand, kind string, n int) string {
	const digits, small, capital = "0123456789", "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	alphabet := map[string]string{
		"digit": digits, "hex": digits + "abcdef", "HEX": digits + "ABCDEF", "lower": digits + small, "letter": small + capital, "alnum": digits + small + capital,
		"word": digits + small + capital + "_", "b64": digits + small + capital + "+/", "base32": capital + "234567", "BASE36": digits + capital,
		"bech": "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", "x": "x", "small": small, "base32l": small + "234567", "base58": "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz", "urlsafe": digits + small + capital + "-_",
		"mixed": digits + small + capital + "!@#%^*", "symbols": digits + small + capital + "!@#$%^&*()",
	}
	pick := func(kind string, n int) string {
		out := make([]byte, n)
		for i := range out {
			out[i] = alphabet[kind][r.Intn(len(alphabet[kind]))]
		}
		return string(out)
	}
	switch kind {
	case "uuid":
		return strings.Join([]string{pick("hex", 8), pick("hex", 4), pick("hex", 4), pick("hex", 4), pick("hex", 12)}, "-")
	case "crc": // as GitHub and npm make them
		body := pick("alnum", n-6)
		return body + checksum(body)
	case "pass":
		return pick("letter", 4) + pick("digit", 2) + "!" + pick("alnum", 6) + pick("digit", 1)
	case "pem":
		return base64.StdEncoding.EncodeToString([]byte(fill(r, pem)))
	case "basic":
		return base64.StdEncoding.EncodeToString([]byte("ci:" + random(r, "pass", 0)))
	case "jwt":
		encode := base64.RawURLEncoding.EncodeToString
		return encode([]byte(`{"alg":"HS256","typ":"JWT"}`)) + "." + encode(fmt.Appendf(nil, `{"sub":%q}`, pick("digit", 10))) + "." + pick("word", 43)
	}
	return pick(kind, n)
}

func checksum(body string) string {
	const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	out, n := "", crc32.ChecksumIEEE([]byte(body))
	for range 6 {
		out, n = string(digits[n%62])+out, n/62
	}
	return out
}
