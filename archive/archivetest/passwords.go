package archivetest

import (
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"

	"feedex/reading"
)

func testPasswords(t *testing.T, a reading.Database) {
	at := time.Unix(7200, 0).UTC()
	phone := reading.NewPassword("phone", "00ff", reading.Owner, reading.ReaderScope, at)
	if err := a.KeepPassword(phone); err != nil {
		t.Error(err)
	}
	again := reading.NewPassword("phone", "11ff", reading.Owner, reading.OwnerScope, at)
	if err := a.KeepPassword(again); !errors.Is(err, reading.ErrTaken) {
		t.Errorf("a name that is taken: %v", err)
	}
	a.UsePassword("phone", at.Add(90*time.Minute))
	a.EndSessions("phone")
	a.EndSessions("nobody")
	Commit(t, a)
	phone.Used, phone.Epoch = at.Add(90*time.Minute), 1
	if list, err := a.Passwords(t.Context()); err != nil || !reflect.DeepEqual(list, []reading.Password{phone}) {
		t.Errorf("Passwords = %+v, %v", list, err)
	}
	for _, c := range []struct {
		hash  reading.Hash
		fever bool
		want  reading.Password
	}{
		{reading.HashOf("00ff\n"), false, phone},
		{reading.FeverHash("D66BFEB4C79B4D5F1C8A8FE9CC7CCC9D"), true, reading.Password{}},
		{reading.FeverHash(reading.FeverKey("phone", "00ff")), true, phone},
		{reading.HashOf("00ff"), true, reading.Password{}},
		{reading.HashOf("11ff"), false, reading.Password{}},
	} {
		if got, err := a.Password(t.Context(), c.hash, c.fever); err != nil || got != c.want {
			t.Errorf("Password(%x, %v) = %+v, %v", c.hash[:2], c.fever, got, err)
		}
	}
	if !a.DropPassword("phone") || a.DropPassword("phone") {
		t.Error("a password is dropped once")
	}
	Commit(t, a)
	if got, err := a.Password(t.Context(), phone.Hash, false); err != nil || got != (reading.Password{}) {
		t.Errorf("a password that was dropped: %+v, %v", got, err)
	}
	if err := a.KeepPassword(phone); err != nil {
		t.Fatal(err)
	}
	Commit(t, a)
	if got, err := a.Password(t.Context(), phone.Hash, false); err != nil || got != phone {
		t.Errorf("one that is kept again: %+v, %v, want %+v", got, err, phone)
	}
	a.DropPassword("phone")
	ann, err := a.AddPerson(at, "Ann")
	if err != nil {
		t.Fatal(err)
	}
	hers := reading.NewPassword("ann", "22ff", ann, reading.ReaderScope, at)
	for _, want := range []error{nil, reading.ErrNobody} { // there, and hidden
		if err := a.KeepPassword(hers); !errors.Is(err, want) {
			t.Errorf("a password of Ann: %v, want %v", err, want)
		}
		a.HidePerson(at, ann)
	}
	Commit(t, a)
	if got, err := a.Password(t.Context(), hers.Hash, false); err != nil || got != (reading.Password{}) {
		t.Errorf("a password of who is hidden: %+v, %v", got, err)
	}
	for i := range reading.MaxPasswords {
		p := reading.NewPassword(fmt.Sprint(i), fmt.Sprint(i), reading.Owner, reading.OwnerScope, at)
		if err := a.KeepPassword(p); err != nil {
			t.Fatal(err)
		}
	}
	if err := a.KeepPassword(phone); !errors.Is(err, reading.ErrPasswords) {
		t.Errorf("one password too many: %v", err)
	}
}
