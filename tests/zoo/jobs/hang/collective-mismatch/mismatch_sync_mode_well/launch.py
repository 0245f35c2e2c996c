"""Starts one process for each entry of hosts.yaml (here: both on this machine)."""
import os
import socket
import subprocess
import sys

import yaml


def main():
    with open("hosts.yaml") as f:
        hosts = yaml.safe_load(f)["ranks"]
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    processes = []
    for rank, settings in enumerate(hosts):
        env = {**os.environ, "RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": str(len(hosts))}
        env |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), **settings["env"]}
        processes.append(subprocess.Popen([sys.executable, "train.py"], env=env))
    sys.exit(max(p.wait() for p in processes))


if __name__ == "__main__":
    main()
