#!/bin/bash
python train.py --batch 1 > got1
python train.py --batch 2 > got2
echo "diff test 1 (no output = SUCCESS)"
diff wanted1 got1
echo "diff test 2 (no output = SUCCESS)"
diff wanted2 got2
