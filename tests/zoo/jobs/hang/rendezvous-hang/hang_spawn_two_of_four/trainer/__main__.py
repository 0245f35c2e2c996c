import json
import os
import socket
import sys

import torch.multiprocessing as mp

from .job import entry


def main(argv):
    with open(argv[argv.index("--config") + 1]) as f:
        config = json.load(f)
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        config["port"] = s.getsockname()[1]
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    mp.spawn(entry, nprocs=config["procs_per_node"], args=(config,))


if __name__ == "__main__":
    main(sys.argv[1:])
