package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/spf13/pflag"
)

// TestDocumentsShowCommandsThatWork checks every command line that stands in a code block of a document, and every
// `feedex lab` with its flags in a sentence: the program must know the command, its flags and its arguments, and the
// Makefile the target.
func TestDocumentsShowCommandsThatWork(t *testing.T) {
	makefile, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for _, path := range documents(t) {
		for _, line := range append(commandLines(t, path), experiments(t, path)...) {
			name, rest, _ := strings.Cut(line, " ")
			switch {
			case strings.HasPrefix(line, "go run ./cmd/feedex"):
				rest = strings.TrimSpace(strings.TrimPrefix(line, "go run ./cmd/feedex"))
			case name == "make":
				targets, _ := shellWords(rest)
				for _, target := range targets {
					if !regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(target) + `:`).Match(makefile) {
						t.Errorf("%s: %s: the Makefile has no target %s", path, line, target)
					}
				}
				checked++
				continue
			case name != "feedex":
				continue
			}
			if err := checkCommandLine(rest); err != nil {
				t.Errorf("%s: %s: %v", path, line, err)
			}
			checked++
		}
	}
	if checked == 0 {
		t.Error("the documents show no command at all")
	}
}

// The examples in the commands' own help work too, and with them the manual pages.
func TestExamplesInHelpWork(t *testing.T) {
	checked := 0
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		for line := range strings.Lines(c.Example) {
			if args, ok := strings.CutPrefix(strings.TrimSpace(line), "feedex "); ok {
				if err := checkCommandLine(args); err != nil {
					t.Errorf("%s: %s: %v", c.CommandPath(), strings.TrimSpace(line), err)
				}
				checked++
			}
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(newRoot())
	if checked == 0 {
		t.Error("no command has an example")
	}
}

// checkCommandLine says what is wrong with the arguments of feedex.
func checkCommandLine(args string) error {
	words, err := shellWords(args)
	if err != nil {
		return err
	}
	c, rest, err := newRoot().Find(words)
	if err != nil {
		return err
	}
	if err := c.ParseFlags(rest); err != nil && !errors.Is(err, pflag.ErrHelp) {
		return err
	}
	return c.ValidateArgs(c.Flags().Args())
}

// shellWords splits a simple command line as a shell would, up to a comment, a pipe, a redirection or a remark in
// brackets.
func shellWords(s string) ([]string, error) {
	var words []string
	var word strings.Builder
	quote, begun := rune(0), false
	for _, r := range s {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			quote, begun = r, true
		case r == ' ':
			if begun {
				words = append(words, word.String())
			}
			word.Reset()
			begun = false
		case strings.ContainsRune("#|>&;(", r) && !begun:
			return words, nil
		default:
			word.WriteRune(r)
			begun = true
		}
	}
	if quote != 0 {
		return nil, errors.New("a quote is not closed")
	}
	if begun {
		words = append(words, word.String())
	}
	return words, nil
}

// documents are the paths of all documents of the repository.
func documents(t *testing.T) []string {
	var paths []string
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && filepath.Ext(path) == ".md" {
			paths = append(paths, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

// commandLines are the lines in a document's shell blocks, with continued lines joined and prompts
// removed, and the commands above what they print in blocks that are indented.
func commandLines(t *testing.T, path string) []string {
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	inBlock, joined := false, ""
	for line := range strings.Lines(string(text)) {
		indented := strings.HasPrefix(line, "    feedex ")
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "```"):
			inBlock = !inBlock && (line == "```sh" || line == "```console" || line == "```")
		case inBlock && strings.HasSuffix(line, `\`):
			joined += strings.TrimSuffix(line, `\`)
		case inBlock:
			lines = append(lines, strings.TrimPrefix(joined+line, "$ "))
			joined = ""
		case indented:
			lines = append(lines, line)
		}
	}
	return lines
}

// experiments are the commands `feedex lab …` in a document's sentences, of which figures come.
func experiments(t *testing.T, path string) []string {
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, found := range regexp.MustCompile("`(feedex lab [^`]+)`").FindAllStringSubmatch(string(text), -1) {
		lines = append(lines, strings.Join(strings.Fields(found[1]), " "))
	}
	return lines
}
