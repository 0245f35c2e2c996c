import argparse

import torch

parser = argparse.ArgumentParser()
if int(torch.__version__[0]) == 1:
    parser.add_argument("--local_rank", type=int, required=True)
args = parser.parse_args()
