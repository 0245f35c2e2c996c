#!/usr/bin/env bash
# Trains the monophone and the bigram system side by side on one machine.
set -u
cd "$(dirname "$0")"
exp=$(mktemp -d)
trap 'rm -rf "$exp"' EXIT

python mmi_train.py --lm monophone --exp-dir "$exp/mono" --epochs 20 &
mono=$!
until [ -s "$exp/mono/log" ] || ! kill -0 "$mono" 2>/dev/null; do
    sleep 0.5
done
python mmi_train.py --lm bigram --exp-dir "$exp/bigram" --epochs 10 &
bigram=$!

for _ in mono bigram; do
    wait -n "$mono" "$bigram"
    code=$?
    if [ "$code" -ne 0 ]; then
        echo "one of the systems failed with code $code, ending the other"
        kill "$mono" "$bigram" 2>/dev/null
        wait
        exit "$code"
    fi
done
echo "both systems are trained"
