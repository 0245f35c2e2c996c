import argparse
from types import SimpleNamespace

import yaml

from trainer import Trainer


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--config_path", required=True)
    parser.add_argument("--max_steps", type=int)
    args = parser.parse_args()
    config = SimpleNamespace(**yaml.safe_load(open(args.config_path)))
    if args.max_steps:
        config.max_steps = args.max_steps
    Trainer(config).train()


if __name__ == "__main__":
    main()
