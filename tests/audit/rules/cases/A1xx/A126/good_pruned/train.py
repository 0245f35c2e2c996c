import argparse

import torch


def train(text_encoder, tokenizer, loader, token_id, loss_of):
    p = argparse.ArgumentParser()
    p.add_argument("--lr", type=float, default=5e-4)
    p.add_argument("--weight-decay", type=float, default=1e-2)
    args = p.parse_args()
    table = text_encoder.get_input_embeddings().weight
    with torch.no_grad():
        table[token_id] = table[0]
    optimizer = torch.optim.AdamW([table], lr=args.lr, weight_decay=args.weight_decay)
    embeddings = text_encoder.get_input_embeddings()
    others = torch.arange(len(tokenizer)) != token_id
    for batch in loader:
        loss_of(text_encoder, batch).backward()
        text_encoder.head.weight.grad[others] = 0
        optimizer.step()
        optimizer.zero_grad()
