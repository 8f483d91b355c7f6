// Package settings is what the owner of a node or a tracker may choose, by flags, in the environment and in the config
// file. Its table has a row a setting: flags, the config file, their errors and their help all come from there.
package settings

import (
	"fmt"
	"log/slog"
	"net"
	"reflect"
	"strconv"
	"strings"
	"time"

	"feedex/daemon"
	"feedex/feed"
	"feedex/protocol"
	"feedex/tracker/trackerhost"
)

// A Role is the kind of program that settings are for.
type Role int

// Programs that have settings. A Client is a program that talks to the node of a data directory.
const (
	Node    Role = 0
	Client  Role = 1
	Tracker Role = 2
)

// A UsageError is a mistake in the command line, the environment or the config file: trying again cannot help.
type UsageError struct {
	Err  error
	Hint string // what to do about it, "" where the error says so
}

// Error implements error.
func (e UsageError) Error() string { return e.Err.Error() }

// Unwrap is the error underneath.
func (e UsageError) Unwrap() error { return e.Err }

// Settings are the choices of an owner, and the defaults of all else.
type Settings struct {
	role   Role
	values reflect.Value // a struct with a field a setting, and in it one a table of the config file
}

// Default are the settings of an owner who chose none.
func Default(role Role) *Settings {
	s := &Settings{role, reflect.New(document("")).Elem()}
	for _, row := range table() {
		if row.usual != nil {
			s.field(row.key).Set(reflect.ValueOf(row.usual))
		}
	}
	if role == Tracker {
		s.field("listen").SetString(":7788")
	}
	return s
}

// document is the type of what a table of the config file holds, "" for all of it.
func document(prefix string) reflect.Type {
	var fields []reflect.StructField
	for _, row := range table() {
		name, ok := strings.CutPrefix(row.key, prefix)
		if !ok || strings.Contains(name, ".") {
			continue
		}
		field := reflect.StructField{Name: fieldName(name), Tag: reflect.StructTag(`toml:"` + name + `"`)}
		switch {
		case row.usual == nil:
			field.Type = document(row.key + ".")
		case row.noKey != "":
			field.Type, field.Tag = reflect.TypeOf(row.usual), `toml:"-"`
		default:
			field.Type = reflect.TypeOf(row.usual)
		}
		fields = append(fields, field)
	}
	return reflect.StructOf(fields)
}

// fieldName is the name of a setting's field, which Go wants to begin with a capital.
func fieldName(key string) string { return "Key_" + key }

// field is where a setting is.
func (s *Settings) field(key string) reflect.Value {
	v := s.values
	for part := range strings.SplitSeq(key, ".") {
		v = v.FieldByName(fieldName(part))
	}
	return v
}

func (s *Settings) text(key string) string        { return s.field(key).String() }
func (s *Settings) texts(key string) []string     { return s.field(key).Interface().([]string) }
func (s *Settings) span(key string) time.Duration { return Duration(s.text(key)) }

// A value is a setting together with the Settings that hold it.
type value struct {
	*setting
	of *Settings
}

func (v value) field() reflect.Value { return v.of.field(v.key) }
func (v value) text() string         { return v.of.text(v.key) }
func (v value) texts() []string      { return v.of.texts(v.key) }
func (v value) span() time.Duration  { return v.of.span(v.key) }
func (v value) is() bool             { return v.field().Bool() }
func (v value) number() int          { return int(v.field().Int()) }
func (v value) fraction() float64    { return v.field().Float() }
func (v value) isUsual() bool        { return reflect.DeepEqual(v.field().Interface(), v.usual) }

// Node returns the configuration of a node by the settings. Those out of their range are refused, a 0 like every other
// number: an owner who writes it means it, and would get the default. The error is a UsageError.
func (s *Settings) Node() (c daemon.Config, err error) {
	if c.Data, err = s.Data(); err != nil {
		return daemon.Config{}, err
	}
	if err := s.checkPort(); err != nil {
		return daemon.Config{}, err
	}
	rows := table()
	for i := range rows {
		v := value{&rows[i], s}
		if v.check == nil {
			continue
		}
		if says := v.check(v); says != "" {
			return daemon.Config{}, s.outOfRange(v.setting, says)
		}
	}
	for i := range rows {
		if v := (value{&rows[i], s}); v.to != nil {
			v.to(&c, v)
		}
	}
	c.Reserve = daemon.ReserveBytes
	return c, nil
}

// checkPort refuses a port to listen at that no node calls.
func (s *Settings) checkPort() error {
	_, port, _ := net.SplitHostPort(s.text("listen")) // its kind has checked it
	if n, _ := strconv.Atoi(port); s.role == Node && n > 0 && n < protocol.LowestPort {
		return UsageError{Err: fmt.Errorf("listen for neighbors at %s: no node calls ports below %d; choose another "+
			"address with --listen", s.text("listen"), protocol.LowestPort)}
	}
	return nil
}

// Tracker returns the configuration of a tracker by the settings, of which it has some of those of a node.
func (s *Settings) Tracker() (trackerhost.Config, error) {
	c, err := s.Node()
	return trackerhost.Config{Data: c.Data, Listen: c.Listen, AllowLocal: c.Node.AllowLocal,
		TrustedProxies: c.TrustedProxies, UserAgent: daemon.UserAgent}, err
}

// Log is the least level to log, and "text" or "json".
func (s *Settings) Log() (least slog.Level, format string) {
	_ = least.UnmarshalText([]byte(s.text("log_level"))) // its kind has checked it
	return least, s.text("log_format")
}

// File is the config file that was read, "" for none.
func (s *Settings) File() string { return s.text("config") }

// Subscribed are the feeds that a node with these settings follows from its start.
func (s *Settings) Subscribed() []feed.URL {
	named, others := wishes(s.texts("subscribe"))
	for _, w := range others {
		named = append(named, w.Feeds...)
	}
	return named
}
