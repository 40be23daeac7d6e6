// Package web drives the page of `git checkpoint web` in a real browser. It is a module of its own, so
// that the driver is no dependency of the program; `make test-web` runs it.
package web

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// program is the one that is tested: GIT_CHECKPOINT, an absolute path.
func program(t *testing.T) string {
	t.Helper()
	path := os.Getenv("GIT_CHECKPOINT")
	if path == "" {
		t.Fatal("GIT_CHECKPOINT is not set: run `make test-web`")
	}
	return path
}

// job is a repository in which a job was done, with a rollback, an undo and an agent's step.
type job struct {
	t   *testing.T
	dir string
	now time.Time
}

const cart = `package shop

// Price is in cents.
type Price int

// Item is a line of a cart.
type Item struct {
	Title    string
	Price    Price
	Quantity int
}

// Total adds up a cart.
func Total(cart []Item) Price {
	var sum Price
	for _, item := range cart {
		sum += item.Price
	}
	return sum
}
`

const vat = `
// VAT is what a price holds of it.
func VAT(p Price) Price { return p / 5 }
`

const vatOf = `
// VAT is what a price holds of it, in a country.
func VAT(p Price, country string) Price { return p * rates[country] / 100 }
`

// newWork is a job as somebody does it: the pictures in the documents show it.
func newWork(t *testing.T) *job {
	j := &job{t: t, dir: filepath.Join(t.TempDir(), "shop"), now: time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)}
	if err := os.Mkdir(j.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	j.run("git", "init", "-q", "-b", "checkout")
	j.write("go.mod", "module shop\n")
	j.write("cart.go", cart)
	j.run("git", "add", ".")
	j.run("git", "commit", "-q", "-m", "Start with carts")
	j.git("session", "start", "checkout", "--topic", "carts, taxes and orders")
	j.write("README.md", "# Shop\n\nSells books in three countries.\n")
	j.git("save", "--metric", "tests=4", "Say what the shop is for")
	j.write("cart.go", strings.ReplaceAll(cart, "item.Price\n", "item.Price * Price(item.Quantity)\n"))
	j.git("save", "--metric", "tests=7", "Count the quantity of each item\n\nThe total was that of one of each.")
	j.write("notes.txt", "ask about taxes\n")
	j.git("create", "--trigger", "session_end", "-m", "before lunch")
	j.write("cart.go", "package broken\n")
	j.write("queue.go", "package shop\n\ntype queue []Item\n")
	j.git("save", "--metric", "tests=1", "--status", "failed", "Send orders through a queue")
	j.write("queue.go", "package shop\n\ntype queue chan Item\n")
	j.git("save", "--metric", "tests=1", "--status", "failed", "Try a channel instead")
	j.git("rollback", "2", "-y", "--reason", "the build is broken")
	j.write("cart.go", j.read("cart.go")+vat)
	j.git("save", "--metric", "tests=9", "Add VAT to the receipt")
	j.write("cart.go", strings.ReplaceAll(j.read("cart.go"), vat, vatOf))
	j.write("rates.go", "package shop\n\n// Books have a lower rate than most other things.\nvar rates = map[string]Price{\"AT\": 10, \"DE\": 7, \"FR\": 5}\n")
	j.write("cart_test.go", "package shop\n\nimport \"testing\"\n\nfunc TestVAT(t *testing.T) {\n\tif got := VAT(1000, \"DE\"); got != 70 {\n\t\tt.Errorf(\"VAT of 10 euros in Germany: %d cents\", got)\n\t}\n}\n")
	j.git("save", "--metric", "tests=12", "Take the VAT rate of each country")
	j.git("rollback", "5", "-y")
	j.git("undo", "-y")
	j.turn("Round each line of a receipt, not the total", "receipt.go", "package shop\n\n// Line is a line of a receipt, rounded to cents.\ntype Line struct {\n\tItem\n\tVAT Price\n}\n")
	j.git("save", "--metric", "tests=15", "--status", "complete", "Ready for review")
	j.now = j.now.Add(5 * time.Minute)
	return j
}

