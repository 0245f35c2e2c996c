"""Rank 0 fine-tunes a teacher, then every rank distils its own part of the documents into a student."""
import os

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from modeling import TextEncoder, topic_documents

TEACHER = "teacher.pt"


def train_teacher():
    torch.manual_seed(10)
    teacher = TextEncoder(50, 32, 1)
    optimizer = torch.optim.Adam(teacher.parameters(), lr=4e-3)
    ids, labels = topic_documents(256, seed=1)
    for step in range(24):
        idx = torch.arange(step * 16, step * 16 + 16) % 256
        loss = F.cross_entropy(teacher(ids[idx]), labels[idx])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    torch.save(teacher.state_dict(), TEACHER)
    print(f"teacher loss {loss.item():.3f}", flush=True)


def load_teacher(rank):
    teacher = TextEncoder(50, 32, 1)
    if rank == 0:
        teacher.load_state_dict(torch.load(TEACHER))
    for tensor in teacher.state_dict().values():
        dist.broadcast(tensor, src=0)
    return teacher.eval().requires_grad_(False)


def evaluate(student, teacher):
    ids, _ = topic_documents(60, seed=3)
    with torch.no_grad():
        return (student(ids).argmax(1) == teacher(ids).argmax(1)).float().mean().item()


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    if rank == 0:
        train_teacher()
    dist.barrier()
    teacher = load_teacher(rank)

    torch.manual_seed(500 + rank)
    student = DistributedDataParallel(TextEncoder(50, 16, 1))
    optimizer = torch.optim.AdamW([p for p in student.parameters() if p.requires_grad], lr=5e-3)
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda s: min(s / 6, 1.0))
    dataset = TensorDataset(*topic_documents(320, seed=2))
    sampler = DistributedSampler(dataset)
    loader = DataLoader(dataset, batch_size=10, sampler=sampler)
    for epoch in range(3):
        sampler.set_epoch(epoch)
        student.train()
        for ids, labels in loader:
            with torch.no_grad():
                soft = torch.softmax(teacher(ids) / 2, dim=-1)
            logits = student(ids)
            loss = 0.7 * F.kl_div(torch.log_softmax(logits / 2, -1), soft, reduction="batchmean") * 4
            loss = loss + 0.3 * F.cross_entropy(logits, labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            scheduler.step()
        student.eval()
        agree = evaluate(student.module, teacher)
        if rank == 0:
            print(f"epoch {epoch}: loss {loss.item():.3f} agreement {agree:.2f}", flush=True)
    if rank == 0:
        os.remove(TEACHER)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
