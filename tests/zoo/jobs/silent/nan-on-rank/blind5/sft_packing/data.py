import torch

IGNORE_INDEX = -100


class PackedInstances:
    """Conversations packed into windows of fixed length. Prompt tokens carry IGNORE_INDEX as label."""

    def __init__(self, num_windows, seq_len=24, vocab=40):
        g = torch.Generator().manual_seed(6)
        table = torch.randint(1, vocab, (vocab,), generator=g)
        self.input_ids = torch.zeros(num_windows, seq_len, dtype=torch.long)
        self.labels = torch.full((num_windows, seq_len), IGNORE_INDEX)
        for w in range(num_windows):
            pos = 0
            long_prompt = w % 37 == 36
            while pos < seq_len:
                prompt = seq_len if long_prompt else int(torch.randint(3, 9, (1,), generator=g))
                answer = int(torch.randint(3, 9, (1,), generator=g))
                ids = torch.randint(1, vocab, (prompt + answer,), generator=g)
                for i in range(prompt, prompt + answer):
                    ids[i] = table[ids[i - 1]]
                lab = ids.clone()
                lab[:prompt] = IGNORE_INDEX
                take = min(len(ids), seq_len - pos)
                self.input_ids[w, pos : pos + take] = ids[:take]
                self.labels[w, pos : pos + take] = lab[:take]
                pos += take

    def __len__(self):
        return len(self.input_ids)


class DataLoader:
    """Every rank reads its own windows of a global batch; the order of an epoch follows from the seed."""

    def __init__(self, instances, global_batch_size, dp_world_size, dp_rank, seed):
        self.instances = instances
        self.global_batch_size = global_batch_size
        self.rank_batch_size = global_batch_size // dp_world_size
        self.dp_rank = dp_rank
        self.seed = seed

    def reshuffle(self, epoch):
        g = torch.Generator().manual_seed(self.seed + epoch)
        self.order = torch.randperm(len(self.instances), generator=g)

    def __iter__(self):
        for batch in range(len(self.order) // self.global_batch_size):
            start = batch * self.global_batch_size + self.dp_rank * self.rank_batch_size
            idx = self.order[start : start + self.rank_batch_size]
            yield {"input_ids": self.instances.input_ids[idx], "labels": self.instances.labels[idx]}
