#!/bin/sh
cd work && python train.py
