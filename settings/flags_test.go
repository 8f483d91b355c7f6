package settings

import (
	"encoding/xml"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// parsed is a parsed command line of feedex node.
func parsed(t *testing.T, args ...string) *pflag.FlagSet {
	t.Helper()
	f := pflag.NewFlagSet("node", pflag.ContinueOnError)
	Bind(f, Node)
	if err := f.Parse(args); err != nil {
		t.Fatal(err)
	}
	return f
}

// Of the files that flags name the config file alone is read where none is named.
func TestUsualFiles(t *testing.T) {
	f := parsed(t)
	for name, want := range map[string]bool{"config": true, "password-file": false} {
		if help := f.Lookup(name).Usage; strings.Contains(help, "(default: ") != want {
			t.Errorf("--%s: %s", name, help)
		}
	}
}

func TestPrecedence(t *testing.T) {
	path := filepath.Join(t.TempDir(), "feedex.toml")
	file := `
listen = ":1001"
reader = ":1002"
log_level = "warn"
allow_private = true
peer = ["file.example.com:7001", "file.example.com:7002"]
tracker = ["http://file.example.com/"]
private_host = ["file.local"]
`
	if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("FEEDEX_CONFIG", path)
	t.Setenv("FEEDEX_LISTEN", ":2001")
	t.Setenv("FEEDEX_READER", ":2002")
	t.Setenv("FEEDEX_PEER", "env.example.com:7001, env.example.com:7002 env.example.com:7003")
	t.Setenv("FEEDEX_TRACKER", "http://env.example.com/")
	t.Setenv("FEEDEX_ALLOW_PRIVATE", "")

	got, err := Load(parsed(t, "--listen", ":3001", "--tracker", "http://flag.example.com/a",
		"--tracker=http://flag.example.com/b"), Node)
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]any{
		"listen":        ":3001", // all four say something: the flag
		"reader":        ":2002", // the environment
		"log_level":     "warn",  // the file
		"allow_private": true,    // the file, as an empty variable says nothing
		"log_format":    "text",  // the default
		// lists replace each other
		"tracker":      []string{"http://flag.example.com/a", "http://flag.example.com/b"},
		"peer":         []string{"env.example.com:7001", "env.example.com:7002", "env.example.com:7003"},
		"private_host": []string{"file.local"},
		"config":       path,
	} {
		if v := got.field(key).Interface(); !reflect.DeepEqual(v, want) {
			t.Errorf("%s = %v, want %v", key, v, want)
		}
	}
	for _, row := range table() {
		v := got.field(row.key)
		switch row.key {
		case "listen", "reader", "log_level", "allow_private", "tracker", "peer", "private_host", "config":
		default:
			if row.usual != nil && !reflect.DeepEqual(v.Interface(), row.usual) {
				t.Errorf("%s = %v, want the default", row.key, v)
			}
		}
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
	got, err := Load(parsed(t, "--config", filepath.Join(dir, "flag.toml")), Node)
	if err != nil || got.text("log_level") != "error" {
		t.Errorf("log level %s, %v; want that of the flag's file", got.text("log_level"), err)
	}
}

func TestUsualConfigFileIsRead(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", dir)
	t.Setenv("HOME", dir)
	t.Setenv("AppData", dir)
	if got, err := Load(parsed(t), Node); err != nil || got.File() != "" {
		t.Errorf("without a file: config %q, %v", got.File(), err)
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
	if got, err := Load(parsed(t), Node); err != nil || got.field("seen_dids").Int() != 7 || got.File() != path {
		t.Errorf("with a file: seen_dids %d, config %q, %v", got.field("seen_dids").Int(), got.File(), err)
	}
}

func TestEnvironmentErrorsNameTheVariable(t *testing.T) {
	t.Setenv("FEEDEX_TRUSTED_PROXY", "10.0.0.0/8,localhost")
	_, err := Load(parsed(t), Node)
	want := `environment variable FEEDEX_TRUSTED_PROXY: "localhost" is no address or network: want an address or ` +
		`network such as "127.0.0.1" or "10.0.0.0/8"`
	if err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

func TestHelpShowsWhereSettingsComeFrom(t *testing.T) {
	text := Precedence(Node)
	for _, want := range []string{
		"A flag goes before the environment, the environment before the config file",
		"    --trusted-proxy  FEEDEX_TRUSTED_PROXY   trusted_proxy\n",
	} {
		if !strings.Contains(text+"\n", want) {
			t.Errorf("help lacks %q:\n%s", want, text)
		}
	}
}

// What is packaged sets no variable that means nothing, and none to what it cannot be, and lets the program call
// others.
func TestPackagesSetWhatThereIs(t *testing.T) {
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	Bind(flags, Node)
	known := map[string]bool{}
	flags.VisitAll(func(f *pflag.Flag) { known[envName(f.Name)] = true })
	paths, err := filepath.Glob("../packaging/*")
	if err != nil || len(paths) < 4 {
		t.Fatalf("packaged are %q, %v", paths, err)
	}
	values := 0
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		// Without netlink the system does not tell a program its own addresses, and guard takes each for one of them.
		for _, families := range regexp.MustCompile(`(?m)^RestrictAddressFamilies=.*`).FindAllString(string(text), -1) {
			if !strings.Contains(families, "AF_NETLINK") {
				t.Errorf("%s: %s, without AF_NETLINK, forbids all calls", path, families)
			}
		}
		if filepath.Ext(path) == ".plist" {
			var list struct {
				Keys []string `xml:"dict>key"`
			}
			if err := xml.Unmarshal(text, &list); err != nil || !slices.Contains(list.Keys, "ProgramArguments") {
				t.Errorf("%s: %v, keys %q", path, err, list.Keys)
			}
		}
		for _, name := range regexp.MustCompile(`\bFEEDEX_\w+`).FindAllString(string(text), -1) {
			if !known[name] {
				t.Errorf("%s sets %s, which is no setting", path, name)
			}
		}
		for _, set := range regexp.MustCompile(`(?m)^[^#\n]*\bFEEDEX_(\w+)(?:=|: )"?([^\s"]+)`).FindAllStringSubmatch(
			string(text), -1) {
			f := flags.Lookup(strings.ToLower(strings.ReplaceAll(set[1], "_", "-")))
			if err := setFromEnv(f, set[2]); err != nil {
				t.Errorf("%s: %v", path, err)
			}
			values++
		}
	}
	if values < 4 {
		t.Errorf("only %d values were tried", values)
	}
}
