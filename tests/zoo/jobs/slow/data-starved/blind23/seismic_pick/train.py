import time

import torch
import torch.nn.functional as F

from loader import make_loader
from picker import Picker
from traces import records


def main(epochs=4, batch_size=16):
    torch.manual_seed(2)
    loader = make_loader(*records(640, 0), batch_size, True)
    model = Picker()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for epoch in range(epochs):
        start, total = time.perf_counter(), 0.0
        for waveforms, picks in loader:
            loss = F.mse_loss(model(waveforms), picks)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        took = time.perf_counter() - start
        print(f"epoch {epoch} loss {total / len(loader):.5f} {took:.1f} s, {640 / took:.0f} records/s", flush=True)


if __name__ == "__main__":
    main()
