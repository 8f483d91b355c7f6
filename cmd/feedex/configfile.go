package main

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
)

// readConfig sets in s what the config file says. Errors name the line, the key and what would be
// right.
func readConfig(path string, s *settings) error {
	data, err := os.ReadFile(path)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return usageError{hintedError{fmt.Errorf("read config file %s: there is none", path),
				"write one with: feedex config > " + shellQuote(path)}}
		}
		return fmt.Errorf("read config file: %w", err)
	}
	if err := decodeConfig(withoutMark(data), s); err != nil {
		return usageError{fmt.Errorf("%s:%w", path, err)}
	}
	return nil
}

// withoutMark is a text without the byte order mark that some editors put in front.
func withoutMark(data []byte) []byte { return bytes.TrimPrefix(data, []byte("\ufeff")) }

// decodeConfig is readConfig from bytes. Its errors begin "line:column: ".
func decodeConfig(data []byte, s *settings) error {
	err := toml.NewDecoder(bytes.NewReader(data)).DisallowUnknownFields().Decode(s)
	if err == nil {
		return checkTexts(data, nil, reflect.ValueOf(s).Elem())
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

// checkTexts holds every text in a table, the lists' too, to its rule.
func checkTexts(data []byte, prefix toml.Key, table reflect.Value) error {
	for i := range table.NumField() {
		name, v := table.Type().Field(i).Tag.Get("toml"), table.Field(i)
		if name == "-" {
			continue
		}
		key := append(slices.Clip(prefix), name)
		var err error
		switch v.Kind() {
		case reflect.Struct:
			if err := checkTexts(data, key, v); err != nil {
				return err
			}
		case reflect.Slice:
			for i := 0; i < v.Len() && err == nil; i++ {
				err = checkText(v.Index(i))
			}
		default:
			err = checkText(v)
		}
		if err != nil {
			line, column, _ := position(data, key)
			return positioned(line, column, key, err.Error())
		}
	}
	return nil
}

// checkText holds v to its rule, if it has one.
func checkText(v reflect.Value) error {
	if t, ok := v.Interface().(interface{ check() error }); ok {
		return t.check()
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

// unknownKey says that there is no such key, and which one may have been meant.
func unknownKey(key toml.Key) string {
	last := len(key) - 1
	message := fmt.Sprintf("unknown key %s", strings.Join(key, "."))
	table, ok := fieldType(key[:last])
	if !ok || table.Kind() != reflect.Struct {
		return message
	}
	best, distance := "", 3
	for i := range table.NumField() {
		name := table.Field(i).Tag.Get("toml")
		if d := editDistance(key[last], name); d < distance && name != "-" {
			best, distance = name, d
		}
	}
	if best != "" {
		return fmt.Sprintf("%s, did you mean %s?", message, best)
	}
	return message + ": 'feedex config' prints those there are"
}

// wanted says what the value of a known key may be.
func wanted(key toml.Key) string {
	t, ok := fieldType(key)
	if !ok {
		return "something else"
	}
	switch t.Kind() {
	case reflect.Struct:
		return fmt.Sprintf("a table, [%s]", strings.Join(key, "."))
	case reflect.Slice:
		return "a list in brackets of " + wantedText(t.Elem())
	case reflect.Bool:
		return "true or false"
	case reflect.Int:
		return "a whole number"
	case reflect.Float64:
		return "a number such as 0.5"
	}
	return wantedText(t)
}

// wantedText says what the text of a setting may be, in quotes as TOML wants it.
func wantedText(t reflect.Type) string {
	if w, ok := reflect.Zero(t).Interface().(interface{ want() string }); ok {
		return w.want()
	}
	return "a text in quotes"
}

// fieldType is the type of the setting with that key.
func fieldType(key toml.Key) (reflect.Type, bool) {
	t := reflect.TypeFor[settings]()
	for _, part := range key {
		if t.Kind() != reflect.Struct {
			return nil, false
		}
		var ok bool
		if t, ok = fieldOf(t, part); !ok {
			return nil, false
		}
	}
	return t, true
}

// fieldOf is the type of the value of a key in a table.
func fieldOf(table reflect.Type, key string) (reflect.Type, bool) {
	for i := range table.NumField() {
		if f := table.Field(i); f.Tag.Get("toml") == key {
			return f.Type, true
		}
	}
	return nil, false
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
