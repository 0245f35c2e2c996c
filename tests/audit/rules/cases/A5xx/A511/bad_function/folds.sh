#!/bin/bash
run() {
    python train.py --fold "$1" > "fold-$1.log" 2>&1
}
finish() {
    wait
}
for fold in 1 2 3; do run "$fold" & done
finish
