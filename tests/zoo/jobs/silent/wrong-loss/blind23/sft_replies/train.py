import argparse

import torch
from torch.utils.data import DataLoader

from sft.data import CausalCollator, OrderReplies
from sft.model import TinyCausalLM
from sft.tokenizer import load_tokenizer


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--lr", type=float, default=2e-3)
    args = parser.parse_args()
    torch.manual_seed(17)

    tokenizer = load_tokenizer()
    train_set, test_set = OrderReplies(tokenizer, 1600, 0), OrderReplies(tokenizer, 40, 1)
    loader = DataLoader(train_set, batch_size=args.batch_size, shuffle=True, collate_fn=CausalCollator(tokenizer))
    model = TinyCausalLM(len(tokenizer))
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr, weight_decay=0.01)

    for epoch in range(args.epochs):
        model.train()
        total = 0.0
        for batch in loader:
            _, loss = model(**batch)
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            total += loss.item()
        print(f"epoch {epoch} loss {total / len(loader):.4f}", flush=True)

    model.eval()
    exact, length = 0, 0
    for index, (head, answer) in enumerate(test_set.rows):
        reply = model.generate(head, tokenizer.eos_token_id)
        exact += reply == answer[:-1]
        length += len(reply)
        if index < 3:
            print(f"{tokenizer.decode(head)} -> {tokenizer.decode(reply)!r}")
    print(f"exact replies {exact}/{len(test_set)}, mean length {length / len(test_set):.1f}")


if __name__ == "__main__":
    main()