// turn is a prompt after which Claude Code writes a file.
func (j *job) turn(prompt, file, text string) {
	j.t.Helper()
	j.run("git", "config", "checkpoint.agent.claude.enabled", "true")
	hook := func(event, payload string) {
		j.t.Helper()
		j.run("sh", "-c", `printf %s "$1" | "$2" hook claude "$3"`, "sh", `{"session_id":"s1","hook_event_name":"`+event+`",`+payload+`}`, program(j.t), event)
	}
	hook("SessionStart", `"source":"startup"`)
	hook("UserPromptSubmit", `"prompt":"`+prompt+`"`)
	j.write(file, text)
	hook("PostToolUse", `"tool_name":"Write","tool_input":{"file_path":"`+file+`"}`)
	hook("Stop", `"last_assistant_message":"Done."`)
}

// newJob is newWork with a message and a name that would change the page if they were taken as markup.
func newJob(t *testing.T) *job {
	j := newWork(t)
	j.write("<b>bold.txt", "a name that is markup\n")
	j.git("save", "Note <script>document.title='hostile'</script><b id=bold>")
	return j
}

func (j *job) env() []string {
	return append(os.Environ(), "PATH="+filepath.Dir(program(j.t))+":"+os.Getenv("PATH"), "TZ=UTC", "HOME="+filepath.Dir(j.dir),
		"GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=Ann", "GIT_AUTHOR_EMAIL=ann@example.com", "GIT_COMMITTER_NAME=Ann", "GIT_COMMITTER_EMAIL=ann@example.com",
		"GIT_CHECKPOINT_NOW="+j.now.Format(time.RFC3339))
}

func (j *job) run(args ...string) string {
	j.t.Helper()
	j.now = j.now.Add(7 * time.Minute)
	c := exec.Command(args[0], args[1:]...)
	c.Dir, c.Env = j.dir, j.env()
	out, err := c.CombinedOutput()
	if err != nil {
		j.t.Fatalf("%q: %v\n%s", args, err, out)
	}
	return string(out)
}

func (j *job) git(args ...string) string {
	j.t.Helper()
	return j.run(append([]string{program(j.t)}, args...)...)
}

func (j *job) write(name, text string) {
	j.t.Helper()
	if err := os.WriteFile(filepath.Join(j.dir, name), []byte(text), 0o644); err != nil {
		j.t.Fatal(err)
	}
}

func (j *job) read(name string) string {
	j.t.Helper()
	text, err := os.ReadFile(filepath.Join(j.dir, name))
	if err != nil {
		j.t.Fatal(err)
	}
	return string(text)
}

// serve starts `git checkpoint web` and gives the address that it prints.
func (j *job) serve(flags ...string) string {
	j.t.Helper()
	c := exec.Command(program(j.t), append([]string{"web", "--no-open"}, flags...)...)
	c.Dir, c.Env = j.dir, j.env()
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		j.t.Fatal(err)
	}
	j.t.Cleanup(func() {
		_ = c.Process.Signal(os.Interrupt) // it ends by itself else
		if err := c.Wait(); err != nil {
			j.t.Errorf("web ended with %v", err)
		}
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		j.t.Fatal(err)
	}
	return strings.TrimSpace(strings.TrimPrefix(line, "✓ "))
}

// browse starts a browser without any network but the loopback interface.
func browse(t *testing.T, width, height int, flags ...chromedp.ExecAllocatorOption) context.Context {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.WindowSize(width, height), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("proxy-server", "127.0.0.1:1"), chromedp.Flag("proxy-bypass-list", "127.0.0.1"))
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewExecAllocator(ctx, append(options, flags...)...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	return ctx
}

