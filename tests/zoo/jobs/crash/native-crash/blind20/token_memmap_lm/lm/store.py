import os

import numpy as np
import torch.distributed as dist


class PackedStore:
    """One flat file of tokens, shared by all ranks of a node through the page cache."""

    def __init__(self, corpus, workdir):
        self.corpus = corpus
        self.path = os.path.join(workdir, "tokens.bin")
        self.stage = None
        self.tokens = None
        os.makedirs(workdir, exist_ok=True)

    def pack(self, min_length):
        chosen = self.corpus.select(min_length)
        total = int(self.corpus.lengths[chosen].sum())
        out = np.memmap(self.path, dtype=np.int32, mode="w+", shape=(total,))
        cursor = 0
        for index in chosen:
            document = self.corpus.document(index)
            out[cursor:cursor + len(document)] = document
            cursor += len(document)
        out.flush()
        return out

    def prepare(self, min_length):
        if min_length == self.stage:
            return
        self.stage = min_length
        if dist.get_rank() == 0:
            self.tokens = self.pack(min_length)
        dist.barrier()
        if self.tokens is None:
            self.tokens = np.memmap(self.path, dtype=np.int32, mode="r")

    def __len__(self):
        return len(self.tokens)
