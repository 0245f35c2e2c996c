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
for feats, lengths, labels, label_lengths in loader:
    feats, lengths = feats.cuda(), lengths.cuda()
    log_probs, out_lengths = model(feats, lengths)
    loss = ctc(log_probs.transpose(0, 1), labels, lengths, label_lengths)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
