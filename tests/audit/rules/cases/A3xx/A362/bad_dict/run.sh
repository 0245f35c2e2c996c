#!/bin/bash
set -e
accelerate launch --num_processes 4 train.py
