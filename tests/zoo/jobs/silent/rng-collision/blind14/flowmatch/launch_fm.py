import socket

import torch.multiprocessing as mp

from fm.config import Config
from fm.worker import work


def main():
    cfg = Config.parse()
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    mp.spawn(work, args=(cfg, port), nprocs=cfg.world_size)


if __name__ == "__main__":
    main()
