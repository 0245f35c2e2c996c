import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

from contours import sample_contours
from vqvae import VQVAE

CFG = dict(seed=3, train=4096, test=512, batch=64, epochs=8, lr=1e-3)


def main():
    torch.manual_seed(CFG["seed"])
    train, test = sample_contours(CFG["train"], seed=1), sample_contours(CFG["test"], seed=2)
    variance = train.var()
    loader = DataLoader(TensorDataset(train), CFG["batch"], shuffle=True, drop_last=True)
    model = VQVAE()
    opt = torch.optim.Adam(model.parameters(), lr=CFG["lr"], amsgrad=True)
    step = 0
    for epoch in range(CFG["epochs"]):
        model.train()
        for (x,) in loader:
            x_hat, vq_loss, perplexity = model(x)
            recon = F.mse_loss(x_hat, x) / variance
            loss = recon + vq_loss
            opt.zero_grad()
            loss.backward()
            opt.step()
            step += 1
        print(f"epoch {epoch} step {step} recon {recon.item():.4f} vq {vq_loss.item():.5f} ppl {perplexity.item():.1f}", flush=True)
    model.eval()
    with torch.no_grad():
        x_hat, _, perplexity = model(test)
    print(f"test recon {(F.mse_loss(x_hat, test) / variance).item():.4f} perplexity {perplexity.item():.1f}")


if __name__ == "__main__":
    main()
