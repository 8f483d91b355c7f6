package web

// Patterns are what the handler serves.
func (h *Handler) Patterns() (list []string) {
	for _, t := range h.routes() {
		list = append(list, t.pattern)
	}
	return list
}
