package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// The folder of the screenshots, and what axe-core is made of. `make e2e` installs the latter.
const (
	outFolder  = "out"
	axeProgram = "node_modules/axe-core/axe.min.js"
)

// figure is the screenshot that the README shows, and figureBytes how large it may be.
const (
	figure      = "dashboard.png"
	figureBytes = 150_000
)

// How pages are looked at: on a phone and on a desk, by day and by night.
var (
	widths  = []int64{390, 1280}
	schemes = []string{"light", "dark"}
)

// A browser is Chromium without a window.
type browser struct {
	ctx  context.Context
	node *node
	axe  string // the program

	complains bool // the browser does, of what the test has the node do

	excused []string // complaints that contain one of these are to be

	mu      sync.Mutex
	console []string // what it complained of
	ended   bool     // its last message came
}

// endOfConsole is the message behind which none comes.
const endOfConsole = "that is all"

// needBrowser skips the test if there is no browser, or nothing to judge by what it shows.
func needBrowser(t *testing.T) {
	t.Helper()
	need(t, "chromium")
	if _, err := os.Stat(axeProgram); err != nil {
		missing(t, "axe-core is missing: run npm ci in e2e")
	}
}

// openBrowser opens a browser before a node until the test ends; then it must not have complained of anything.
func openBrowser(t *testing.T, n *node) *browser {
	t.Helper()
	axe, err := os.ReadFile(axeProgram)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(outFolder, 0o755); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := startBrowser(t)
	b := &browser{ctx: ctx, node: n, axe: string(axe)}
	var reading sync.WaitGroup
	messages := chromedp.Console(ctx)
	reading.Go(func() {
		for m, err := range messages {
			if err != nil {
				return
			}
			b.heard(m)
		}
	})
	t.Cleanup(func() {
		if !t.Failed() && !b.complains {
			b.expectQuiet(t)
		}
		cancel()
		reading.Wait()
	})
	return b
}

// startBrowser starts a browser with a profile of its own. That one did not start on a busy machine says nothing about
// a node, so it is tried three times. Each has a context of its own: chromedp cannot start two in one.
func startBrowser(t *testing.T) (context.Context, context.CancelFunc) {
	t.Helper()
	for attempt := 1; ; attempt++ {
		home := t.TempDir()
		options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath("chromium"),
			chromedp.UserDataDir(filepath.Join(home, "profile")),
			chromedp.NoInheritEnv, chromedp.Env(environment(home)...), chromedp.DisableGPU,
			chromedp.Flag("no-proxy-server", true),
			chromedp.Flag("lang", "en"), chromedp.Flag("hide-scrollbars", true))
		if os.Geteuid() == 0 {
			options = append(options, chromedp.NoSandbox) // which root cannot have
		}
		allocator, cancelAll := chromedp.NewExecAllocator(context.Background(), options...)
		t.Cleanup(cancelAll)
		ctx, cancel := chromedp.NewContext(allocator)
		err := chromedp.Do(ctx)
		if err == nil {
			return ctx, cancel
		}
		cancelAll()
		cancel()
		if attempt == 3 {
			t.Fatalf("Chromium does not start: %v", err)
		}
		t.Logf("Chromium did not start, and is tried again: %v", err)
	}
}

// heard keeps a message of the console, if it is a complaint.
func (b *browser) heard(m chromedp.ConsoleMessage) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if m.Text == endOfConsole {
		b.ended = true
	} else if m.IsException() || m.Type == "error" || m.Type == "warning" {
		b.console = append(b.console, fmt.Sprintf("%s (%s): %s", m.Type, m.URL, m.Text))
	}
}

