#!/bin/bash
srun python train.py
code=$?
[ $code -eq 0 ] && touch DONE
exit $code
