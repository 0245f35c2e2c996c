"""swiftlet COMMAND [--config FILE] [--key value ...]

Starts the module of the command, below torchrun where NPROC_PER_NODE is set or the config asks for it.
"""
import importlib.util
import os
import subprocess
import sys
from typing import Dict, List

import yaml

ROUTE_MAPPING: Dict[str, str] = {
    "sft": "swiftlet.sft",
    "eval": "swiftlet.evaluate",
}


def use_torchrun(settings) -> bool:
    return bool(os.getenv("NPROC_PER_NODE")) or settings.get("nproc_per_node", 1) > 1


def get_torchrun_args(settings) -> List[str]:
    nproc = os.getenv("NPROC_PER_NODE") or str(settings.get("nproc_per_node", 1))
    result = ["--nproc_per_node", nproc]
    port = os.getenv("MASTER_PORT")
    return result + (["--master_port", port] if port else ["--standalone"])


def take_config(argv: List[str]):
    """Replaces --config FILE by the settings in it; the command line comes last and wins."""
    if "--config" not in argv:
        return {}, argv
    at = argv.index("--config")
    with open(argv[at + 1]) as f:
        settings = yaml.safe_load(f)
    launch = settings.pop("launch", {})
    flat = []
    for key, value in settings.items():
        flat += [f"--{key}", str(value)]
    return launch, flat + argv[:at] + argv[at + 2 :]


def cli_main() -> None:
    argv = sys.argv[1:]
    if not argv or argv[0] not in ROUTE_MAPPING:
        print(__doc__)
        print("commands:", ", ".join(sorted(ROUTE_MAPPING)))
        sys.exit(2)
    method_name, argv = argv[0], argv[1:]
    settings, argv = take_config(argv)
    file_path = importlib.util.find_spec(ROUTE_MAPPING[method_name]).origin
    if use_torchrun(settings):
        args = [sys.executable, "-m", "torch.distributed.run", *get_torchrun_args(settings), file_path, *argv]
    else:
        args = [sys.executable, file_path, *argv]
    print(f"run sh: `{' '.join(args)}`", flush=True)
    subprocess.run(args)


if __name__ == "__main__":
    cli_main()
