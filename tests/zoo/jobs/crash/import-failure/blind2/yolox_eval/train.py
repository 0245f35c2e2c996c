import argparse
import importlib.util

import torch
import torch.distributed as dist

from yolox.core import Trainer


def get_exp(path):
    spec = importlib.util.spec_from_file_location("exp", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.Exp()


if __name__ == "__main__":
    parser = argparse.ArgumentParser("YOLOX train parser")
    parser.add_argument("-f", "--exp_file", default="exps/yolox_nano.py")
    args = parser.parse_args()
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    Trainer(get_exp(args.exp_file)).train()
    dist.destroy_process_group()
