import torch
from torch import nn

PAD = 0


def collate(rows):
    ids = nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=PAD)
    return {"input_ids": ids, "attention_mask": ids != PAD}


class Encoder(nn.Module):
    def __init__(self, dim=32):
        super().__init__()
        self.tok = nn.Embedding(300, dim)
        self.cls = nn.Parameter(torch.zeros(1, 1, dim))
        self.encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(dim, 4, 64, batch_first=True), 2)

    def forward(self, input_ids, attention_mask):
        h = torch.cat([self.cls.expand(len(input_ids), -1, -1), self.tok(input_ids)], 1)
        mask = torch.cat([attention_mask.new_zeros(len(input_ids), 1), attention_mask], 1)
        return self.encoder(h, src_key_padding_mask=mask)[:, 0]


def score(model, batch):
    return model(batch["input_ids"], batch["attention_mask"])


model = Encoder()
score(model, collate([torch.tensor([3, 4])]))
