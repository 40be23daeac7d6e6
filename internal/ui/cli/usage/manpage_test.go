package usage_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"pgregory.net/rapid"

	"git-checkpoint/internal/ui/cli/usage"
)

// sampleGrammar is a small command line with an example of everything that the generators handle.
type sampleGrammar struct {
	Quiet bool `short:"q" help:"Say nothing but errors."`

	Create struct {
		Message string   `short:"m" placeholder:"MSG" help:"What a person says about it, [in] one line: it's short."`
		Session string   `short:"s" placeholder:"S" complete:"session" help:"Session to use."`
		Set     []string `placeholder:"PATH=VALUE" sep:"none" help:"Edit the state."`
		State   string   `placeholder:"FILE" complete:"file" help:"File that holds the state."`
		Tag     bool     `negatable:"" default:"true" help:"Leave a tag."`
		OnFail  string   `enum:"stop,rollback" default:"stop" help:"What a failure does."`
		DryRun  bool     `short:"n" help:"Only show."`
		Secret  string   `hidden:"" help:"Nobody sees this."`
	} `cmd:"" aliases:"save" help:"Make a checkpoint."`
	Diff struct {
		Session string   `placeholder:"<name>" complete:"session" help:"Session to use."`
		A       string   `arg:"" complete:"ref" help:"The older one."`
		B       string   `arg:"" optional:"" complete:"ref" help:"The newer one, else the worktree."`
		Paths   []string `arg:"" optional:"" name:"path" complete:"file" help:"Only these."`
	} `cmd:"" help:"Compare two checkpoints."`
	Session struct {
		All   bool `help:"Of all sessions."`
		Start struct {
			Workflow string `short:"w" placeholder:"W" complete:"workflow" help:"Its workflow."`
			Name     string `arg:""`
		} `cmd:"" help:"Start a session."`
		Switch struct {
			Name string `arg:"" complete:"session"`
		} `cmd:"" aliases:"sw" help:"Make another session the active one."`
	} `cmd:"" group:"sessions" help:"Sessions."`
	Pin struct {
		Refs []string `arg:"" name:"ref" complete:"ref" help:"What is kept."`
	} `cmd:"" group:"sessions" help:"Keep checkpoints from being pruned."`
	Complete struct{} `cmd:"" name:"__complete" hidden:""`
}

func sampleModel(t *testing.T) *kong.Application {
	t.Helper()
	app, err := sample()
	if err != nil {
		t.Fatal(err)
	}
	create := app.Children[0]
	create.Detail = "It's whole: every file, `.gitignore` included.\n\nFor example:\n\n    git checkpoint create -m 'a\\b'\n    .dotted ~ ^ \"line\"\n\nDone – ✓."
	return app
}

func sample() (*kong.Application, error) {
	app, err := kong.New(&sampleGrammar{}, kong.Name("git checkpoint"), kong.Description("Record where a job stands."),
		kong.ExplicitGroups([]kong.Group{{Key: "sessions", Title: "Sessions and upkeep:"}}))
	if err != nil {
		return nil, err
	}
	return app.Model, nil
}

const samplePage = `A ` + "`checkpoint`" + ` holds the files.
.and this line starts with a dot.

# EXIT STATUS

0: ok

4: refused: it would lose something

# CONFIGURATION

checkpoint.session: the session

# ENVIRONMENT

NO_COLOR: no colours

# FILES

.checkpoint/config: committed configuration

# SEE ALSO

` + "`git-stash`(1), `git-notes`(1)"

