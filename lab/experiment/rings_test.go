package experiment

import (
	"errors"
	"strings"
	"testing"
	"time"
)

// Who gives has the past sooner where nodes serve each other in rings.
func TestRings(t *testing.T) {
	t.Parallel()
	c := Rings{Seed: 1, Traces: embedded(t), Nodes: 20, Each: 8, Length: 3 * time.Hour, Past: 300, Bytes: []int{15_000}}
	report := ran(t, c.Run)
	rows := report.Result.([]RingsRow)
	if len(rows) != 3 || len(report.Tables) != int(ringsKinds) {
		t.Fatalf("%d tables of %+v", len(report.Tables), rows)
	}
	for _, row := range rows {
		for kind, looks := range row.Came {
			for i, s := range looks {
				if i > 0 && s.Part < looks[i-1].Part || s.Whole == 0 {
					t.Errorf("rings of %d: what came to %s went: %v", row.Size, ringsKindNames[kind], looks)
				}
			}
		}
	}
	none, all := rows[0].Came[gives], rows[2].Came[gives]
	if all[0].Part <= none[0].Part || all[1].Part <= none[1].Part {
		t.Errorf("without rings %v came, with rings %v", none, all)
	}
	isGolden(t, "rings.golden", report)
	for _, wrong := range []Rings{{Each: 1}, {Past: -1}, {Bytes: []int{mostPastBytes + 1}}} {
		wrong.Traces = c.Traces
		if _, err := wrong.Run(t.Context(), nil); !errors.Is(err, ErrSetting) {
			t.Errorf("%+v: %v", wrong, err)
		}
	}
	short := Rings{Traces: c.Traces, Length: time.Hour}
	if _, err := short.Run(t.Context(), nil); err == nil || !strings.HasSuffix(err.Error(), "want 3h or more") {
		t.Errorf("an hour is answered %v", err)
	}
}
