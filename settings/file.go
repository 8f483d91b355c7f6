package settings

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"reflect"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"

	"feedex/feed"
	"feedex/internal/shell"
)

// read sets what the config file says. Errors name the line, the key and what would be right.
func (s *Settings) read(path string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return UsageError{fmt.Errorf("read config file %s: there is none", path),
				"write one with: feedex config > " + shell.Quote(path)}
		}
		if errors.Is(err, fs.ErrPermission) {
			return UsageError{fmt.Errorf("read config file: %w", err),
				"see to the permissions of it and its folder, or choose another with --config or XDG_CONFIG_HOME"}
		}
		return fmt.Errorf("read config file: %w", err)
	}
	if err := s.decode(feed.UTF8(data)); err != nil {
		return UsageError{Err: fmt.Errorf("%s:%w", path, err)}
	}
	return nil
}

// decode is read from bytes. Its errors begin "line:column: ".
func (s *Settings) decode(data []byte) error {
	err := toml.NewDecoder(bytes.NewReader(data)).DisallowUnknownFields().Decode(s.values.Addr().Interface())
	if err == nil {
		return s.checkKinds(data)
	}
	if unknown := new(toml.StrictMissingError); errors.As(err, &unknown) {
		first := &unknown.Errors[0]
		line, column := first.Position()
		return positioned(line, column, nil, unknownKey(first.Key()))
	}
	wrong := new(toml.DecodeError)
	if !errors.As(err, &wrong) {
		return err
	}
	message := strings.TrimPrefix(wrong.Error(), "toml: ")
	if strings.HasPrefix(message, "cannot decode ") {
		message = "want " + wanted(wrong.Key())
	}
	line, column := wrong.Position()
	return positioned(line, column, wrong.Key(), message)
}

func positioned(line, column int, key toml.Key, message string) error {
	if len(key) > 0 {
		message = strings.Join(key, ".") + ": " + message
	}
	return fmt.Errorf("%d:%d: %s", line, column, message)
}

// checkKinds holds every text, the lists' too, to its kind.
func (s *Settings) checkKinds(data []byte) error {
	for _, row := range table() {
		if row.kind == nil || row.noKey != "" {
			continue
		}
		texts := []string{""}
		if v := s.field(row.key); v.Kind() == reflect.Slice {
			texts = s.texts(row.key)
		} else {
			texts[0] = v.String()
		}
		for _, text := range texts {
			if err := row.kind.check(text); err != nil {
				key := toml.Key(strings.Split(row.key, "."))
				line, column, _ := position(data, key)
				return positioned(line, column, key, err.Error())
			}
		}
	}
	return nil
}

// position is the line and column at which a document sets a key, and 1, 1 and false where it does not.
func position(data []byte, key toml.Key) (line, column int, ok bool) {
	var p unstable.Parser
	p.Reset(data)
	var table toml.Key
	for p.NextExpression() {
		var parts toml.Key
		var start unstable.Position
		for it := p.Expression().Key(); it.Next(); {
			if len(parts) == 0 {
				start = p.Shape(it.Node().Raw).Start
			}
			parts = append(parts, string(it.Node().Data))
		}
		if p.Expression().Kind == unstable.Table {
			table = parts
			continue
		}
		if full := append(slices.Clip(table), parts...); slices.Equal(full, key[:min(len(key), len(full))]) {
			return start.Line, start.Column, true
		}
	}
	return 1, 1, false
}

// replaced are keys of earlier versions, and what to write in their place.
var replaced = map[string]string{
	"cover_feeds": "write volunteer = 200, or another number of feeds to poll for your neighbors, or leave it out",
}

// unknownKey says that there is no such key, and which one may have been meant.
func unknownKey(key toml.Key) string {
	if instead, ok := replaced[strings.Join(key, ".")]; ok {
		return fmt.Sprintf("there is no %s any more: %s", strings.Join(key, "."), instead)
	}
	last := len(key) - 1
	message, prefix := fmt.Sprintf("unknown key %s", strings.Join(key, ".")), strings.Join(key[:last], ".")
	if prefix != "" {
		if table := find(prefix); table == nil || table.usual != nil {
			return message
		}
		prefix += "."
	}
	best, distance := "", 3
	for _, row := range table() {
		name, ok := strings.CutPrefix(row.key, prefix)
		if !ok || strings.Contains(name, ".") || row.noKey != "" {
			continue
		}
		if d := editDistance(key[last], name); d < distance {
			best, distance = name, d
		}
	}
	if best != "" {
		return fmt.Sprintf("%s, did you mean %s?", message, best)
	}
	return message + ": 'feedex config' prints those there are"
}

// find is the row of a key, nil for none.
func find(key string) *setting {
	rows := table()
	if i := slices.IndexFunc(rows, func(row setting) bool { return row.key == key }); i >= 0 {
		return &rows[i]
	}
	return nil
}

// wanted says what the value of a known key may be, texts in quotes as TOML wants them.
func wanted(key toml.Key) string {
	row := find(strings.Join(key, "."))
	if row == nil {
		return "something else"
	}
	switch row.usual.(type) {
	case nil:
		return fmt.Sprintf("a table, [%s]", row.key)
	case []string:
		return "a list in brackets of " + row.kind.want
	case bool:
		return "true or false"
	case int:
		return "a whole number"
	case float64:
		return "a number such as 0.5"
	}
	return row.kind.want
}

// editDistance is the number of letters to insert, drop or exchange to get from a to b.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
