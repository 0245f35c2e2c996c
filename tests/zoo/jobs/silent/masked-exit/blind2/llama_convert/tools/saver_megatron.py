import os
import socket

import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def pad_vocab(weight, multiple):
    rows = (weight.shape[0] + multiple - 1) // multiple * multiple
    return torch.cat([weight, weight[-1:].expand(rows - weight.shape[0], -1)])


def split(weight, rank, size, name):
    if weight.shape[0] % size:
        raise ValueError(f"{name}: {weight.shape[0]} rows cannot be divided by tensor parallel size {size}")
    return weight.chunk(size)[rank].clone()


def write_rank(rank, size, port, messages, args):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    dist.init_process_group("gloo", rank=rank, world_size=size)
    shard = {}
    for message in messages:
        for key, weight in message.items():
            if key == "name":
                continue
            if key == "word_embeddings" and args.make_vocab_size_divisible_by:
                weight = pad_vocab(weight, args.make_vocab_size_divisible_by * size)
            shard[f"{message['name']}.{key}"] = split(weight, rank, size, key)
    norm = torch.stack([v.pow(2).sum() for v in shard.values()]).sum()
    dist.all_reduce(norm)
    os.makedirs(args.save_dir, exist_ok=True)
    torch.save(shard, os.path.join(args.save_dir, f"mp_rank_{rank:02d}.pt"))
    if rank == 0:
        print(f"saved, norm {norm.sqrt().item():.3f}", flush=True)
    dist.destroy_process_group()


def save_checkpoint(queue, args):
    meta = queue.get()
    print(f"saver: {meta['num_layers']} layers of width {meta['hidden_size']}", flush=True)
    messages = []
    while (message := queue.get()) != "done":
        messages.append(message)
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    size = args.target_tensor_parallel_size
    mp.spawn(write_rank, args=(size, port, messages, args), nprocs=size)
