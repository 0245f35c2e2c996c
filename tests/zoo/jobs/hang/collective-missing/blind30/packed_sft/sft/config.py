import argparse
import tomllib
from types import SimpleNamespace


def _ns(d):
    return SimpleNamespace(**{k: _ns(v) if isinstance(v, dict) else v for k, v in d.items()})


def parse_argv():
    parser = argparse.ArgumentParser("sft")
    parser.add_argument("--config", required=True)
    parser.add_argument("--max-steps", type=int, default=None)
    args = parser.parse_args()
    with open(args.config, "rb") as f:
        config = _ns(tomllib.load(f))
    if args.max_steps is not None:
        config.max_steps = args.max_steps
    return config
