package asnobody

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// nobody owns nothing on most systems.
const nobody = 65534

// Run reports whether the test runs as a user to whom something can be forbidden. Where root runs it, it is run once
// more by nobody, in a process of its own whose folder is a temporary one, and what comes of that is this test's
// outcome. TestMain, if there is one, is run there as well.
func Run(t *testing.T) bool {
	t.Helper()
	if os.Geteuid() != 0 {
		return true
	}
	dir, err := os.MkdirTemp("", "asnobody")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	binary, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "test") // where the tool chain puts it only root may go
	if err := os.WriteFile(program, binary, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(dir, nobody, nobody); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program, "-test.v", "-test.count=1", "-test.run=^"+t.Name()+"$")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "TMPDIR="+dir, "HOME="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Errorf("as nobody: %v\n%s", err, out)
	}
	return false
}
