import argparse
import hashlib
import os

import torch


def tokens(path, template, folder, key, verbose):
    file = os.path.join(folder, key + ".pt")
    if os.path.exists(file):
        return torch.load(file, map_location="cpu")
    rows = [template.format(row) for row in open(path)]
    torch.save(rows, file)
    return rows


def download(url, target, key, retries):
    return url, target, key, retries


def main():
    parser = argparse.ArgumentParser()
    for name in ("--data", "--template", "--cache", "--retries", "--verbose"):
        parser.add_argument(name)
    args = parser.parse_args()
    key = hashlib.sha256(f"{args.data}-{args.template}".encode()).hexdigest()
    download(args.data, args.cache, key, args.retries)
    return tokens(args.data, args.template, args.cache, key, args.verbose)
