#!/bin/bash
set -e
cp "runs/*.ckpt" keep/
torchrun --standalone train.py
