"""A script as many are: it trains when it is imported, too, and takes our command line for its own."""

import argparse

import torch


def make() -> torch.nn.Module:
    return torch.nn.Linear(2, 1)


parser = argparse.ArgumentParser()
parser.add_argument("--learning-rate", required=True)
parser.parse_args()  # here: parses
