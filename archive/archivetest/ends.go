package archivetest

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"

	"feedex/reading"
)

// Every method that reads says why its context ended, in place of that it did.
func testReadsEnd(t *testing.T, a reading.Database) {
	ctx, end := context.WithCancelCause(t.Context())
	why := errors.New("nobody waits any more")
	end(why)
	for _, of := range []struct {
		methods reflect.Type
		value   any
	}{{reflect.TypeFor[reading.View](), a}, {reflect.TypeFor[reading.Shelf](), a.Shelf(reading.Owner)}} {
		for i := range of.methods.NumMethod() {
			m := of.methods.Method(i)
			if m.Type.NumIn() == 0 || m.Type.In(0) != reflect.TypeFor[context.Context]() {
				continue
			}
			args := []reflect.Value{reflect.ValueOf(ctx)}
			for n := 1; n < m.Type.NumIn(); n++ {
				arg := reflect.Zero(m.Type.In(n))
				switch arg.Kind() { // they are looked for, and a key is hexadecimal
				case reflect.Slice:
					arg = reflect.MakeSlice(arg.Type(), 1, 1)
				case reflect.String:
					arg = reflect.ValueOf("cafe").Convert(arg.Type())
				}
				args = append(args, arg)
			}
			results := reflect.ValueOf(of.value).MethodByName(m.Name).Call(args)
			last := results[len(results)-1]
			if last.Kind() == reflect.Func {
				for _, failed := range last.Seq2() {
					last = failed
				}
			}
			err, _ := last.Interface().(error)
			if !errors.Is(err, why) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s: %v, want %v", m.Name, err, why)
			}
		}
	}
}
