package experiment

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"feedex/lab/report"
)

// A user who interrupts an experiment, before it began or in its first minutes, is told that the report is partial; it
// can be written and drawn, and nothing failed.
func TestInterruptedExperimentsSaySo(t *testing.T) {
	t.Parallel()
	set := embedded(t)
	few := []time.Duration{time.Hour, 2 * time.Hour}
	for name, run := range map[string]func(context.Context, Progress) (*report.Report, error){
		"paper":      Paper{Seed: 1, Traces: set, Nodes: 10, Intervals: few}.Run,
		"turns":      PaperTurns{Paper: Paper{Seed: 1, Traces: set, Nodes: 10, Intervals: few[:1]}}.Run,
		"polling":    Polling{Seed: 1, Traces: set}.Run,
		"shared":     SharedPolling{Seed: 1, Traces: set}.Run,
		"publishing": Publishing{Seed: 1, Traces: set}.Run,
		"churn":      Churn{Seed: 1, Traces: set, Nodes: 10, Sessions: few}.Run,
		"scale":      Scaling{Seed: 1, Traces: set, Sizes: []int{10, 20}}.Run,
		"corona":     Corona{Seed: 1, Nodes: 10, Channels: 5, Subscriptions: 20}.Run,
		"freeriders": FreeRiders{Seed: 1, Traces: set, Nodes: 10}.Run,
		"rings":      Rings{Seed: 1, Traces: set, Nodes: 10, Past: 20}.Run,
		"query":      Queries{Seed: 1, Traces: set, Sizes: []int{10}}.Run,
		"attacks": func(ctx context.Context, tell Progress) (*report.Report, error) {
			r, failed, err := Attacks{Seed: 1, Traces: set, Nodes: 10}.Run(ctx, tell)
			if failed > 0 {
				t.Errorf("%d attacks failed that were interrupted", failed)
			}
			return r, err
		},
	} {
		for _, begun := range []bool{false, true} {
			ctx, cancel := context.WithCancel(t.Context())
			tell := func(float64) { cancel() }
			if !begun {
				cancel()
			}
			r, err := run(ctx, tell)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			var text, json bytes.Buffer
			if err := r.Write(&text); err != nil || !strings.Contains(text.String(), "\nPARTIAL: ") {
				t.Errorf("%s, begun %v: the text does not say that it is partial, %v:\n%s", name, begun, err, &text)
			}
			if strings.Contains(text.String(), "NaN") {
				t.Errorf("%s, begun %v:\n%s", name, begun, &text)
			}
			if err := r.WriteJSON(&json); err != nil || !strings.Contains(json.String(), `"partial": "`) {
				t.Errorf("%s, begun %v: as JSON: %v", name, begun, err)
			}
			checkDrawings(t, r.All())
			cancel()
		}
	}
}

// A user who interrupts gets what there was by then, and is told so.
func TestInterruptedPaper(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	p := smallPaper(t)
	p.Intervals = []time.Duration{time.Hour}
	report, err := p.Run(ctx, func(done float64) {
		if done > .4 {
			cancel()
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if ran := report.Result.(PaperResult).Rows[0].Ran; report.Partial == "" || ran < time.Hour || ran > 2*time.Hour {
		t.Errorf("it ran %v and says %q", ran, report.Partial)
	}
}
