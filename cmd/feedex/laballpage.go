package main

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"os"
	"path/filepath"

	"feedex/lab/experiment"
)

//go:embed laballpage.html
var labAllPage string

// A labPair is a figure of a paper beside ours.
type labPair struct {
	experiment.Stated
	Image string // of the paper's, relative to the page
	Run   string // which has ours, "" where it is not made yet
}

// A labPaper is a paper with its figures.
type labPaper struct {
	Name, ID string
	Pairs    []labPair
}

// A labSection is a run with all that it made.
type labSection struct {
	Name, Title, Page string
	Done              *labOutcome // nil where it is not made yet
	Old               bool        // by another program, or with other flags
	Took              string
	Figures           []string // of files, relative to the page
	Tables            string
}

// page writes the page of what is in the folder.
func (a *labAll) page(w io.Writer, stated []experiment.Stated) error {
	where := make(map[string]string) // a figure's name to its run
	var sections []labSection
	for _, r := range labRuns() {
		s := labSection{Name: r.name, Title: r.title, Page: r.page, Done: a.outcome(r)}
		if s.Done != nil {
			s.Old, s.Took = !a.done(r), took(s.Done.Minutes)
			text, err := os.ReadFile(filepath.Join(a.dir, r.name, labTables))
			if err != nil {
				return fmt.Errorf("read the tables of %s: %w", r.name, err)
			}
			s.Tables = string(text)
			for _, name := range a.figuresOf(r) {
				s.Figures = append(s.Figures, r.name+"/"+name+".svg")
				if where[name] == "" { // of a run and its variants, the run
					where[name] = r.name
				}
			}
		}
		sections = append(sections, s)
	}
	var papers []labPaper
	for _, s := range stated {
		if len(papers) == 0 || papers[len(papers)-1].Name != s.Paper {
			papers = append(papers, labPaper{Name: s.Paper, ID: "paper-" + s.Paper})
		}
		p := &papers[len(papers)-1]
		p.Pairs = append(p.Pairs, labPair{s, "stated/" + s.Figure.Name + ".svg", where[s.Ours]})
	}
	page, err := template.New("page").Parse(labAllPage)
	if err != nil {
		return err
	}
	return page.Execute(w, struct {
		Version  string
		Quick    bool
		Papers   []labPaper
		Sections []labSection
	}{version(), a.quick, papers, sections})
}

// took is how long a run took.
func took(minutes float64) string {
	if minutes < 1 {
		return fmt.Sprintf("%.0f seconds", minutes*60)
	}
	return fmt.Sprintf("%.0f minutes", minutes)
}
