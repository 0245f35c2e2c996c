#!/bin/bash
set -euo pipefail
python make_checkpoints.py
echo "--- a good checkpoint has to load"
python load.py good.pt
echo "--- these have to be refused"
for bad in cut.pt pickle.pt shapes.pt; do
    if ! python load.py "$bad" 2> "$bad.err"; then echo "refused $bad"; else echo "accepted $bad"; exit 1; fi
done
! python load.py missing.pt 2> /dev/null
echo "all checks passed"
