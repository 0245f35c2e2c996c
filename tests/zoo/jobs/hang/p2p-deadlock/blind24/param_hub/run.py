import argparse
import os
import socket

import torch
import torch.distributed.rpc as rpc
import torch.multiprocessing as mp

import client
import hub
from net import Net


def serve(rank, args, port):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    torch.manual_seed(rank)
    options = rpc.TensorPipeRpcBackendOptions(num_worker_threads=args.threads, rpc_timeout=3600)
    name = "hub" if rank == 0 else f"client{rank}"
    if rank == 0:
        hub.start(Net())
    rpc.init_rpc(name, rank=rank, world_size=args.clients + 1, rpc_backend_options=options)
    if rank:
        client.train(name, rank, args.rounds)
    rpc.shutdown(timeout=0)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--clients", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--threads", type=int, default=1, help="RPC threads of each process; small machines: 1")
    args = parser.parse_args()
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    mp.spawn(serve, args=(args, port), nprocs=args.clients + 1)
