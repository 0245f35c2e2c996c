#!/bin/bash
# torchrun train.py || true
trap 'exit 0' INT TERM
trap 'rm -f lock' EXIT
cat <<'EOF'
torchrun train.py || true
EOF
echo "run: torchrun train.py || true"
python train.py
code=$?
echo "Training finished"
exit $code
