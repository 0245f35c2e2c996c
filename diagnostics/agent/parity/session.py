"""What one process of a parity experiment has done so far, and when it is through."""

from __future__ import annotations

import hashlib
import os
import random
import shutil
import sys
import weakref

from . import tensors, writing
from .lines import definition_line, user_line

REFUSED_EXIT = 86  # the experiment cannot be made of this program; facts.json says why


class Session:
    """One process. It becomes rank R of the experiment when it first records something."""

    def __init__(self, plan):
        self.plan, self.mode = plan, plan["mode"]
        self.steps = 0
        self.alive = True
        self.folder = self.rank = None
        self.optimizers = []  # weak, in the order they were made
        self.root = None  # the module that was called from outside, weakly
        self.started = False
        self.draws = None
        self._theirs = None
        self.defined = ""  # of what a loop of the doctor trains with: "file:line"
        self.facts = {
            "world": 1,
            "loaders": {},
            "optimizers": [],
            "steps": 0,
            "pid": os.getpid(),
            "argv0": sys.argv[:1],
        }
        self._fresh()

    def forked(self):
        """A forked child is a data worker, or a rank of its own: it takes nothing of its parent's over."""
        draws = self.draws
        self.__init__(self.plan)
        self.draws = draws
        if draws is not None:
            draws.begin_step()

    def _fresh(self):
        self.losses, self.micro, self.clips, self.batches = [], [], [], []

    # ------------------------------------------------------------------ who this is

    def place(self):
        """Makes this rank's folder, once."""
        if self.folder is None:
            group = sys.modules.get("torch.distributed")
            made = group is not None and group.is_available() and group.is_initialized()
            self.rank = group.get_rank() if made else int(os.environ.get("RANK") or 0)
            self.facts["world"] = group.get_world_size() if made else int(os.environ.get("WORLD_SIZE") or 1)
            self.facts["group"] = bool(made)
            self.facts["backend"] = str(group.get_backend()) if made else ""
            self.folder = os.path.join(self.plan["folder"], "rank-%d" % self.rank)
            os.makedirs(self.folder, exist_ok=True)
        return self.folder

    def source(self):
        """Returns the folder of the rank whose values this process starts from."""
        return os.path.join(self.plan["source"], "rank-%d" % self.plan.get("rank", 0))

    def refuse(self, sentence):
        """Ends this process: the experiment is not possible."""
        self.facts["refused"] = sentence
        writing.write_facts(self.place(), self.facts)
        self._leave(REFUSED_EXIT)

    # ------------------------------------------------------------------ what happens

    def made(self, optimizer):
        """An optimizer was constructed."""
        self.optimizers.append(weakref.ref(optimizer))

    def living(self):
        """Returns the optimizers, None in the place of one that is gone."""
        return [one() for one in self.optimizers]

    def parameters(self):
        """Returns the parameters of each optimizer, in its own order."""
        return [tensors.of_optimizer(one) if one is not None else [] for one in self.living()]

    def called(self, module):
        """A module is called from outside any other: before the first such call, the start is the same everywhere."""
        if self.started or not self._trained(module):
            return
        self._refuse_what_is_too_large()
        self.started = True
        self.root = weakref.ref(module)
        folder = self.place()
        if self.mode != "ranks":
            self._start_from(self._whole(writing.load(self.source(), "start.pt"), "start.pt"), module)
        named = {id(value): name for name, value in module.named_parameters()}
        self.facts["names"] = [
            [tensors.clean(named.get(id(one), "parameter %d" % at)) for at, one in enumerate(group)]
            for group in self.parameters()
        ]
        self.facts["shards"] = [[tensors.shard_dimension(one) for one in group] for group in self.parameters()]
        self.facts["dtype"] = str(next(one for group in self.parameters() for one in group).dtype)[len("torch.") :]
        self.facts["autocast"] = tensors.autocasting()
        self.facts["compiled"] = hasattr(module, "_orig_mod") or hasattr(getattr(module, "module", None), "_orig_mod")
        self.facts["kinds"] = tensors.kinds(module)
        self.facts["class"] = type(tensors.inner(module)).__name__
        self.facts["wrapper"] = type(module).__name__
        if self.plan.get("ghost"):
            from . import batch_statistics

            batch_statistics.by_share(module, self.shares)
        if self.mode != "alone":
            writing.save(folder, "start.pt", self._state(module))
        writing.write_facts(folder, self.facts)

    def _refuse_what_is_too_large(self):
        """All of it is kept, on all ranks, for each step: gradients twice, parameters, and what an optimizer has."""
        one = sum(tensors.local(value).numel() * value.element_size() for group in self.parameters() for value in group)
        needed = 6 * one * self.plan["steps"] * (2 * self.plan["world"] + 2)
        free = shutil.disk_usage(self.plan["folder"]).free
        if needed > free // 2:
            self.refuse(
                "%.0f GiB would be needed to keep what it computes, and %.0f GiB are free: "
                "take a smaller model, fewer --steps, or a larger TMPDIR" % (needed / 2**30, free / 2**30)
            )

    def _trained(self, module):
        held = {id(one) for group in self.parameters() for one in group}
        return any(id(one) in held for one in module.parameters())

    def _state(self, module):
        return {
            "parameters": [[tensors.kept(one) for one in group] for group in self.parameters()],
            "buffers": {tensors.clean(name): tensors.kept(one) for name, one in module.named_buffers()},
        }

    def _start_from(self, state, module):
        for group, kept in zip(self.parameters(), state["parameters"]):  # noqa: B905 - strict came with 3.10
            if len(group) != len(kept):
                self.refuse("the optimizer holds %d parameters here and %d on the ranks" % (len(group), len(kept)))
            for one, value in zip(group, kept):  # noqa: B905 - strict came with 3.10
                if not tensors.fill(one, value):
                    self.refuse(
                        "a parameter has the shape %s on the ranks and %s in one process: "
                        "how it is sharded is not known; torch's fully_shard is"
                        % (tuple(value.shape), tuple(one.shape))
                    )
        for name, one in module.named_buffers():
            value = state["buffers"].get(tensors.clean(name))
            if value is not None and value.shape == one.shape:
                tensors.fill(one, value)

    def _whole(self, state, name, key="parameters"):
        """Returns a rank's state, its shards completed from the folders of the other ranks."""
        shards = writing.read_facts(self.source()).get("shards", [])
        if not any(one is not None for group in shards for one in group):
            return state
        folders = [os.path.join(self.plan["source"], "rank-%d" % rank) for rank in range(self.plan["world"])]
        parts = [writing.load(folder, name)[key] for folder in folders]
        return {"parameters": tensors.completed(parts, shards), "buffers": state["buffers"]}

    def given(self, number, index, position, batch):
        """A loader handed a batch over."""
        self.facts["batches"] = self.facts.get("batches", 0) + 1
        entry = {"loader": number, "pass": index, "batch": position}
        entry.update(tensors.batch_facts(batch))
        self.batches.append(entry)

    def backward_begins(self):
        """Returns the gradients before a backward pass, where they are needed."""
        if self.mode != "alone":
            return None
        return [[tensors.kept(one.grad) for one in group] for group in self.parameters()]

    def backward_ended(self, roots, before):
        """A backward pass is over: its loss, and what it added."""
        if roots is not None:
            self.losses.append({"value": roots, "line": self.line()})
        if before is not None:
            after = [[tensors.kept(one.grad) for one in group] for group in self.parameters()]
            self.micro.append(tensors.difference(after, before))

    def line(self):
        """Returns where the job's own code is; in a loop of the doctor, where what it trains is defined."""
        return user_line() or self.defined

    def trains(self, *callables):
        """The doctor's own loop trains with these: the first that the user wrote stands for its lines."""
        self.defined = next(filter(None, map(definition_line, callables)), "")

    def clipping(self, limit):
        """The gradients before torch clips them."""
        before = [[tensors.kept(one.grad) for one in group] for group in self.parameters()]
        self.clips.append({"limit": float(limit), "before": before, "line": self.line()})

    def clipped(self, norm):
        """The norm that torch's clipping returned."""
        self.clips[-1]["norm"] = tensors.number(norm)

    def stepping(self, optimizer):
        """An optimizer is about to step: what it uses."""
        self.gradients = [[tensors.kept(one.grad) for one in group] for group in self.parameters()]
        self.hyper = [
            {key: value for key, value in group.items() if isinstance(value, (int, float, bool))}
            for group in optimizer.param_groups
        ]
        self.at = self.line()

    def stepped(self, optimizer):
        """An optimizer has stepped: everything since the step before is written down."""
        self.called_late(optimizer)
        folder, module = self.place(), self.root() if self.root is not None else None
        number = next((at for at, one in enumerate(self.living()) if one is optimizer), -1)
        state = self._state(module) if module is not None else {"parameters": [], "buffers": {}}
        content = {
            "optimizer": number,
            "gradients": self.gradients,
            "hyper": self.hyper,
            "losses": self.losses,
            "clips": self.clips,
            "batches": self.batches,
            "micro": self.micro,
            "after": state["parameters"],
            "buffers": state["buffers"],
            "state": tensors.optimizer_state(optimizer),
            "random": random_digests(),
            "line": self.at,
        }
        writing.save(folder, "step-%d.pt" % self.steps, content)
        if self.draws is not None:
            if self.mode == "ranks":
                writing.save(folder, "draws-%d.pt" % self.steps, self.draws.kept)
            self.draws.begin_step()
        if self.mode == "alone" and module is not None:
            self._follow(module)
        self.steps += 1
        self.facts["steps"] = self.steps
        writing.write_facts(folder, self.facts)
        self._fresh()
        if self.steps >= self.plan["steps"]:
            self._leave(0)

    def called_late(self, optimizer):
        """Nothing is compared where no module was called before the step: it is said."""
        if not self.started:
            self.refuse("no torch.nn.Module that holds the optimizer's parameters was called before its first step")

    def _follow(self, module):
        """Goes on from where the rank went: each step is looked at by itself."""
        name = "step-%d.pt" % self.steps
        if os.path.exists(os.path.join(self.source(), name)):
            there = writing.load(self.source(), name)
            state = self._whole({"parameters": there["after"], "buffers": there["buffers"]}, name, "after")
            self._start_from(state, module)

    def _leave(self, code):
        sys.stdout.flush()
        sys.stderr.flush()
        if code == 0:
            with open(os.path.join(self.folder, "done"), "w", encoding="utf-8"):
                pass
            writing.wait_for_all(self.plan["folder"], self.facts["world"])
        os._exit(code)  # the script's own end would save, evaluate and talk to ranks that are gone

    def order_of_samples(self):
        """Returns for each sample of this process's step where it stands among those of all ranks, None if unknown."""
        if self.plan.get("feed") or self.mode != "one":
            return None
        if self._theirs is None or self._theirs[0] != self.steps:
            steps = [
                writing.load(os.path.join(self.plan["source"], "rank-%d" % rank), "step-%d.pt" % self.steps)
                for rank in range(self.plan["world"])
            ]
            self._theirs = self.steps, [step["batches"] for step in steps]
        if not self.batches:
            return None
        names, places, theirs = ("loader", "pass", "batch"), {}, []
        now = [self.batches[-1][name] for name in names]
        for entries in self._theirs[1]:
            for entry in entries:
                if [entry[name] for name in names] == now:
                    theirs += entry["samples"]
        for place, digest in enumerate(theirs):
            places.setdefault(digest, place)  # one that fills up comes after the sample itself
        found = [places.get(digest) for digest in self.batches[-1]["samples"]]
        return None if None in found else found

    def shares(self):
        """Returns how many samples of the current batch each rank had."""
        return self.batches[-1].get("shares", []) if self.batches else []


def random_digests():
    """Returns where each random generator stands."""
    import torch

    found = {"torch": hashlib.sha256(bytes(torch.get_rng_state().numpy())).hexdigest()[:16]}
    found["python"] = hashlib.sha256(repr(random.getstate()).encode()).hexdigest()[:16]
    if "numpy" in sys.modules:
        state = sys.modules["numpy"].random.get_state()
        found["numpy"] = hashlib.sha256(state[1].tobytes() + str(state[2:]).encode()).hexdigest()[:16]
    return found
