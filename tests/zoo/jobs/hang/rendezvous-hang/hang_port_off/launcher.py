import argparse
import os
import socket
import subprocess
import sys

import yaml


def free_port():
    with socket.socket() as s:
        s.bind(("", 0))
        return s.getsockname()[1]


def environment(cfg, rank, port):
    return {
        **os.environ,
        "OMP_NUM_THREADS": "1",
        "MASTER_ADDR": cfg["address"],
        "MASTER_PORT": str(port + rank),
        "WORLD_SIZE": str(cfg["processes"]),
        "RANK": str(rank),
        "LOCAL_RANK": str(rank),
    }


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--config", required=True)
    with open(parser.parse_args().config) as f:
        cfg = yaml.safe_load(f)
    port = free_port()
    ranks = [
        subprocess.Popen([sys.executable, cfg["script"]], env=environment(cfg, rank, port))
        for rank in range(cfg["processes"])
    ]
    codes = [process.wait() for process in ranks]
    sys.exit(max(codes))


if __name__ == "__main__":
    main()
