import torch
import torch.distributed as dist
from torch.nn import functional as F
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from models import Student, Teacher


def train_teacher(x, y):
    torch.manual_seed(0)
    teacher = Teacher()
    optimizer = torch.optim.Adam(teacher.parameters(), lr=3e-3)
    for start in range(0, 1280, 64):
        loss = F.cross_entropy(teacher(x[start:start + 64]), y[start:start + 64])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return teacher.eval().requires_grad_(False)


def main():
    dist.init_process_group("gloo")
    g = torch.Generator().manual_seed(0)
    x = torch.randn(1280, 20, generator=g)
    y = (x @ torch.randn(20, 7, generator=g)).argmax(1)
    teacher = train_teacher(x, y)
    for t in list(teacher.parameters()) + list(teacher.buffers()):
        dist.broadcast(t, 0)
    data = TensorDataset(x, y)
    sampler = DistributedSampler(data)
    loader = DataLoader(data, batch_size=16, sampler=sampler)
    student = DDP(Student())
    optimizer = torch.optim.AdamW((p for p in student.parameters() if p.requires_grad), lr=3e-3)
    for epoch in range(4):
        sampler.set_epoch(epoch)
        for xb, yb in loader:
            with torch.no_grad():
                soft = teacher(xb)
            logits, guess = student(xb)
            kd = F.kl_div(F.log_softmax(logits / 2, 1), F.softmax(soft / 2, 1), reduction="batchmean") * 4
            monitor = F.mse_loss(guess.squeeze(1), kd.detach().expand(len(xb)))
            loss = 0.7 * kd + 0.3 * F.cross_entropy(logits, yb) + monitor
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if dist.get_rank() == 0:
            print(f"epoch {epoch} loss {loss.item():.4f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
