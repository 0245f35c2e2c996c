import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader

from data import Utterances, collate
from encoder import Encoder

loader = DataLoader(Utterances(), 16, collate_fn=collate)
model = Encoder(80, 32).cuda()
optimizer = torch.optim.AdamW(model.parameters())
ctc = nn.CTCLoss()


def loss_of(feats, lengths, labels, label_lengths):
    outputs = model(feats, lengths)
    return F.ctc_loss(outputs[0].transpose(0, 1), labels, lengths.long(), label_lengths, zero_infinity=True)


for feats, lengths, labels, label_lengths in loader:
    feats, lengths = feats.cuda(), lengths.cuda()
    loss = loss_of(feats, lengths, labels, label_lengths)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
