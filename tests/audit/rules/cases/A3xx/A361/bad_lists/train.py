import torch
import torch.nn.functional as F


def collate(rows):
    n = max(len(r["ids"]) for r in rows)
    input_ids = torch.tensor([r["ids"] + [0] * (n - len(r["ids"])) for r in rows])
    return {"input_ids": input_ids, "labels": input_ids.clone()}


def main(model, data, opt):
    for batch in torch.utils.data.DataLoader(data, batch_size=4, collate_fn=collate):
        logits = model(batch["input_ids"])
        loss = F.cross_entropy(logits[:, :-1].flatten(0, 1), batch["labels"][:, 1:].flatten())
        opt.zero_grad()
        loss.backward()
        opt.step()
