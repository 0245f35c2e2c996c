import argparse
import os

import torch
import torch.distributed as dist

parser = argparse.ArgumentParser()
parser.add_argument("--gpus", default="0,1")
args = parser.parse_args()
os.environ["CUDA_VISIBLE_DEVICES"] = args.gpus
torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
dist.init_process_group("nccl")
