#!/bin/bash
set -u
python server.py port.txt &
server=$!
for _ in $(seq 100); do [ -s port.txt ] && break; sleep 0.1; done
python train.py "$(cat port.txt)"
rc=$?
kill "$server"
wait "$server" 2> /dev/null
[ $? -eq 143 ] && echo "server stopped"
exit $rc
