import torch
from accelerate import Accelerator, InitProcessGroupKwargs, debug_launcher
from accelerate.utils import set_seed
from datetime import timedelta
from torch.utils.data import DataLoader, TensorDataset

from reporting import report


def main():
    set_seed(0)
    accelerator = Accelerator(cpu=True, kwargs_handlers=[InitProcessGroupKwargs(timeout=timedelta(minutes=20))])
    x = torch.randn(256, 8)
    train = DataLoader(TensorDataset(x, x.sum(1, keepdim=True)), batch_size=16, shuffle=True)
    model = torch.nn.Sequential(torch.nn.Linear(8, 32), torch.nn.GELU(), torch.nn.Linear(32, 1))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    model, optimizer, train = accelerator.prepare(model, optimizer, train)
    for epoch in range(4):
        for batch, target in train:
            loss = torch.nn.functional.mse_loss(model(batch), target)
            accelerator.backward(loss)
            optimizer.step()
            optimizer.zero_grad()
        if accelerator.is_main_process and epoch % 2 == 1:
            report(accelerator, model, epoch, loss.item())
    accelerator.wait_for_everyone()
    accelerator.print("trained")
    accelerator.end_training()


if __name__ == "__main__":
    debug_launcher(main, num_processes=2)
