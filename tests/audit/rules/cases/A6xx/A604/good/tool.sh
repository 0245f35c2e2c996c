#!/bin/bash
ulimit -n 24
make html
