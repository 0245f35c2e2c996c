import torch


class Sentences(torch.utils.data.Dataset):
    def __init__(self, count, first=0):
        self.count, self.first = count, first

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        generator = torch.Generator().manual_seed(self.first + index)
        tokens = torch.randint(0, 100, (12,), generator=generator)
        return {"input_ids": tokens, "attention_mask": torch.ones(12, dtype=torch.long), "labels": tokens[0] % 2}
