package main

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// parsed is a parsed command line of feedex node.
func parsed(t *testing.T, args ...string) *pflag.FlagSet {
	t.Helper()
	f, s := pflag.NewFlagSet("node", pflag.ContinueOnError), defaultSettings()
	bindNode(f, &s)
	if err := f.Parse(args); err != nil {
		t.Fatal(err)
	}
	return f
}

func TestPrecedence(t *testing.T) {
	path := filepath.Join(t.TempDir(), "feedex.toml")
	file := `
listen = ":1001"
reader = ":1002"
log_level = "warn"
allow_private = true
peer = ["file.example.com:1", "file.example.com:2"]
tracker = ["http://file.example.com/"]
private_host = ["file.local"]
`
	if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("FEEDEX_CONFIG", path)
	t.Setenv("FEEDEX_LISTEN", ":2001")
	t.Setenv("FEEDEX_READER", ":2002")
	t.Setenv("FEEDEX_PEER", "env.example.com:1, env.example.com:2 env.example.com:3")
	t.Setenv("FEEDEX_TRACKER", "http://env.example.com/")
	t.Setenv("FEEDEX_ALLOW_PRIVATE", "")

	got, err := load(parsed(t, "--listen", ":3001", "--tracker", "http://flag.example.com/a",
		"--tracker=http://flag.example.com/b"), bindNode, defaultSettings())
	if err != nil {
		t.Fatal(err)
	}
	want := defaultSettings()
	want.Config = path
	// all four say something: the flag
	want.Listen = ":3001"
	want.Reader = ":2002"  // the environment
	want.LogLevel = "warn" // the file
	// the file, as an empty variable says nothing
	want.AllowPrivate = true
	want.LogFormat = "text"                                                              // the default
	want.Tracker = []trackerAt{"http://flag.example.com/a", "http://flag.example.com/b"} // lists replace each other
	want.Peer = []peer{"env.example.com:1", "env.example.com:2", "env.example.com:3"}
	want.PrivateHost = []host{"file.local"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%+v\nwant\n%+v", got, want)
	}
}

func TestFlagNamesAnotherConfigFile(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"env.toml": "log_level = 'warn'", "flag.toml": "log_level = 'error'"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("FEEDEX_CONFIG", filepath.Join(dir, "env.toml"))
	got, err := load(parsed(t, "--config", filepath.Join(dir, "flag.toml")), bindNode, defaultSettings())
	if err != nil || got.LogLevel != "error" {
		t.Errorf("log level %s, %v; want that of the flag's file", got.LogLevel, err)
	}
}

func TestUsualConfigFileIsRead(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", dir)
	t.Setenv("HOME", dir)
	t.Setenv("AppData", dir)
	if got, err := load(parsed(t), bindNode, defaultSettings()); err != nil || got.Config != "" {
		t.Errorf("without a file: config %q, %v", got.Config, err)
	}
	usual, err := os.UserConfigDir()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(usual, "feedex", "feedex.toml")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("seen_dids = 7"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := load(parsed(t), bindNode, defaultSettings()); err != nil || got.SeenDIDs != 7 || got.Config != path {
		t.Errorf("with a file: seen_dids %d, config %q, %v", got.SeenDIDs, got.Config, err)
	}
}

func TestEnvironmentErrorsNameTheVariable(t *testing.T) {
	t.Setenv("FEEDEX_TRUSTED_PROXY", "10.0.0.0/8,localhost")
	_, err := load(parsed(t), bindNode, defaultSettings())
	want := `environment variable FEEDEX_TRUSTED_PROXY: "localhost" is no address or network: want an address or ` +
		`network such as "127.0.0.1" or "10.0.0.0/8"`
	if err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

func TestEveryFlagHasItsKey(t *testing.T) {
	f, s := pflag.NewFlagSet("", pflag.ContinueOnError), settings{}
	bindNode(f, &s)
	f.VisitAll(func(f *pflag.Flag) {
		if f.Name == "poll" || f.Name == "config" {
			return
		}
		if _, ok := fieldOf(reflect.TypeFor[settings](), keyName(f.Name)); !ok {
			t.Errorf("--%s has no key %s in the config file", f.Name, keyName(f.Name))
		}
	})
}

func TestHelpShowsWhereSettingsComeFrom(t *testing.T) {
	text := precedence(bindNode, true)
	for _, want := range []string{
		"A flag goes before the environment, the environment before the config file",
		"    --trusted-proxy  FEEDEX_TRUSTED_PROXY   trusted_proxy\n",
	} {
		if !strings.Contains(text+"\n", want) {
			t.Errorf("help lacks %q:\n%s", want, text)
		}
	}
}
