import multiprocessing as mp

import torch.distributed as dist


class Packed:
    """Rank 0 packs in processes of its own, and tells the others what came of it."""

    def __init__(self, dataset, workers):
        self.queue = mp.Queue()
        if dist.get_rank() == 0:
            lengths = dataset["lengths"]
            for at in range(workers):
                mp.Process(target=self.pack, args=(at, lengths[at::workers]), daemon=True).start()
            self.rows = []
            finished = 0
            while finished < workers:
                at, rows, done = self.queue.get()
                if done == -1:
                    finished += 1
                    continue
                self.rows += rows
        else:
            self.rows = None
        told = [self.rows]
        dist.broadcast_object_list(told)
        self.rows = told[0]

    def pack(self, at, lengths):
        self.queue.put((at, list(lengths), len(lengths)))
        self.queue.put((at, [], -1))


def main(dataset):
    dist.init_process_group("nccl")
    Packed(dataset, 4)
    dist.destroy_process_group()
