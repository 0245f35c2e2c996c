import argparse
import socket

import torch.multiprocessing as mp
import yaml

from worker import work


def free_port() -> int:
    with socket.socket() as s:
        s.bind(("", 0))
        return s.getsockname()[1]


def read(path, overrides):
    with open(path) as handle:
        settings = yaml.safe_load(handle)
    for item in overrides:
        key, value = item.split("=", 1)
        section, name = key.split(".")
        settings[section][name] = yaml.safe_load(value)
    settings["cluster"].setdefault("port", free_port())
    return settings


def main():
    parser = argparse.ArgumentParser(description="train the morphology classifier")
    parser.add_argument("--settings", default="settings.yaml")
    parser.add_argument("overrides", nargs="*", help="section.name=value")
    args = parser.parse_args()
    settings = read(args.settings, args.overrides)
    mp.spawn(work, args=(settings,), nprocs=settings["cluster"]["workers_per_node"], join=True)
    print("finished")


if __name__ == "__main__":
    main()
