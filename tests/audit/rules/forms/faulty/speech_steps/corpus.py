import json

import torch
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import Dataset


class Utterances(Dataset):
    def __init__(self, manifest):
        with open(manifest) as fh:
            self.rows = [json.loads(line) for line in fh]

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        row = self.rows[i]
        return torch.load(row["feats"], map_location="cpu", weights_only=True), torch.tensor(row["labels"])


def pad_collate(items):
    feats, labels = zip(*items)
    return {
        "frames": pad_sequence(feats, batch_first=True),
        "frame_lens": torch.tensor([f.shape[0] for f in feats]),
        "labels": torch.cat(labels),
        "label_lens": torch.tensor([l.numel() for l in labels]),
    }
