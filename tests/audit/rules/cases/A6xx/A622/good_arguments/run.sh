#!/bin/bash
export NAME=$(echo run 1 | tr -d \ )
gpus=$(nvidia-smi -L | wc -l)
for host in $(cat hosts | cut -f1 -d\ )
do
    python train.py --host $host \
        --epochs 30 \
        # --resume

    python eval.py
done
tr -d \ 
python train.py \
    --epochs 30 \

python eval.py \
    --epochs 30 \
# the results
python report.py && \
    # where all went well
    python send.py
ARGS=(
    --epochs 30
    --lr 0.1
)
python train.py "${ARGS[@]}" \
    --note "a \ 
    --b" \
    --last 1
case $1 in
    -h) echo help ;;
    --all) python eval.py ;;
esac
