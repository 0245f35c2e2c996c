#!/bin/bash
trap 'interrupted=1' TERM
if python train.py && [ -z "$interrupted" ]; then
    touch DONE
fi
