import torch
from torch.utils.data import DataLoader

from corpus import Captions
from modeling import CaptionConfig, CaptionerForCausalLM


def main():
    torch.manual_seed(0)
    model = CaptionerForCausalLM(CaptionConfig())
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    train, dev = Captions(4800, 1), Captions(256, 2)
    loader = DataLoader(train, batch_size=48, shuffle=True)
    step = 0
    for epoch in range(2):
        model.train()
        for batch in loader:
            loss, _ = model(**batch)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            step += 1
            if step % 25 == 0:
                print(f"step {step:4d} train loss {loss.item():.4f}", flush=True)
        model.eval()
        out = model.generate(dev.pixels, dev.ids[:, :3], 8)
        acc = (out[:, 3:] == dev.ids[:, 3:11]).float().mean().item()
        print(f"epoch {epoch}: greedy caption word accuracy {acc:.3f}", flush=True)


if __name__ == "__main__":
    main()
