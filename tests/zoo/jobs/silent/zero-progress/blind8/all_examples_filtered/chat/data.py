import torch
from torch.utils.data import Dataset


def read_examples(count=200):
    gen = torch.Generator().manual_seed(8)
    lengths = torch.randint(44, 200, (count,), generator=gen).tolist()
    return [torch.randint(1, 64, (length,), generator=gen) for length in lengths]


class ChatData(Dataset):
    def __init__(self, examples, max_seq_len):
        self.examples = [ids for ids in examples if len(ids) <= max_seq_len]

    def __len__(self):
        return len(self.examples)

    def __getitem__(self, index):
        return self.examples[index]


def collate(items):
    return torch.nn.utils.rnn.pad_sequence(items, batch_first=True)
