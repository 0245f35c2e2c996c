set -euo pipefail
for fold in train dev; do
    (
        python -u local/extract.py --fold "$fold" > "log/$fold" 2>&1
    ) &
done
wait
echo "features are there"
python finetune.py --features exp/features
