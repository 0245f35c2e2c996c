#!/bin/bash
# which commit broke the training? git bisect run takes the answer from the script's exit code
set -euo pipefail
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
export GIT_AUTHOR_DATE="2024-01-01T00:00:00Z" GIT_COMMITTER_DATE="2024-01-01T00:00:00Z"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp train.py "$work"
cd "$work"
git init -q .
for n in 1 2 3 4 5; do
    echo "lr = 0.0$n" > settings.py
    [ "$n" -ge 4 ] && echo "hidden = '16'" >> settings.py || echo "hidden = 16" >> settings.py
    git add settings.py train.py
    git commit -q -m "version $n"
done
git bisect start HEAD HEAD~4 > /dev/null
git bisect run python train.py > bisect.txt 2>&1 || { cat bisect.txt; exit 1; }
bad=$(git log -1 --format=%s refs/bisect/bad)
echo "first bad commit: $bad"
[ "$bad" = "version 4" ]