func manPage(t *testing.T, app *kong.Application, page string) string {
	t.Helper()
	var b strings.Builder
	if err := usage.WriteManPage(&b, app, page); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestManPageSource(t *testing.T) {
	got := manPage(t, sampleModel(t), samplePage)
	for _, want := range []string{
		`.TH "GIT\-CHECKPOINT" "1" "" "git\-checkpoint" "Git Manual"`,
		".SH \"NAME\"\ngit\\-checkpoint \\- Record where a job stands\n",
		"\\fIgit checkpoint\\fR\n",
		"\\fIgit checkpoint\\fR create [<options>]\n",
		"\\fIgit checkpoint\\fR diff [<options>] <a> [<b>] [<path>...]\n",
		"\\fIgit checkpoint\\fR session start [<options>] <name>\n",
		"A \\fBcheckpoint\\fR holds the files. .and this line",
		".SH \"OPTIONS\"\n\\fB\\-h\\fR, \\fB\\-\\-help\\fR\n",
		"\\fB\\-m\\fR, \\fB\\-\\-message\\fR=\\fIMSG\\fR\n.RS 4\nWhat a person says about it, [in] one line: it\\(aqs short.\n.RE",
		"\\fB\\-\\-[no\\-]tag\\fR\n",
		"\\fB\\-\\-set\\fR=\\fIPATH=VALUE\\fR\n",
		"every file, \\fB.gitignore\\fR included.",
		".RS 4\n.nf\ngit checkpoint create \\-m \\(aqa\\eb\\(aq\n\\&.dotted \\(ti \\(ha \\(dqline\\(dq\n.fi\n.RE\n",
		"Done \\[u2013] \\[u2713].",
		"Also: \\fBsave\\fR.",
		".SS \"Sessions and upkeep\"\n",
		"\\fI<a>\\fR\n.RS 4\nThe older one.\n",
		".SH \"SEE ALSO\"\n\\fBgit\\-stash\\fR(1), \\fBgit\\-notes\\fR(1)\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("missing: %q", want)
		}
	}
	for _, hidden := range []string{"secret", "Nobody", "__complete"} {
		if strings.Contains(got, hidden) {
			t.Errorf("shown although hidden: %q", hidden)
		}
	}
	if t.Failed() {
		t.Log(got)
	}
}

func TestManPageSections(t *testing.T) {
	sections := func(text string) (titles []string) {
		for line := range strings.Lines(text) {
			if title, ok := strings.CutPrefix(line, ".SH "); ok {
				titles = append(titles, strings.Trim(title, "\"\n"))
			}
		}
		return titles
	}
	got := strings.Join(sections(manPage(t, sampleModel(t), samplePage)), ", ")
	if got != "NAME, SYNOPSIS, DESCRIPTION, OPTIONS, COMMANDS, EXIT STATUS, CONFIGURATION, ENVIRONMENT, FILES, SEE ALSO" {
		t.Errorf("got %s", got)
	}
}

// TestManPageFormatted runs those man page formatters that are installed: they must not complain,
// and must show the text that was meant.
func TestManPageFormatted(t *testing.T) {
	text := manPage(t, sampleModel(t), samplePage)
	file := filepath.Join(t.TempDir(), "git-checkpoint.1")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	tried := false
	for _, command := range [][]string{
		{"groff", "-man", "-Tutf8", "-ww", "-P-c", file},
		{"mandoc", "-Tutf8", "-Werror", file},
	} {
		if _, err := exec.LookPath(command[0]); err != nil {
			continue
		}
		tried = true
		process := exec.Command(command[0], command[1:]...)
		var faults strings.Builder
		process.Stderr = &faults
		out, err := process.Output()
		if err != nil || faults.String() != "" {
			t.Errorf("%s: %v %s", command[0], err, &faults)
		}
		shown := overstruck(string(out))
		for _, want := range []string{"git checkpoint create -m 'a\\b'", ".dotted ~ ^ \"line\"", "Done – ✓.", "it's short", "--[no-]tag"} {
			if !strings.Contains(shown, want) {
				t.Errorf("%s does not show %q:\n%s", command[0], want, shown)
			}
		}
	}
	if !tried {
		t.Skip("no formatter of man pages")
	}
}

// overstruck removes bold and underline, which formatters write as x BS x and _ BS x.
func overstruck(s string) string {
	var out []rune
	for _, r := range s {
		if r == '\b' && len(out) > 0 {
			out = out[:len(out)-1]
			continue
		}
		out = append(out, r)
	}
	return string(out)
}

// TestManPageProperties checks that no text in the page can become a request to troff.
func TestManPageProperties(t *testing.T) {
	requests := map[string]bool{"TH": true, "SH": true, "SS": true, "PP": true, "RS": true, "RE": true, "sp": true, "nf": true, "fi": true, "nh": true, "ad": true}
	rapid.Check(t, func(rt *rapid.T) {
		line := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{".so /etc/passwd", "'br", "\\n", "`", "    .de x", "", "\t'x"}))
		text := strings.Join(rapid.SliceOfN(line, 0, 6).Draw(rt, "lines"), "\n")
		app := sampleModel(t)
		app.Children[0].Detail = text
		for l := range strings.Lines(manPage(t, app, text+"\n\n# FILES\n\n"+text+": "+text)) {
			if strings.HasPrefix(l, "'") {
				rt.Fatalf("a request: %q", l)
			}
			if name, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(l), "."), " "); strings.HasPrefix(l, ".") && !requests[name] {
				rt.Fatalf("a request: %q", l)
			}
			for _, r := range l {
				if r > 0x7e || r < 0x20 && r != '\n' {
					rt.Fatalf("%U in %q", r, l)
				}
			}
		}
	})
}
