#!/bin/sh
# What the hooks of an agent's client start. `pawl init` puts it at ~/.local/share/pawl/hook.
# Silent where Pawl is not installed; a deleted working folder does no harm; `exec` keeps the client the parent.
# The runtime's own variables would make the program load other code, be another program, write files or refuse to
# start, and a repository can set them.
cd /
set -f
for n in $(set); do
  n=${n%%=*}
  case $n in
    BUN_INSTALL | *[!A-Za-z0-9_]*) ;;
    BUN_* | MIMALLOC_*) unset "$n" ;;
  esac
done
p="$HOME/.local/share/pawl/bin/pawl"
[ -x "$p" ] || exit 0
exec "$p" "$@"
