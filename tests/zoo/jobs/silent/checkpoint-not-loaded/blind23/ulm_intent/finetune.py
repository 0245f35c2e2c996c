import json
import os
import sys

import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

from ulm.corpus import TOPICS, tickets
from ulm.nets import Encoder, IntentClassifier
from ulm.text import Vocab


def freeze_to(model, frozen):
    for p in model.encoder.parameters():
        p.requires_grad_(not frozen)


def main():
    cfg = json.load(open(sys.argv[1]))
    torch.manual_seed(1)
    train_rows, test_rows = tickets("phone", cfg["labelled_rows"], 0), tickets("phone", 1000, 1)
    vocab = Vocab.build(train_rows + test_rows, cfg["max_vocab"])
    train, test = vocab.numericalize(train_rows), vocab.numericalize(test_rows)

    encoder = Encoder(cfg["max_vocab"], cfg["dim"], cfg["hidden"])
    missing, unexpected = encoder.load_state_dict(torch.load(os.path.join(cfg["out"], "encoder.pt")))
    print(f"encoder loaded, missing {missing}, unexpected {unexpected}, {len(vocab.itos)} words")
    model = IntentClassifier(encoder, cfg["dim"], len(TOPICS))
    opt = torch.optim.Adam([{"params": model.encoder.parameters(), "lr": cfg["lr"] / 10}, {"params": model.head.parameters()}], lr=cfg["lr"])
    loader = DataLoader(TensorDataset(*train), batch_size=20, shuffle=True)
    for epoch in range(cfg["epochs"]):
        freeze_to(model, epoch < cfg["epochs"] // 4)
        model.train()
        for ids, y in loader:
            loss = F.cross_entropy(model(ids), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
        if epoch % 10 == 9:
            model.eval()
            with torch.no_grad():
                acc = (model(test[0]).argmax(1) == test[1]).float().mean().item()
            print(f"epoch {epoch} loss {loss.item():.3f} test accuracy {acc:.3f}", flush=True)


if __name__ == "__main__":
    main()
