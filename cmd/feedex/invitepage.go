package main

import (
	_ "embed"
	"html/template"
	"io"

	"feedex/invitation"
)

//go:embed invitepage.html
var invitePage string

// writeInvitePage writes a page with the invitation that needs nothing beside it.
func writeInvitePage(w io.Writer, i *invitation.Invitation) error {
	code, err := i.SVG()
	if err != nil {
		return err
	}
	page, err := template.New("page").Parse(invitePage)
	if err != nil {
		return err
	}
	link := i.String()
	return page.Execute(w, struct {
		Link string
		URL  template.URL // of a scheme that package template does not know
		Code template.HTML
		*invitation.Invitation
	}{link, template.URL(link), template.HTML(code), i})
}
