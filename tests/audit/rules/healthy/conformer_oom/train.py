import os

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader, Dataset, DistributedSampler

from guard import Guard


class Speech(Dataset):
    def __init__(self, index):
        self.files = torch.load(index, map_location="cpu")

    def __len__(self):
        return len(self.files)

    def __getitem__(self, i):
        item = torch.load(self.files[i], map_location="cpu")
        return item["mel"], item["text"]


def collate(rows):
    mels, texts = zip(*rows)
    return (pad_sequence(mels, True), torch.tensor([len(m) for m in mels]),
            pad_sequence(texts, True), torch.tensor([len(t) for t in texts]))


class Recogniser(nn.Module):
    def __init__(self, mels=80, dim=256, vocab=1000):
        super().__init__()
        self.front = nn.Linear(mels, dim)
        layer = nn.TransformerEncoderLayer(dim, 4, 4 * dim, batch_first=True)
        self.body = nn.TransformerEncoder(layer, 12, enable_nested_tensor=False)
        self.head = nn.Linear(dim, vocab)

    def forward(self, mel, mel_len, text, text_len):
        pad = torch.arange(mel.size(1), device=mel.device) >= mel_len.unsqueeze(1)
        logp = self.head(self.body(self.front(mel), src_key_padding_mask=pad)).log_softmax(-1)
        return nn.functional.ctc_loss(logp.transpose(0, 1), text, mel_len, text_len, zero_infinity=True)


def main():
    local = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local)
    dist.init_process_group("nccl")
    device = torch.device("cuda", local)
    torch.manual_seed(9)
    data = Speech("librispeech.index.pt")
    sampler = DistributedSampler(data)
    loader = DataLoader(data, 12, sampler=sampler, collate_fn=collate, num_workers=6)
    model = DDP(Recogniser().to(device), device_ids=[local])
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    guard = Guard(device)
    for epoch in range(60):
        sampler.set_epoch(epoch)
        for batch in loader:
            loss = guard(model, *(t.to(device) for t in batch))
            if loss is None:
                continue
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 5.0)
            optimizer.step()
        if dist.get_rank() == 0:
            print(f"epoch {epoch}, {guard.dropped} batches dropped", flush=True)
            torch.save(model.module.state_dict(), "conformer.pt")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
