import json
import os
import random

import torch
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import Dataset

from vocabulary import Vocabulary

COLORS = "red green blue yellow white black brown gray orange purple".split()
THINGS = "dog cat car bus tree child bench ball horse plane train boat".split()
PLACES = "street beach park kitchen field river station garden".split()


def write_dialogs(path, n, rounds=6, options=24, seed=0):
    rng = random.Random(seed)
    out = []
    for i in range(n):
        c, t, p = rng.choice(COLORS), rng.choice(THINGS), rng.choice(PLACES)
        answers = {f"what color's the {t}?": c, f"is there a {t}?": f"yes, there's a {t}",
                   "where's it taken?": f"it's at the {p}", f"isn't the {t} {rng.choice(COLORS)}?": f"it's {c}",
                   f"how many {t}s are there?": str(rng.randint(1, 4)), "can you see the sky?": "no, you can't"}
        dialog = []
        for q, a in list(answers.items())[:rounds]:
            opts = [a]
            while len(opts) < options:
                o = a
                for group, word in ((COLORS, c), (THINGS, t), (PLACES, p)):
                    o = o.replace(word, rng.choice(group))
                if o == a:
                    o = rng.choice([f"it's {rng.choice(COLORS)}", f"yes, there's a {rng.choice(THINGS)}", str(rng.randint(1, 4)),
                                    "no, you can't", f"it isn't at the {rng.choice(PLACES)}, i don't think"])
                if o != a:
                    opts.append(o)
            rng.shuffle(opts)
            dialog.append({"question": q, "answer": a, "answer_options": opts, "gt_index": opts.index(a)})
        out.append({"image_id": i, "caption": f"a {c} {t} at the {p}, someone's watching", "dialog": dialog})
    with open(path + ".tmp", "w") as f:
        json.dump(out, f)
    os.replace(path + ".tmp", path)


class VisDialDataset(Dataset):
    def __init__(self, path, cfg, vocabulary=None):
        self.cfg = cfg
        self.dialogs = json.load(open(path))
        self.vocabulary = vocabulary or Vocabulary(
            t for d in self.dialogs for t in [d["caption"]] + [x[k] for x in d["dialog"] for k in ("question", "answer")]
            + [o for x in d["dialog"] for o in x["answer_options"]])

    def __len__(self):
        return len(self.dialogs)

    def _pad(self, seqs, length):
        seqs = [torch.tensor(s[: length - 1] + [Vocabulary.EOS]) for s in seqs]
        out = torch.full((len(seqs), length), Vocabulary.PAD)
        padded = pad_sequence(seqs, batch_first=True, padding_value=Vocabulary.PAD)
        out[:, : padded.size(1)] = padded
        return out

    def _history(self, caption, questions, answers):
        history, so_far = [], list(caption)
        for q, a in zip(questions, answers):
            history.append(list(so_far))
            so_far = so_far + q + a
        return history

    def __getitem__(self, index):
        d = self.dialogs[index]
        caption = self.vocabulary.to_indices(d["caption"])
        questions = [self.vocabulary.to_indices(r["question"]) for r in d["dialog"]]
        answers = [self.vocabulary.to_indices(r["answer"]) for r in d["dialog"]]
        options = [[self.vocabulary.to_indices(o) for o in r["answer_options"]] for r in d["dialog"]]
        n = self.cfg["max_len"]
        return {
            "ques": self._pad(questions, n),
            "hist": self._pad(self._history(caption, questions, answers), 6 * n),
            "opt": torch.stack([self._pad(o, n) for o in options]),
            "ans": torch.tensor([r["gt_index"] for r in d["dialog"]]),
        }
