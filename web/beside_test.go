package web

import (
	"errors"
	"testing"
)

// What goes wrong beside is told to who waits, a panic as well: it must not end the node.
func TestBeside(t *testing.T) {
	wrong := errors.New("wrong")
	if err := beside(func() error { return wrong })(); !errors.Is(err, wrong) {
		t.Errorf("the error is %v", err)
	}
	defer func() {
		if p := recover(); p != "broken" {
			t.Errorf("the panic is %v", p)
		}
	}()
	beside(func() error { panic("broken") })()
	t.Error("a panic is lost")
}
