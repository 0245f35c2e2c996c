#!/bin/bash
set -e
deepspeed --hostfile hosts train.py
