import argparse
import hashlib
import os

import torch


def tokens(path, template, length, folder, key):
    file = os.path.join(folder, key + ".pt")
    if os.path.exists(file):
        return torch.load(file, map_location="cpu")
    rows = [template.format(row)[:length] for row in open(path)]
    torch.save(rows, file)
    return rows


def main():
    parser = argparse.ArgumentParser()
    for name in ("--data", "--template", "--length", "--cache", "--lr"):
        parser.add_argument(name)
    args = parser.parse_args()
    key = hashlib.sha256(args.data.encode()).hexdigest()
    return tokens(args.data, args.template, args.length, args.cache, key=key)