// expectQuiet fails the test if the console has complaints, but for those about the page that is to be missing.
func (b *browser) expectQuiet(t *testing.T) {
	t.Helper()
	b.do(t, chromedp.Evaluate[chromedp.Void]("console.info('"+endOfConsole+"')"))
	eventually(t, func() string {
		b.mu.Lock()
		defer b.mu.Unlock()
		if !b.ended {
			return "the console has not come to its end"
		}
		return ""
	})
	for _, c := range b.console {
		if !slices.ContainsFunc(append(b.excused, missingPage), func(s string) bool { return strings.Contains(c, s) }) {
			t.Errorf("the console of the browser: %s", c)
		}
	}
}

// do carries out steps one after the other.
func (b *browser) do(t *testing.T, steps ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	b.bounded(t, func(ctx context.Context) error { return chromedp.Do(ctx, steps...) })
}

// bounded runs something for as long as the test is patient.
func (b *browser) bounded(t *testing.T, run func(context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	if err := run(ctx); err != nil {
		where, _ := chromedp.Run(b.ctx, chromedp.Evaluate[string]("location.href + '\\n' + document.body.innerText"))
		t.Fatalf("%v\nThe browser is at %s", err, where)
	}
}

// visit opens a page of the node.
func (b *browser) visit(t *testing.T, path string) {
	t.Helper()
	b.do(t, chromedp.Navigate(b.node.url(path)))
}

// keys presses keys that lead to another page, and waits for that.
func (b *browser) keys(t *testing.T, keys string) {
	t.Helper()
	b.bounded(t, func(ctx context.Context) error {
		_, err := chromedp.RunResponse(ctx, chromedp.KeyEvent(keys))
		return err
	})
}

// click clicks what leads to another page, and waits for that.
func (b *browser) click(t *testing.T, selector chromedp.CSS) { b.answered(t, selector, http.StatusOK) }

// answered is click where the page comes with another status, of which the browser may complain.
func (b *browser) answered(t *testing.T, selector chromedp.CSS, status int64) {
	t.Helper()
	if status != http.StatusOK {
		b.excused = append(b.excused, fmt.Sprint("a status of ", status))
	}
	b.bounded(t, func(ctx context.Context) error {
		answer, err := chromedp.RunResponse(ctx, chromedp.Click(selector))
		if err == nil && answer.Status != status {
			return fmt.Errorf("click %s: %d, want %d", selector, answer.Status, status)
		}
		return err
	})
}

// text is the visible text of the page.
func (b *browser) text(t *testing.T) (text string) {
	t.Helper()
	b.bounded(t, func(ctx context.Context) (err error) {
		text, err = chromedp.Run(ctx, chromedp.Evaluate[string]("document.querySelector('main').innerText"))
		return err
	})
	return text
}

// says fails the test unless the page says all of that.
func (b *browser) says(t *testing.T, texts ...string) {
	t.Helper()
	shown := b.text(t)
	for _, text := range texts {
		if !strings.Contains(shown, text) {
			t.Fatalf("the page does not say %q but:\n%s", text, shown)
		}
	}
}

// inspect looks at the page that is open in every way: it must fit the screen and be usable by everybody. A picture of
// it is kept by its name.
func (b *browser) inspect(t *testing.T, name string) {
	t.Helper()
	for _, width := range widths {
		for _, scheme := range schemes {
			at := fmt.Sprintf("%s-%s-%d", name, scheme, width)
			b.look(t, width, scheme)
			b.screenshot(t, at+".png", 100, chromedp.FullScreenshot)
			b.bounded(t, func(ctx context.Context) error {
				over, err := chromedp.Run(ctx,
					chromedp.Evaluate[int]("document.documentElement.scrollWidth - innerWidth"))
				if err == nil && over > 0 {
					t.Errorf("%s: the page is %d pixels wider than the screen", at, over)
				}
				return err
			})
			if touching := b.evaluate(t, buttonsThatTouch); touching != "" {
				t.Errorf("%s: buttons touch each other: %s", at, touching)
			}
			b.audit(t, at)
		}
	}
}

// buttonsThatTouch names the buttons of the page between which a finger finds no room.
const buttonsThatTouch = `(() => {
	const all = [...document.querySelectorAll('main button:not(.link), main a.button')].filter(b => b.checkVisibility());
	const room = (a, b) => Math.max(a.left - b.right, b.left - a.right, a.top - b.bottom, b.top - a.bottom);
	return all.slice(1).map((b, i) => [all[i], b]).filter(([a, b]) => room(a.getBoundingClientRect(), b.getBoundingClientRect()) < 3).
		map(pair => pair.map(b => b.innerText).join(' and ')).join(', ');
})()`

// look sets the size and the colors of the screen.
func (b *browser) look(t *testing.T, width int64, scheme string) {
	t.Helper()
	b.do(t, chromedp.EmulateViewport(width, 800))
	b.emulate(t, "prefers-color-scheme", scheme)
}

// emulate has the system want something of pages, and nothing else.
func (b *browser) emulate(t *testing.T, feature, value string) {
	t.Helper()
	b.bounded(t, func(ctx context.Context) error {
		_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: feature, Value: value}}})
		return err
	})
}

