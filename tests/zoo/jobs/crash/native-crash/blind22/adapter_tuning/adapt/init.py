import argparse

import torch

from adapt.net import Tuned

if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--out", required=True)
    a = p.parse_args()
    torch.manual_seed(0)
    torch.save({"round": 0, "model": Tuned().state_dict()}, a.out)
    print("wrote", a.out)