// shoot writes a picture into SHOTS, when it is set: the ones below docs/ are made so.
func shoot(t *testing.T, ctx context.Context, name string) {
	t.Helper()
	var picture []byte
	must(t, ctx, chromedp.Sleep(300*time.Millisecond), chromedp.CaptureScreenshot(&picture))
	if dir := os.Getenv("SHOTS"); dir != "" {
		if err := os.WriteFile(filepath.Join(dir, name+".png"), picture, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func must(t *testing.T, ctx context.Context, actions ...chromedp.Action) {
	t.Helper()
	if err := chromedp.Run(ctx, actions...); err != nil {
		t.Fatal(err)
	}
}

// holds fails unless an expression is true in the page.
func holds(t *testing.T, ctx context.Context, expression string) {
	t.Helper()
	var got bool
	must(t, ctx, chromedp.Evaluate(expression, &got))
	if !got {
		var text string
		_ = chromedp.Run(ctx, chromedp.Text("body", &text)) // for the message only
		t.Fatalf("not true in the page: %s\n%s", expression, text)
	}
}

// fits fails where the page is wider than the window, or a script of a name or message ran.
func fits(t *testing.T, ctx context.Context) {
	t.Helper()
	holds(t, ctx, `document.documentElement.scrollWidth <= innerWidth`)
	holds(t, ctx, `document.title !== 'hostile'`)
}

// A person looks at a job: the timeline, a step, what differs, by mouse and by keys.
func TestLook(t *testing.T) {
	j := newWork(t)
	ctx := browse(t, 1100, 900)
	must(t, ctx, chromedp.Navigate(j.serve()), chromedp.WaitVisible(".drawing svg"))
	holds(t, ctx, `location.search === ''`)
	holds(t, ctx, `document.querySelectorAll('.arc').length === 3`)
	holds(t, ctx, `!document.querySelector('form[method=post]')`)
	fits(t, ctx)
	shoot(t, ctx, "timeline")

	must(t, ctx, chromedp.KeyEvent("jjj"), chromedp.KeyEvent(kb.Enter), chromedp.WaitVisible("dl.about"))
	fits(t, ctx)
	must(t, ctx, chromedp.NavigateBack(), chromedp.WaitVisible(".drawing svg"), chromedp.Click(`//a[contains(., "VAT rate of each country")]`), chromedp.WaitVisible(".diff"))
	holds(t, ctx, `[...document.querySelectorAll('.diff mark')].map(m => m.textContent).join('|').includes('rates')`)
	must(t, ctx, chromedp.WaitVisible(".hljs-keyword", chromedp.ByQuery)) // the script colours what it draws later
	fits(t, ctx)
	shoot(t, ctx, "step")

	must(t, ctx, chromedp.Click(`//nav/a[. = "Compare"]`), chromedp.WaitVisible("form.choose"),
		chromedp.SetValue(`select[name=a]`, j.id(2)), chromedp.Click("form.choose button"), chromedp.WaitVisible(".diff"))
	fits(t, ctx)
	shoot(t, ctx, "compare")
	must(t, ctx, chromedp.Click(`//nav/a[. = "Metrics"]`), chromedp.WaitVisible(".edge", chromedp.ByQuery))
	holds(t, ctx, `document.body.textContent.includes('tests')`)
	fits(t, ctx)
	shoot(t, ctx, "metrics")
	must(t, ctx, chromedp.Click(`//nav/a[. = "Sessions"]`), chromedp.WaitVisible("table"))
	fits(t, ctx)
	must(t, ctx, chromedp.KeyEvent("/"))
	holds(t, ctx, `document.activeElement.id === 'search'`)
	must(t, ctx, chromedp.Evaluate(`document.getElementById('search').value = ''`, nil), // some browsers put the simulated / into it
		chromedp.SendKeys("#search", "queue"+kb.Enter), chromedp.WaitVisible("ol.steps li"))
	holds(t, ctx, `document.body.textContent.includes('Send orders through a queue')`)
	must(t, ctx, chromedp.Poll(`document.readyState === 'complete'`, nil), chromedp.KeyEvent("?"), chromedp.WaitVisible("#keys[open]"), chromedp.KeyEvent(kb.Escape))
}

// id is that of a step.
func (j *job) id(step int) string {
	for _, line := range strings.Split(j.git("list", "--json", "--where", "step == "+strconv.Itoa(step)+" && milestone"), "\n") {
		if _, rest, found := strings.Cut(line, `"id":"`); found {
			id, _, _ := strings.Cut(rest, `"`)
			return id
		}
	}
	j.t.Fatalf("no step %d", step)
	return ""
}

// Messages and names that are markup are words on each page.
func TestHostile(t *testing.T) {
	j := newJob(t)
	ctx := browse(t, 1100, 900)
	words := func(what string) {
		t.Helper()
		fits(t, ctx)
		holds(t, ctx, `!document.getElementById('bold') && document.body.textContent.includes(`+strconv.Quote(what)+`)`)
	}
	must(t, ctx, chromedp.Navigate(j.serve()), chromedp.WaitVisible(".drawing svg"))
	words("<script>document.title='hostile'</script>")
	must(t, ctx, chromedp.Click(`//a[contains(., "Note <script>")]`), chromedp.WaitVisible(".diff"))
	words("<b>bold.txt")
	must(t, ctx, chromedp.Click(`//nav/a[. = "Compare"]`), chromedp.WaitVisible("form.choose"),
		chromedp.SetValue(`select[name=a]`, j.id(2)), chromedp.Click("form.choose button"), chromedp.WaitVisible(".diff"))
	words("<b>bold.txt")
}

// A checkpoint that is made meanwhile appears by itself.
func TestLive(t *testing.T) {
	j := newJob(t)
	ctx := browse(t, 1100, 900)
	must(t, ctx, chromedp.Navigate(j.serve()), chromedp.WaitVisible(".drawing svg"))
	j.write("later.txt", "x\n")
	j.git("save", "--name", "later", "made while somebody looks")
	must(t, ctx, chromedp.WaitVisible(`//a[contains(., "made while somebody looks")]`))
}

// With --write a person rolls back and undoes from the page, and sees each plan first.
func TestAct(t *testing.T) {
	j := newJob(t)
	ctx := browse(t, 1100, 900)
	must(t, ctx, chromedp.Navigate(j.serve("--write")), chromedp.WaitVisible(".drawing svg"),
		chromedp.Click(`//a[contains(., "Say what the shop is for")]`), chromedp.WaitVisible("dl.about"),
		chromedp.Click(`//button[. = "Roll back to here…"]`), chromedp.WaitVisible("button.yes"))
	before := j.read("cart.go")
	fits(t, ctx)
	shoot(t, ctx, "plan")
	must(t, ctx, chromedp.Click("button.yes"), chromedp.WaitVisible(`//h1[contains(., "done")]`))
	if j.read("cart.go") == before {
		t.Fatal("the rollback changed nothing")
	}
	must(t, ctx, chromedp.Click(`//button[. = "Undo…"]`), chromedp.WaitVisible("button.yes"), chromedp.Click("button.yes"), chromedp.WaitVisible(`//h1[contains(., "done")]`))
	if j.read("cart.go") != before {
		t.Fatal("the undo did not bring the file back")
	}
}

// With --write a person takes back what one step did, after its plan, and what came later stays.
func TestRevert(t *testing.T) {
	j := newJob(t)
	ctx := browse(t, 1100, 900)
	must(t, ctx, chromedp.Navigate(j.serve("--write")), chromedp.WaitVisible(".drawing svg"),
		chromedp.Click(`//a[contains(., "VAT rate of each country")]`), chromedp.WaitVisible("dl.about"),
		chromedp.Click(`//button[. = "Take back what it did…"]`), chromedp.WaitVisible("button.yes"))
	fits(t, ctx)
	must(t, ctx, chromedp.Click("button.yes"), chromedp.WaitVisible(`//h1[contains(., "done")]`))
	if got := j.read("cart.go"); !strings.Contains(got, "p / 5") || !strings.Contains(j.read("<b>bold.txt"), "markup") {
		t.Fatalf("it took back something else: %s", got)
	}
}

// Attempts stand side by side, the best value of each metric marked, and one is brought in from there.
func TestAttempts(t *testing.T) {
	j := newJob(t)
	ctx := browse(t, 1100, 900)
	must(t, ctx, chromedp.Navigate(j.serve("--write")), chromedp.WaitVisible(".drawing svg"),
		chromedp.Click(`//nav/a[. = "Attempts"]`), chromedp.WaitVisible(`//p[contains(., "git checkpoint fork")]`))
	j.run("git", "commit", "-q", "--allow-empty", "-m", "begin")
	for _, tests := range []string{"3", "14"} {
		j.git("fork", "--", "sh", "-c", "echo "+tests+" >tried.txt; "+program(t)+" save --metric tests="+tests+" 'with "+tests+" tests'")
	}
	must(t, ctx, chromedp.Reload(), chromedp.WaitVisible("table"))
	holds(t, ctx, `document.querySelectorAll('table')[0].rows.length === 3`)
	fits(t, ctx)
	must(t, ctx, chromedp.Click(`//th/a[. = "tests"]`), chromedp.WaitVisible(`//table[1]/tbody/tr[1]/td[. = "14"]`))
	shoot(t, ctx, "attempts")
	must(t, ctx, chromedp.Click(`//tr[td[. = "14"]]//button`), chromedp.WaitVisible("button.yes"),
		chromedp.Click("button.yes"), chromedp.WaitVisible(`//h1[contains(., "done")]`))
	if got := j.read("tried.txt"); got != "14\n" {
		t.Fatalf("promoted was %q", got)
	}
}

// It is readable on a telephone, at night, and without its script.
func TestNarrowDarkPlain(t *testing.T) {
	j := newJob(t)
	narrow := browse(t, 360, 740)
	must(t, narrow, chromedp.EmulateViewport(360, 740), chromedp.Navigate(j.serve()), chromedp.WaitVisible(".drawing svg"))
	fits(t, narrow)
	shoot(t, narrow, "narrow")
	must(t, narrow, chromedp.Click(`//a[contains(., "VAT rate of each country")]`), chromedp.WaitVisible(".diff"))
	fits(t, narrow)

	dark := browse(t, 1100, 900, chromedp.Flag("force-dark-mode", true), chromedp.Flag("blink-settings", "preferredColorScheme=0"))
	must(t, dark, chromedp.Navigate(j.serve()), chromedp.WaitVisible(".drawing svg"))
	holds(t, dark, `matchMedia('(prefers-color-scheme: dark)').matches`)
	shoot(t, dark, "dark")

	plain := browse(t, 1100, 900, chromedp.Flag("blink-settings", "scriptEnabled=false"))
	must(t, plain, chromedp.Navigate(j.serve()), chromedp.WaitVisible(".drawing svg"), chromedp.Click(`//a[contains(., "VAT rate of each country")]`), chromedp.WaitVisible(".diff"))
}

// The file needs no server.
func TestFile(t *testing.T) {
	j := newJob(t)
	file := filepath.Join(t.TempDir(), "job.html")
	j.git("web", "--output", file, "-y")
	ctx := browse(t, 1100, 900)
	must(t, ctx, chromedp.Navigate("file://"+file), chromedp.WaitVisible(".drawing svg", chromedp.ByQuery), chromedp.Click(`//a[contains(., "VAT rate of each country")]`))
	holds(t, ctx, `decodeURIComponent(location.hash).startsWith('#cp-') && !!document.querySelector(location.hash.replace(/[^#\w-]/g, '\\$&'))`)
	fits(t, ctx)
	shoot(t, ctx, "file")
}
