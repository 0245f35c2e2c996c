import json
import os
import sys

import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

from ulm.corpus import tickets
from ulm.nets import Encoder, MaskedWordModel
from ulm.text import Vocab

cfg = json.load(open(sys.argv[1]))
os.makedirs(cfg["out"], exist_ok=True)
torch.manual_seed(0)
rows = tickets("desk", cfg["pretrain_rows"], 0)
vocab = Vocab.build(rows, cfg["max_vocab"])
vocab.save(os.path.join(cfg["out"], "itos.json"))
ids, _ = vocab.numericalize(rows)
loader = DataLoader(TensorDataset(ids), batch_size=256, shuffle=True)
model = MaskedWordModel(Encoder(cfg["max_vocab"], cfg["dim"], cfg["hidden"]), cfg["max_vocab"], cfg["dim"])
opt = torch.optim.Adam(model.parameters(), lr=2e-3)
for epoch in range(cfg["pretrain_epochs"]):
    total = 0.0
    for (batch,) in loader:
        position = torch.randint(batch.shape[1], (1,)).item()
        target = batch[:, position]
        context = torch.cat([batch[:, :position], batch[:, position + 1:]], 1)
        loss = F.cross_entropy(model(context), target)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item()
    print(f"lm epoch {epoch} loss {total / len(loader):.3f}", flush=True)
torch.save(model.encoder.state_dict(), os.path.join(cfg["out"], "encoder.pt"))
