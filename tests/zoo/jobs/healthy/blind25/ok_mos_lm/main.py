import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from mos import MoSLanguageModel

VOCAB = 48


def text(n, seed, length=25):
    g = torch.Generator().manual_seed(seed)
    rules = torch.Generator().manual_seed(2)
    options = torch.randint(VOCAB, (VOCAB, VOCAB, 2), generator=rules)
    seq = [torch.randint(VOCAB, (n,), generator=g) for _ in range(2)]
    for _ in range(length - 2):
        pick = (torch.rand(n, generator=g) < 0.15).long()
        seq.append(options[seq[-2] % 3, seq[-1], pick])
    return TensorDataset(torch.stack(seq, 1))


def main():
    torch.manual_seed(0)
    model = MoSLanguageModel(VOCAB)
    criterion = nn.NLLLoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
    loader, dev = DataLoader(text(1536, 0), batch_size=48, shuffle=True), text(256, 1).tensors[0]
    for epoch in range(4):
        for (batch,) in loader:
            prob = model(batch[:, :-1])
            loss = criterion(prob.clamp_min(1e-8).log().flatten(0, 1), batch[:, 1:].flatten())
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
        with torch.no_grad():
            p = model(dev[:, :-1])
            ppl = criterion(p.clamp_min(1e-8).log().flatten(0, 1), dev[:, 1:].flatten()).exp().item()
        print(f"epoch {epoch} train nll {loss.item():.3f} dev ppl {ppl:.2f}", flush=True)


if __name__ == "__main__":
    main()
