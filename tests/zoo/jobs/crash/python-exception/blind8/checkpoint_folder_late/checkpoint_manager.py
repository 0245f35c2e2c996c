import torch


def save_checkpoint(folder, step, model, optim, tokenizer, rank):
    if rank == 0:
        merges = tokenizer.export_merges()
        folder.mkdir(parents=True, exist_ok=True)
        tokenizer.write(folder / "tokenizer.json", merges)
        torch.save(model.state_dict(), folder / f"model_{step:06d}.pt")
    torch.save(optim.state_dict(), folder / f"optim_{step:06d}_rank{rank}.pt")
