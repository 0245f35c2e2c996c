"""Domain-decomposed training of a small interatomic potential."""
import torch
import torch.distributed as dist

from potential.consolidate import consolidate
from potential.model import Potential
from potential.optim import average_gradients

REQUESTED = ["energy", "stress", "dipole", "quadrupole", "enthalpy", "pressure",
             "forces", "charges", "spins", "radii", "velocities", "polarisability"]


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    model = Potential()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    generator = torch.Generator().manual_seed(dist.get_rank())
    for step in range(20):
        positions = torch.randn(10, 3, generator=generator)
        outputs = model(positions, REQUESTED)
        whole = consolidate({name: value.detach() for name, value in outputs.items()})
        loss = outputs["energy"].square().mean() + outputs["forces"].square().mean()
        optimizer.zero_grad()
        loss.backward()
        average_gradients(model)
        optimizer.step()
        if dist.get_rank() == 0:
            print(f"step {step} energy {whole['energy'].item():.4f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
