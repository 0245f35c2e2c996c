#!/bin/bash
set -e
ulimit -n 96
python fit.py
