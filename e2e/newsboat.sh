#!/bin/sh
# Puts the newsboat of a newer Debian into a folder, beside that of this system, and prints the program by which to run
# it: FEEDEX_NEWSBOAT=$(e2e/newsboat.sh DIR [SUITE]) go test -run Newsboat ./... It needs mmdebstrap, and root.
set -eu
dir=$1 suite=${2:-sid}
mkdir -p "$dir"
if [ ! -x "$dir/newsboat" ]; then
	# A mirror that is behind is as good.
	mmdebstrap --quiet --variant=extract --include=newsboat --aptopt='Acquire::Check-Valid-Until "false"' \
		"$suite" "$dir/debian" >&2
	libraries=$(dirname "$(find "$dir/debian" -name libncursesw.so.6 | head -n 1)")
	loader=$(find "$dir/debian" -name 'ld-linux*.so.*' | head -n 1)
	printf '#!/bin/sh\nexec %s --library-path %s %s/debian/usr/bin/newsboat "$@"\n' "$loader" "$libraries" "$dir" \
		>"$dir/newsboat.new"
	chmod +x "$dir/newsboat.new"
	"$dir/newsboat.new" --version >&2
	mv "$dir/newsboat.new" "$dir/newsboat"
fi
echo "$dir/newsboat"
