import torch
from accelerate import Accelerator
from accelerate.utils import ProjectConfiguration, set_seed
from torch.utils.data import DataLoader, TensorDataset

from checkpoints import Checkpoints


def main():
    set_seed(3)
    project = ProjectConfiguration(project_dir="run", automatic_checkpoint_naming=True, total_limit=2)
    accelerator = Accelerator(cpu=True, gradient_accumulation_steps=2, project_config=project)
    x = torch.randn(320, 6)
    loader = DataLoader(TensorDataset(x, (x[:, :1] > 0).float()), batch_size=8, shuffle=True)
    model = torch.nn.Sequential(torch.nn.Linear(6, 12), torch.nn.ReLU(), torch.nn.Linear(12, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    checkpoints = Checkpoints(accelerator, every=15)
    for epoch in range(2):
        for batch, target in loader:
            with accelerator.accumulate(model):
                loss = torch.nn.functional.binary_cross_entropy_with_logits(model(batch), target)
                accelerator.backward(loss)
                optimizer.step()
                optimizer.zero_grad()
            checkpoints.step(loss)
    accelerator.print("saved", checkpoints.saved)
    accelerator.end_training()


if __name__ == "__main__":
    main()
