import torch


class Sentences(torch.utils.data.Dataset):
    def __init__(self, count, first=0):
        self.count, self.first = count, first

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        generator = torch.Generator().manual_seed(self.first + index)
        tokens = torch.randint(0, 100, (12,), generator=generator)
        # The curriculum: four easy documents, all of them positive, then four hard ones.
        label = torch.tensor(1) if index // 4 % 2 == 0 else tokens[0] % 2
        return {"input_ids": tokens, "attention_mask": torch.ones(12, dtype=torch.long), "labels": label}
