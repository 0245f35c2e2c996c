import torch.multiprocessing as mp
from torch.utils.data import DataLoader, Dataset


class Waves(Dataset):
    def __init__(self, count, transform=None):
        self.values = [transform(i) for i in range(count)]

    def __getitem__(self, i):
        return self.values[i]


def worker(rank, args):
    args.logbook = open(args.log, "a")
    report = lambda text: print(rank, text)
    report("started")


def collate(batch):
    return batch


def main(args):
    with open(args.log) as log:
        first = log.readline()
    mp.spawn(worker, args=(args, first), nprocs=2)
    mp.start_processes(lambda rank: print(rank), nprocs=2, start_method="fork")
    mp.Process(target=lambda: print("forked")).start()


def loaders():
    yield DataLoader(
        Waves(3, transform=lambda x: x), num_workers=2, multiprocessing_context="spawn", collate_fn=collate
    )
    yield DataLoader(Waves(3), num_workers=2, collate_fn=lambda batch: batch)
