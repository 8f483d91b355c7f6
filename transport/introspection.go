package transport

import (
	"feedex/protocol"
	"feedex/xmlrpc"
)

// describe answers the system methods from the table of methods, as the XML-RPC introspection
// convention has it. The error is a *protocol.Fault.
func (h *handler) describe(c xmlrpc.Call) (xmlrpc.Value, error) {
	if c.Method == "system.listMethods" {
		names := make(xmlrpc.Array, len(h.cfg.Methods))
		for i, m := range h.cfg.Methods {
			names[i] = m.Name
		}
		return names, nil
	}
	if len(c.Params) == 0 {
		return nil, protocol.Faultf(protocol.InvalidParams, "name: missing")
	}
	name, ok := c.Params[0].(string)
	if !ok {
		return nil, protocol.Faultf(protocol.InvalidParams, "name: want a string")
	}
	m, known := h.methods[name]
	switch {
	case !known:
		return nil, protocol.Faultf(protocol.InvalidParams, "name: no method %.64q", name)
	case c.Method == "system.methodHelp":
		return m.Help, nil
	case c.Method == "system.methodSignature":
		signatures := make(xmlrpc.Array, len(m.Signatures))
		for i, s := range m.Signatures {
			types := make(xmlrpc.Array, len(s))
			for j, t := range s {
				types[j] = t
			}
			signatures[i] = types
		}
		return signatures, nil
	}
	return nil, protocol.Faultf(protocol.UnknownMethod, "no method %.64q", c.Method)
}
