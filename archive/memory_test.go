package archive_test

import (
	"testing"

	"feedex/archive"
	"feedex/archive/archivetest"
)

func TestMemory(t *testing.T) {
	archivetest.Run(t, func(testing.TB) archivetest.Archive { return archive.NewMemory() })
}
