#!/bin/bash
# python train.py \ 
#    --epochs 30
python train.py --out a\ b \
    --note "one \ two" \
    --epochs 30
python train.py --out a\ 
echo "\ "
cat <<TEXT
python train.py \ 
    --epochs 3
TEXT
