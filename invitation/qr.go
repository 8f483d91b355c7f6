package invitation

import (
	"fmt"
	"image/color"
	"strings"

	"github.com/boombuler/barcode/qr"
)

// quiet is how many modules stay white around a code (ISO/IEC 18004 §9.1).
const quiet = 4

// SVG draws the link as a QR code (ISO/IEC 18004), black on white whatever is around it, and without words. The error
// says that the link is too long for one.
func (i *Invitation) SVG() (string, error) {
	code, err := qr.Encode(i.String(), qr.L, qr.Auto) // it is shown on a screen: nothing gets scratched
	if err != nil {
		return "", fmt.Errorf("draw the link: %w", err)
	}
	size := code.Bounds().Dx()
	var path strings.Builder
	for y := range size {
		for x := 0; x < size; x++ {
			run := 0
			for x+run < size && code.At(x+run, y) == color.Black {
				run++
			}
			if run > 0 {
				fmt.Fprintf(&path, "M%d %dh%dv1H%dz", x+quiet, y+quiet, run, x+quiet)
				x += run
			}
		}
	}
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" `+
		`viewBox="0 0 %[1]d %[1]d" width="%[2]d" height="%[2]d" `+
		`shape-rendering="crispEdges"><path fill="#fff" d="M0 0h%[1]dv%[1]dH0z"/><path d="%[3]s"/></svg>`,
		size+2*quiet, 4*(size+2*quiet), path.String()), nil
}
