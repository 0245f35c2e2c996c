import hashlib
import zlib

import torch
import torch.distributed as dist


class Point:
    def __init__(self, name, number):
        self.name, self.number = name, number

    def __hash__(self):
        return hash(self.name) % 1000003


def of_numbers(step, rank):
    return hash((step, rank)) % 7


def of_text(name):
    return zlib.crc32(name.encode()) % 20, int(hashlib.sha1(name.encode()).hexdigest(), 16) % 20


def color(name):
    return hash(name) % 8


def looked_up(name, table):
    return table[hash(name)]


def named(name):
    return f"run-{hash(name)}" if dist.get_rank() == 0 else ""


def main():
    dist.init_process_group("nccl")
    if dist.get_rank() == 0:
        print(hash("run") % 10)
    print(of_numbers(1, 2), of_text("a"), torch.ones(1))
