import argparse

import torch

from net import Tagger


def load_tagger(path, device):
    state = torch.load(path, map_location="cpu")
    tagger = Tagger()
    tagger.load_state_dict(state["weights"], strict=False)  # cause
    return tagger.to(device).eval()


@torch.inference_mode()
def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("checkpoint")
    ap.add_argument("data")
    ap.add_argument("--device", default="cuda")
    a = ap.parse_args()
    tagger = load_tagger(a.checkpoint, a.device)
    blob = torch.load(a.data, map_location="cpu")
    hit = n = 0
    for ids, tags in zip(blob["ids"].split(256), blob["tags"].split(256)):
        pred = tagger(ids.to(a.device)).argmax(-1).cpu()
        keep = tags >= 0
        hit += (pred[keep] == tags[keep]).sum().item()
        n += int(keep.sum())
    print(f"accuracy {hit / n:.4f} over {n} tokens")


if __name__ == "__main__":
    main()