// screenshot keeps what the page looks like as a file.
func (b *browser) screenshot(t *testing.T, name string, quality int,
	take func(int) chromedp.Action[[]byte]) (size int) {
	t.Helper()
	b.bounded(t, func(ctx context.Context) error {
		png, err := chromedp.Run(ctx, take(quality))
		if err != nil {
			return err
		}
		size = len(png)
		return os.WriteFile(filepath.Join(outFolder, name), png, 0o644)
	})
	return size
}

// audit has axe-core look for what shuts people out (WCAG 2.2 AA): nothing serious may be found.
func (b *browser) audit(t *testing.T, at string) {
	t.Helper()
	const run = `typeof axe === 'undefined' ? 'none' : axe.run(document, {resultTypes: ['violations'],
		runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']}).then(r => JSON.stringify(r.violations.map(v =>
		({id: v.id, impact: v.impact, help: v.help, nodes: v.nodes.map(n => n.html.slice(0, 200) + ' ' + n.failureSummary)}))))`
	var found string
	b.bounded(t, func(ctx context.Context) (err error) {
		if found, err = chromedp.Run(ctx, chromedp.Evaluate[string](run, chromedp.EvalAwaitPromise)); err == nil &&
			found == "none" {
			if err = chromedp.Do(ctx, chromedp.Evaluate[chromedp.Void](b.axe)); err == nil {
				found, err = chromedp.Run(ctx, chromedp.Evaluate[string](run, chromedp.EvalAwaitPromise))
			}
		}
		return err
	})
	var list []struct {
		ID, Impact, Help string
		Nodes            []string
	}
	if err := json.Unmarshal([]byte(found), &list); err != nil {
		t.Fatalf("axe-core says %q: %v", found, err)
	}
	for _, v := range list {
		text := fmt.Sprintf("%s: %s (%s): %s\n%s", at, v.ID, v.Impact, v.Help, strings.Join(v.Nodes, "\n"))
		if v.Impact == "serious" || v.Impact == "critical" {
			t.Error(text)
		} else {
			t.Log(text)
		}
	}
}

// fill gives fields values by their selectors, a box "on" or "", and unfolds what they are in.
func (b *browser) fill(t *testing.T, values map[string]string) {
	t.Helper()
	if values == nil {
		values = map[string]string{}
	}
	list, err := json.Marshal(values)
	if err != nil {
		t.Fatal(err)
	}
	b.evaluate(t, `document.querySelectorAll('details').forEach(d => d.open = true);
		for (const [at, value] of Object.entries(`+string(list)+`)) {
			const field = document.querySelector(at);
			field.type === 'checkbox' ? field.checked = value === 'on' : field.value = value;
			if (field.value !== value && field.type !== 'checkbox') throw new Error(at + ' takes no ' + value);
		} ''`)
}
