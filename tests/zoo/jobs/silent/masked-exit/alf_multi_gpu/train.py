import socket

import torch.multiprocessing as mp

from alg.worker import training_worker


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def main():
    mp.start_processes(training_worker, args=(2, free_port(), 60), nprocs=2, start_method="spawn")
    print("training finished")


if __name__ == "__main__":
    main()
