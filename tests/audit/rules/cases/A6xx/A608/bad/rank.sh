#!/bin/bash
exec env -i PATH="$PATH" HOME="$HOME" python train.py
