package e2e

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// contain makes the root that is its first argument what the container's is: read-only but for /data, without
// privileges, the program a user of its own. It stands in for a container engine, which needs images of others.
const contain = `set -e
mount --make-rprivate /
mount --bind "$1" "$1"
mount -o remount,ro,bind "$1"
mount --bind "$2" "$1/data"
root=$1
shift 2
exec setpriv --no-new-privs --bounding-set=-all,+sys_chroot,+setuid,+setgid \
	chroot --userspec=65532:65532 "$root" "$@"`

// A container is what packaging/Dockerfile and packaging/compose.yaml make of the program, without the engine.
type container struct {
	root, data string
	env        []string
}

func newContainer(t *testing.T, password string) *container {
	t.Helper()
	need(t, "unshare", "setpriv", "chroot")
	if os.Geteuid() != 0 {
		t.Skip("the user of a container cannot be had: run this as root")
	}
	c := &container{root: t.TempDir(), data: t.TempDir()}
	for _, dir := range []string{c.root, c.data, filepath.Dir(c.root)} {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chown(c.data, 65532, 65532); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"usr/bin", "data", "run/secrets"} {
		if err := os.MkdirAll(filepath.Join(c.root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(c.root, "run/secrets/feedex-password"), []byte(password), 0o644); err != nil {
		t.Fatal(err)
	}
	build := exec.Command("go", "build", "-trimpath", "-o", filepath.Join(c.root, "usr/bin/feedex"), "./cmd/feedex")
	build.Dir, build.Env = "..", append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	dockerfile, err := os.ReadFile("../packaging/Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	compose, err := os.ReadFile("../packaging/compose.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range regexp.MustCompile(`(?m)^ENV (.*)$`).FindAllSubmatch(dockerfile, -1) {
		c.env = append(c.env, strings.Fields(string(line[1]))...)
	}
	for _, set := range regexp.MustCompile(`(?m)^      ([A-Z_]+): "?([^"\n]*)"?$`).FindAllSubmatch(compose, -1) {
		c.env = append(c.env, string(set[1])+"="+string(set[2]))
	}
	return c
}

// command is one in the container, with more in its environment.
func (c *container) command(env []string, args ...string) *exec.Cmd {
	cmd := exec.Command("unshare", append([]string{"--mount", "sh", "-c", contain, "sh", c.root, c.data,
		"/usr/bin/feedex"}, args...)...)
	cmd.Env = append(append([]string{"PATH=" + os.Getenv("PATH")}, c.env...), env...)
	return cmd
}

// The container that is packaged serves with what its compose file gives it: the password of the secret opens it, the
// health check is content, and it ends in order.
func TestThePackagedContainerServes(t *testing.T) {
	const password = "a password of a file"
	c := newContainer(t, password)
	at := make([]string, 2)
	for i := range at {
		at[i] = fmt.Sprintf("127.0.0.1:%d", freePort(t))
	}
	var log safeBuffer
	node := c.command([]string{"FEEDEX_LISTEN=" + at[0], "FEEDEX_READER=" + at[1]}, "node")
	node.Stdout, node.Stderr = &log, &log
	if err := node.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- node.Wait() }()
	t.Cleanup(func() { node.Process.Kill() })
	status := func(password string) (code int) {
		eventually(t, func() string {
			select {
			case err := <-ended:
				t.Fatalf("it ended: %v\n%s", err, &log)
			default:
			}
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+at[1]+"/v1/me", nil)
			if err != nil {
				t.Fatal(err)
			}
			r.SetBasicAuth("owner", password)
			res, err := http.DefaultClient.Do(r)
			if err != nil {
				return err.Error()
			}
			res.Body.Close()
			code = res.StatusCode
			return ""
		})
		return code
	}
	if code := status(password); code != http.StatusOK {
		t.Errorf("with the password of the secret: %d\n%s", code, &log)
	}
	if code := status("another"); code != http.StatusUnauthorized {
		t.Errorf("with another: %d", code)
	}
	compose, err := os.ReadFile("../packaging/compose.yaml")
	if err != nil || !bytes.Contains(compose, []byte(`test: ["CMD", "/usr/bin/feedex", "status"]`)) {
		t.Fatalf("the health check is another: %v", err)
	}
	if out, err := c.command(nil, "status").CombinedOutput(); err != nil || !bytes.Contains(out, []byte("running")) {
		t.Errorf("the health check: %v: %s", err, out)
	}
	if err := node.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Errorf("it ends by %v\n%s", err, &log)
	}
}
