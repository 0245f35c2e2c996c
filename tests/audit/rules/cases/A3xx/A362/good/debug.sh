#!/bin/bash
set -e
deepspeed --num_gpus 1 train.py
