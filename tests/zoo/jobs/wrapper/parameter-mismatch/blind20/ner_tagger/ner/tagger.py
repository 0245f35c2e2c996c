from torch import nn


class BiLstmTagger(nn.Module):
    def __init__(self, token_slots, tags, dim):
        super().__init__()
        self.embed = nn.Embedding(token_slots, dim, padding_idx=0)
        self.encoder = nn.LSTM(dim, dim, bidirectional=True, batch_first=True)
        self.drop = nn.Dropout(0.1)
        self.emit = nn.Linear(2 * dim, tags)

    def forward(self, ids):
        return self.emit(self.drop(self.encoder(self.embed(ids))[0]))
