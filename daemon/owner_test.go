package daemon

import (
	"context"
	"errors"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"feedex/archive"
	"feedex/control"
	"feedex/node"
)

// The owner may give a question up while the loop answers it. The race detector sees to it that the loop then writes
// nothing that the asker reads.
func TestQuestionsThatAreGivenUp(t *testing.T) {
	core, err := node.New(time.Now(), node.Config{Secret: make([]byte, 32)}, archive.NewMemory(),
		rand.New(rand.NewPCG(1, 2)))
	if err != nil {
		t.Fatal(err)
	}
	for name, ask := range map[string]func(*host, context.Context) (empty bool, err error){
		"status": func(h *host, ctx context.Context) (bool, error) {
			r, err := h.Status(ctx)
			return reflect.DeepEqual(r, control.Report{}), err
		},
		"neighbors": func(h *host, ctx context.Context) (bool, error) {
			list, err := h.Neighbors(ctx)
			return list == nil, err
		},
		"feeds": func(h *host, ctx context.Context) (bool, error) {
			list, err := h.Feeds(ctx)
			return list == nil, err
		},
	} {
		t.Run(name, func(t *testing.T) {
			for range 100 {
				h := newHost(Config{}.withDefaults(), newDisk(), nil, peers(friendly), unreachable{})
				ctx, cancel := context.WithCancel(t.Context())
				done := make(chan struct{})
				go func() {
					defer close(done)
					if empty, err := ask(h, ctx); err != nil && !empty {
						t.Error("an answer beside an error")
					} else if err != nil && !errors.Is(err, context.Canceled) {
						t.Error(err)
					}
				}()
				question := <-h.events
				cancel()
				question.look(core)
				<-done
			}
		})
	}
}

// While nothing can be stored the status says why, and nothing else is answered.
func TestQuestionsToANodeThatRests(t *testing.T) {
	runLoop(t, friendly, func(t *testing.T, l *testLoop) {
		l.disk.set(diskState{commit: errors.New("disk is full")})
		l.knock()
		if r, err := l.Status(t.Context()); err != nil || r.Storage != "disk is full" || r.Version != Version {
			t.Errorf("Status = %+v, %v", r, err)
		}
		if list, err := l.Neighbors(t.Context()); err == nil {
			t.Errorf("Neighbors = %v", list)
		}
		if list, err := l.Feeds(t.Context()); err == nil {
			t.Errorf("Feeds = %v", list)
		}
	})
}
