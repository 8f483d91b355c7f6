package e2e

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// newsboatProgram is the newsboat that is driven: the system's, or that which FEEDEX_NEWSBOAT names.
func newsboatProgram() string { return cmp.Or(os.Getenv("FEEDEX_NEWSBOAT"), "newsboat") }

// A newsboat is newsboat with files of its own.
type newsboat struct {
	dir string
	env []string
}

// newNewsboat writes the files of newsboat: the addresses it reads, one a line, and its settings.
func newNewsboat(t *testing.T, urls, config string) *newsboat {
	t.Helper()
	nb := &newsboat{dir: t.TempDir()}
	nb.env = environment(nb.dir)
	config += "\nconfirm-exit no\nerror-log \"" + filepath.Join(nb.dir, "error.log") + "\"\n"
	for name, text := range map[string]string{"urls": urls + "\n", "config": config} {
		if err := os.WriteFile(filepath.Join(nb.dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		if text, err := os.ReadFile(filepath.Join(nb.dir, "error.log")); err == nil && t.Failed() {
			t.Logf("newsboat had logged:\n%s", text)
		}
	})
	return nb
}

func (nb *newsboat) args(more ...string) []string {
	return append([]string{"-u", filepath.Join(nb.dir, "urls"), "-C", filepath.Join(nb.dir, "config"), "-c",
		filepath.Join(nb.dir, "cache.db")}, more...)
}

// unread reloads all feeds and returns how many articles are unread then.
func (nb *newsboat) unread(t *testing.T) int {
	t.Helper()
	cmd := exec.Command(newsboatProgram(), nb.args("-x", "reload", "print-unread")...)
	cmd.Env = nb.env
	out, err := cmd.CombinedOutput()
	n, _, _ := strings.Cut(strings.TrimSpace(string(out)), " ")
	count, bad := strconv.Atoi(n)
	if err != nil || bad != nil {
		t.Fatalf("newsboat -x reload print-unread: %v: %s", err, out)
	}
	return count
}

// expectUnread waits until newsboat finds so many unread articles.
func (nb *newsboat) expectUnread(t *testing.T, want int) {
	t.Helper()
	eventually(t, func() string {
		if got := nb.unread(t); got != want {
			return fmt.Sprintf("newsboat has %d unread, want %d", got, want)
		}
		return ""
	})
}

// A screen is a newsboat on a terminal, before which a test sits.
type screen struct {
	nb     *newsboat
	socket string
}

// open starts newsboat on a terminal of its own.
func (nb *newsboat) open(t *testing.T) *screen {
	t.Helper()
	s := &screen{nb, filepath.Join(t.TempDir(), "t")}
	t.Cleanup(func() {
		cmd := exec.Command("tmux", "-S", s.socket, "kill-server")
		cmd.Run() // it may have ended with its last program
	})
	s.run(t, append([]string{"-f", "/dev/null", "new-session", "-d", "-x", "120", "-y", "30",
		newsboatProgram()}, nb.args()...)...)
	return s
}

func (s *screen) run(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.Command("tmux", append([]string{"-S", s.socket}, args...)...)
	cmd.Env = s.nb.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("tmux %s: %v: %s", args[0], err, out)
	}
	return string(out)
}

// sees waits until every one of these texts is on the screen.
func (s *screen) sees(t *testing.T, texts ...string) {
	t.Helper()
	eventually(t, func() string {
		shown := s.run(t, "capture-pane", "-p")
		for _, text := range texts {
			if !strings.Contains(shown, text) {
				return fmt.Sprintf("newsboat does not show %q but:\n%s", text, shown)
			}
		}
		return ""
	})
}

// keys presses keys, each by the name that tmux has for it.
func (s *screen) keys(t *testing.T, keys ...string) {
	t.Helper()
	s.run(t, append([]string{"send-keys"}, keys...)...)
}

// markAll marks all read that is listed, and says yes where a newer newsboat asks whether that is meant.
func (s *screen) markAll(t *testing.T) {
	t.Helper()
	s.keys(t, "A")
	eventually(t, func() string {
		shown := s.run(t, "capture-pane", "-p")
		if strings.Contains(shown, "(y:Yes n:No)") {
			s.keys(t, "y")
		}
		if !strings.Contains(shown, "(0 unread,") {
			return "not all is read:\n" + shown
		}
		return ""
	})
}

// quit leaves newsboat by so many lists, and waits until it has ended.
func (s *screen) quit(t *testing.T, lists int) {
	t.Helper()
	for range lists {
		s.keys(t, "q")
	}
	eventually(t, func() string {
		cmd := exec.Command("tmux", "-S", s.socket, "has-session")
		if cmd.Run() == nil {
			return "newsboat runs, although it was left"
		}
		return ""
	})
}
