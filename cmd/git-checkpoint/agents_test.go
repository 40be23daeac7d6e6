package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidwall/sjson"

	"git-checkpoint/internal/core/agent"
)

// These tests run the real programs of coding agents against a scripted model on 127.0.0.1. AGENTS
// names the directory with their installations, as `make test-agents` makes it.

// driven is how one agent is run without a terminal.
type driven struct {
	name    string
	program string   // below AGENTS
	first   []string // before the first prompt
	next    []string // before a prompt that goes on with the conversation
	home    map[string]string
	environ []string
	work    map[string]string // files of the repository that were there before us
	// The installation below AGENTS of what it gives plugins; empty: it has none.
	packages string
	// Arguments that install the plugin in the directory {plugin}, one command each; nil: that is done by home.
	install [][]string
	brief   bool // it starts slowly without a network: one prompt is enough
	mute    bool // without a terminal it sends no prompts

	on       func(args []string) []string // arguments before a prompt that goes on after --chat
	consents bool                         // --chat needs consent
	stays    bool                         // a conversation stays in its worktree

	screen []string          // arguments in a terminal
	shows  string            // what is on its screen once it can be typed to; empty: the screen is not tested
	opens  map[string]string // keys for what it asks before
}

// drivenAgents are the agents; in their texts {url}, {repo}, {home} and {agents} are replaced.
func drivenAgents() []driven {
	return []driven{
		{
			name: "claude", program: "claude",
			first:   []string{"--dangerously-skip-permissions", "--model", "claude-sonnet-4-5", "-p"},
			next:    []string{"--dangerously-skip-permissions", "--model", "claude-sonnet-4-5", "--continue", "-p"},
			environ: []string{"ANTHROPIC_BASE_URL={url}", "ANTHROPIC_API_KEY=sk-ant-dummy", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1", "IS_SANDBOX=1"},
			home: map[string]string{".claude.json": `{"hasCompletedOnboarding":true,"customApiKeyResponses":{"approved":["sk-ant-dummy"],"rejected":[]},
				"projects":{"{repo}":{"hasTrustDialogAccepted":true,"hasCompletedProjectOnboarding":true}}}`},
			install: [][]string{{"plugin", "validate", "{plugin}"}, {"plugin", "marketplace", "add", "{plugin}"}, {"plugin", "install", "git-checkpoint@git-checkpoint"}},
			work:    map[string]string{".claude/settings.json": "{\n\t\"cleanupPeriodDays\": 20\n}\n"},
			screen:  []string{"--dangerously-skip-permissions", "--model", "claude-sonnet-4-5"},
			shows:   "bypass permissions on", opens: map[string]string{"Yes, I accept": "Down Enter"},
			on: func(args []string) []string {
				return append([]string{"--dangerously-skip-permissions", "--model", "claude-sonnet-4-5"}, append(args, "-p")...)
			},
		},
		{
			name: "codex", program: "codex",
			first:   []string{"exec", "--dangerously-bypass-approvals-and-sandbox", "--dangerously-bypass-hook-trust"},
			next:    []string{"exec", "resume", "--last", "--dangerously-bypass-approvals-and-sandbox", "--dangerously-bypass-hook-trust"},
			environ: []string{"CODEX_HOME={home}/.codex", "LOCAL_KEY=dummy"},
			home: map[string]string{".codex/config.toml": `model = "gpt-5.5"
model_provider = "local"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false
[analytics]
enabled = false
[model_providers.local]
name = "local"
base_url = "{url}/v1"
wire_api = "responses"
env_key = "LOCAL_KEY"
supports_websockets = false
request_max_retries = 0
stream_max_retries = 0
[notice.model_migrations]
"gpt-5.5" = "gpt-6-sol"
[projects."{repo}"]
trust_level = "trusted"
`},
			install: [][]string{{"plugin", "marketplace", "add", "{plugin}"}, {"plugin", "add", "git-checkpoint@git-checkpoint"}},
			work:    map[string]string{".codex/hooks.json": "{\n  \"hooks\": {\"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"true\"}]}]}\n}"},
			screen:  []string{"--dangerously-bypass-approvals-and-sandbox", "--dangerously-bypass-hook-trust"},
			shows:   "Ask Codex",
			on: func(args []string) []string {
				return append([]string{"exec"}, append(args, "--dangerously-bypass-approvals-and-sandbox", "--dangerously-bypass-hook-trust")...)
			},
		},
		{
			name: "gemini", program: "gemini",
			first:   []string{"--yolo", "-m", "gemini-2.5-flash", "-p"},
			next:    []string{"--yolo", "-m", "gemini-2.5-flash", "--resume", "latest", "-p"},
			environ: []string{"GEMINI_API_KEY=dummy", "GOOGLE_GEMINI_BASE_URL={url}", "GEMINI_CLI_TRUST_WORKSPACE=true", "GEMINI_TELEMETRY_ENABLED=false"},
			home: map[string]string{".gemini/settings.json": `{"security":{"auth":{"selectedType":"gemini-api-key"}},"general":{"enableAutoUpdate":false,"enableAutoUpdateNotification":false},
				"privacy":{"usageStatisticsEnabled":false},"telemetry":{"enabled":false}}`},
			install: [][]string{{"extensions", "validate", "{plugin}"}, {"extensions", "install", "{plugin}", "--consent", "--skip-settings"}},
			work:    map[string]string{".gemini/settings.json": "{\r\n  \"ui\": {\"hideTips\": true} // ours\r\n}\r\n"},
			screen:  []string{"--yolo", "-m", "gemini-2.5-flash"}, shows: "Type your message",
			on: func(args []string) []string {
				return append(append([]string{"--yolo", "-m", "gemini-2.5-flash"}, args...), "-p")
			},
		},
		{
			name: "opencode", program: "opencode", packages: "opencode-plugin",
			first:   []string{"run"},
			next:    []string{"run", "--continue"},
			environ: []string{"LOCAL_KEY=dummy", "OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1", "OPENCODE_DISABLE_DEFAULT_PLUGINS=1"},
			home: map[string]string{".config/opencode/opencode.json": `{"autoupdate":false,"share":"disabled","model":"local/scripted","small_model":"local/scripted","permission":"allow",
				"provider":{"local":{"npm":"@ai-sdk/openai-compatible","name":"Local","options":{"baseURL":"{url}/v1","apiKey":"dummy"},
				"models":{"scripted":{"name":"Scripted","tool_call":true,"limit":{"context":100000,"output":8000}}}}}}`},
			work:  map[string]string{"opencode.json": "{\"$schema\": \"https://opencode.ai/config.json\"}\n"},
			on:    func(args []string) []string { return append([]string{"run"}, args...) },
			shows: "Ask anything",
		},
		{
			name: "copilot", program: "copilot",
			first: []string{"--yolo", "--no-auto-update", "-p"},
			next:  []string{"--yolo", "--no-auto-update", "--continue", "-p"},
			environ: []string{
				"COPILOT_PROVIDER_BASE_URL={url}/v1", "COPILOT_PROVIDER_TYPE=openai", "COPILOT_PROVIDER_API_KEY=dummy", "COPILOT_MODEL=gpt-4.1",
				"COPILOT_OFFLINE=true", "COPILOT_AUTO_UPDATE=false", "COPILOT_HOME={home}/.copilot",
			},
			home:    map[string]string{".copilot/config.json": `{"trustedFolders":["{repo}"]}`},
			install: [][]string{{"plugin", "marketplace", "add", "{plugin}"}, {"plugin", "install", "git-checkpoint@git-checkpoint"}},
			work:    map[string]string{".github/hooks/other.json": `{"version":1,"hooks":{"agentStop":[{"type":"command","bash":"true"}]}}`},
			screen:  []string{"--yolo", "--no-auto-update"}, shows: "/ commands",
			on: func(args []string) []string {
				return append(append([]string{"--yolo", "--no-auto-update"}, args...), "-p")
			},
			consents: true, stays: true,
		},
		{
			name: "qwen", program: "qwen",
			first:   []string{"--yolo", "-p"},
			next:    []string{"--yolo", "--continue", "-p"},
			environ: []string{"OPENAI_API_KEY=dummy", "OPENAI_BASE_URL={url}/v1", "OPENAI_MODEL=scripted", "QWEN_TELEMETRY_ENABLED=false"},
			home: map[string]string{".qwen/settings.json": `{"security":{"auth":{"selectedType":"openai"}},"general":{"enableAutoUpdate":false},
				"privacy":{"usageStatisticsEnabled":false},"telemetry":{"enabled":false}}`},
			install: [][]string{{"extensions", "install", "{plugin}", "--consent"}},
			screen:  []string{"--yolo"}, shows: "Type your message",
			work: map[string]string{".qwen/settings.json": "{\n  \"ui\": {\"hideTips\": true},\n  \"$version\": 4\n}\n"},
		},
		{
			name: "droid", program: "droid", mute: true,
			first:   []string{"exec", "--auto", "high", "-m", "custom:scripted"},
			next:    []string{"exec", "--auto", "high", "-m", "custom:scripted"},
			environ: []string{"FACTORY_API_KEY=fk-dummy"},
			home: map[string]string{".factory/settings.json": `{"customModels":[{"model":"scripted","displayName":"Scripted","baseUrl":"{url}/v1","apiKey":"dummy",
				"provider":"generic-chat-completion-api","maxOutputTokens":8000}],"enableHooks":true}`},
			install: [][]string{{"plugin", "marketplace", "add", "{plugin}"}, {"plugin", "install", "git-checkpoint@opencode-git-checkpoint"}},
			work:    map[string]string{".factory/settings.json": "{\n  \"hooks\": {}\n}\n"},
		},
		{
			name: "kilo", program: "kilo", packages: "kilo-plugin", brief: true, shows: "Ask anything",
			first:   []string{"run"},
			next:    []string{"run", "--continue"},
			environ: []string{"LOCAL_KEY=dummy", "KILO_DISABLE_AUTOUPDATE=1", "KILO_DISABLE_MODELS_FETCH=1", "KILO_DISABLE_LSP_DOWNLOAD=1", "KILO_DISABLE_DEFAULT_PLUGINS=1", "KILO_TELEMETRY_LEVEL=off", "KILO_DISABLE_SESSION_INGEST=1", "KILO_DISABLE_CODEBASE_INDEXING=1", "KILO_API_URL={url}", "KILO_MODELS_URL={url}"},
			home: map[string]string{".config/kilo/kilo.json": `{"autoupdate":false,"share":"disabled","model":"local/scripted","small_model":"local/scripted","permission":"allow",
				"provider":{"local":{"npm":"@ai-sdk/openai-compatible","name":"Local","options":{"baseURL":"{url}/v1","apiKey":"dummy"},
				"models":{"scripted":{"name":"Scripted","tool_call":true,"limit":{"context":100000,"output":8000}}}}}}`},
			work: map[string]string{"kilo.json": "{\n  \"$schema\": \"https://app.kilo.ai/config.json\",\n  \"share\": \"disabled\"\n}\n"},
		},
	}
}

// Each agent makes a step of every prompt, hears of a rollback that was typed as a prompt, and is left as
// it was found.
func TestAgents(t *testing.T) {
	dir := os.Getenv("AGENTS")
	if dir == "" {
		t.Skip("AGENTS is not set: `make test-agents` runs it")
	}
	for _, a := range drivenAgents() {
		t.Run(a.name, func(t *testing.T) {
			program := filepath.Join(dir, a.name, "node_modules", ".bin", a.program)
			if _, err := os.Stat(program); err != nil {
				t.Skipf("NOT TESTED: %s is not installed", a.name)
			}
			d := newDrive(t, a, dir, program)
			before := d.files()
			t.Cleanup(d.failures)
			d.run("git-checkpoint", "agent", "add", a.name, "--transcripts", "-y")
			if d.files() == before {
				t.Fatal("agent add changed no file")
			}
			if a.mute {
				d.tools()
			} else {
				d.conversation()
			}
			d.unheard()
			d.run("git-checkpoint", "agent", "remove", a.name, "-y")
			if err := os.Remove(filepath.Join(d.dir, "hello.txt")); err != nil {
				t.Error(err)
			}
			if after := d.files(); after != before {
				t.Errorf("after `agent remove` the files are\n%s\nand were\n%s", after, before)
			}
		})
	}
}

// A plugin makes the same steps as what agent add writes. Where both are, each prompt has one.
func TestAgentPlugins(t *testing.T) {
	dir := os.Getenv("AGENTS")
	if dir == "" {
		t.Skip("AGENTS is not set: `make test-agents` runs it")
	}
	for _, a := range drivenAgents() {
		if def, err := agent.Find(a.name); err != nil || def.Bundle.Hooks == "" {
			continue
		}
		t.Run(a.name, func(t *testing.T) {
			program := filepath.Join(dir, a.name, "node_modules", ".bin", a.program)
			if _, err := os.Stat(program); err != nil {
				t.Skipf("NOT TESTED: %s is not installed", a.name)
			}
			d := newDrive(t, a, dir, program)
			t.Cleanup(d.failures)
			d.plugin()
			d.run("git", "config", "checkpoint.agent."+a.name+".enabled", "true")
			d.prompt("make hello")
			d.holds("hello.txt", "hello\n")
			d.made(1)
			d.run("git-checkpoint", "agent", "add", a.name, "-y")
			d.prompt("alter the greeting")
			d.holds("hello.txt", "changed\n")
			d.made(2)
			if said, _ := d.try("git-checkpoint", "doctor"); !strings.Contains(said, "has its plugin, and hooks in settings files, too") {
				t.Errorf("doctor does not name the plugin:\n%s", said)
			}
		})
	}
}

// After `rollback --chat` and `fork --chat` the agent's next request holds the conversation up to the step, and
// nothing later.
func TestAgentChats(t *testing.T) {
	dir := os.Getenv("AGENTS")
	if dir == "" {
		t.Skip("AGENTS is not set: `make test-agents` runs it")
	}
	for _, a := range drivenAgents() {
		if def, err := agent.Find(a.name); err != nil || !def.Chat.Can() {
			continue
		}
		t.Run(a.name, func(t *testing.T) {
			program := filepath.Join(dir, a.name, "node_modules", ".bin", a.program)
			if _, err := os.Stat(program); err != nil {
				t.Skipf("NOT TESTED: %s is not installed", a.name)
			}
			newDrive(t, a, dir, program).goesOn()
		})
	}
}

// plugin installs the plugin as a person would.
func (d *drive) plugin() {
	dir := filepath.Join(filepath.Dir(d.dir), "plugin", "opencode-git-checkpoint")
	d.run("git-checkpoint", "__plugin", d.agent.name, dir)
	if d.agent.install == nil { // opencode: its settings name it
		file := filepath.Join(filepath.Dir(d.dir), "home", ".config", "opencode", "opencode.json")
		text, err := os.ReadFile(file)
		if err == nil {
			text, err = sjson.SetBytes(text, "plugin.0", "file://"+dir)
		}
		if err != nil {
			d.t.Fatal(err)
		}
		writeFile(d.t, file, string(text))
	}
	for _, args := range d.agent.install {
		words := []string{d.program}
		for _, arg := range args {
			words = append(words, strings.ReplaceAll(arg, "{plugin}", dir))
		}
		d.run(words...)
	}
}

// made counts the steps, or, of an agent that sends no prompts, what the tools of this conversation did.
func (d *drive) made(prompts int) {
	d.t.Helper()
	if !d.agent.mute {
		d.turns(prompts)
	} else if listed := d.run("git-checkpoint", "list", "--trigger", "tool", "--json"); strings.Count(listed, `"trigger":"tool"`) != 1 {
		d.t.Fatalf("not one checkpoint of a tool:\n%s", listed)
	}
}

// turns counts the steps.
func (d *drive) turns(want int) {
	d.t.Helper()
	listed := d.run("git-checkpoint", "list", "--trigger", "turn", "--json")
	if got := strings.Count(listed, `"trigger":"turn"`); got != want {
		d.t.Fatalf("%d steps, want %d:\n%s", got, want, listed)
	}
}
