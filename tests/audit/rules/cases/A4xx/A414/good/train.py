import argparse
import os


def prune(folder, keep=-1):
    if keep < 0:
        return
    names = sorted(os.listdir(folder))
    for name in names[: len(names) - keep]:
        os.remove(os.path.join(folder, name))


def prune_some(folder, limit):
    names = sorted(os.listdir(folder))
    if len(names) > limit:
        for name in names[: len(names) - limit]:
            os.remove(os.path.join(folder, name))


def prune_few(folder, few=3):
    names = sorted(os.listdir(folder))
    for name in names[: len(names) - few]:
        os.remove(os.path.join(folder, name))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--limit", type=int, default=-1)
    args = parser.parse_args()
    prune("out", args.limit)
    if args.limit > 0:
        prune_some("out", args.limit)
    prune_few("out")
