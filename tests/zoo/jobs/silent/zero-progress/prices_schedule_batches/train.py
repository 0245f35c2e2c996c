import torch
from torch import nn

ACCUMULATE = 4
EPOCHS = 3


def linear_schedule(optimizer, warmup_steps, training_steps):
    def factor(step):
        if step < warmup_steps:
            return (step + 1) / (warmup_steps + 1)
        return max(0.0, (training_steps - step) / max(1, training_steps - warmup_steps))

    return torch.optim.lr_scheduler.LambdaLR(optimizer, factor)


def main():
    torch.manual_seed(0)
    torch.set_num_threads(1)
    model = nn.Sequential(nn.Linear(8, 32), nn.GELU(), nn.Linear(32, 1))
    batches = [(x, x[:, :1] * x[:, 1:2]) for x in torch.randn(80, 8, 8)]
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    scheduler = linear_schedule(optimizer, 5, EPOCHS * len(batches) // ACCUMULATE)
    for epoch in range(EPOCHS):
        for index, (x, y) in enumerate(batches):
            loss = (model(x) - y).pow(2).mean() / ACCUMULATE
            loss.backward()
            if (index + 1) % ACCUMULATE == 0:
                optimizer.step()
                optimizer.zero_grad()
            scheduler.step()
        print(f"epoch {epoch}: loss {loss.item():.4f}")


main()
