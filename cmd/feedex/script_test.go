package main

import (
	"flag"
	"fmt"
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// update is for tests that compare to files of the repository: they write them instead.
var update = flag.Bool("update", false, "rewrite golden files and man pages")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"feedex": main})
}

// TestScripts runs testdata/script. Besides what testscript knows, scripts can say
//
//	[root]                          whether the tests run as root
//	refused feedex ARGS...          the command ends with exit code 2 and prints nothing on standard output
//	ready NAME                      wait until a program serves; $NAME_LISTEN and $NAME_READER say where
//	feed [-first] NAME TITLE...     publish a feed at $NAME
//	publish NAME TITLE              add an entry to it
//	until PATTERN COMMAND ARGS...   run a command until its output matches
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:           "testdata/script",
		UpdateScripts: *update,
		Setup: func(env *testscript.Env) error {
			env.Setenv("HOME", env.WorkDir+"/home")
			env.Setenv("TZ", "UTC")
			env.Setenv("GORACE", "atexit_sleep_ms=0") // else the race detector has every command wait a second
			return openNotifySocket(env)
		},
		Condition: func(name string) (bool, error) {
			if name == "root" {
				return os.Geteuid() == 0, nil
			}
			return false, fmt.Errorf("unknown condition %q", name)
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"refused": refused,
			"ready":   waitReady,
			"feed":    startFeed,
			"page":    startPage,
			"older":   setOlder,
			"publish": publish,
			"until":   runUntil,
		},
	})
}

func refused(ts *testscript.TestScript, neg bool, args []string) {
	err := ts.Exec(args[0], args[1:]...)
	if code := exitCodeOf(err); code != exitUsage || neg {
		ts.Fatalf("exit code %d, want %d", code, exitUsage)
	}
	if out := ts.ReadFile("stdout"); out != "" {
		ts.Fatalf("standard output holds %q", out)
	}
}

// exitCodeOf is the exit code of a command that ended with err.
func exitCodeOf(err error) int {
	if e, ok := err.(interface{ ExitCode() int }); ok {
		return e.ExitCode()
	}
	if err != nil {
		return -1
	}
	return 0
}
