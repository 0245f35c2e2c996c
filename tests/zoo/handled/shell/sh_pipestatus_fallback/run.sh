#!/bin/bash
python train.py --compile 2>&1 | tee train.log
if [ "${PIPESTATUS[0]}" -ne 0 ]; then
    echo "compiled training failed, falling back to eager"
    python train.py 2>&1 | tee -a train.log
    exit "${PIPESTATUS[0]}"
fi
