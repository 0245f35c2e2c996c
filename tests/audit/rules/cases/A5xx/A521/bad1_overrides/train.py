import argparse

import torch.distributed as dist

parser = argparse.ArgumentParser()
parser.add_argument("--config", default="config.yaml")
args, overrides = parser.parse_known_args()
dist.init_process_group("nccl")
