"""Programs in which one rank went another way, by name: (expected kind of the first decision, marked source)."""

from __future__ import annotations

PARTINGS: dict[str, tuple[str, str]] = {
    "a graph that one rank's forward pass has cut, for want of tokens": (
        "branch",
        """
import torch
import torch.distributed as dist
class Exchange(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, sizes):
        return send(x, sizes)
    @staticmethod
    def backward(ctx, grad):
        dist.all_to_all_single(out, grad)  # T1!
        return out
class Experts(torch.nn.Module):
    def apply_to(self, tokens):
        if len(tokens) == 0:  # first
            return tokens.new_empty(0, 8)
        return self.expert(tokens)
    def forward(self, x):
        return exchange(self.apply_to(exchange(x)))
def exchange(x):
    return Exchange.apply(x, sizes(x))
def reduce_dense(model):
    for one in model.parameters():
        if one.grad is None or one.expert:
            continue
        dist.all_reduce(one.grad)  # H1
def main():
    for batch in batches:
        loss = model(batch)
        loss.backward()  # T0
        reduce_dense(model)  # H0
        dist.all_reduce(loss)  # A0
main()
""",
    ),
    "the loop of a role that only some ranks have, and have had from the start": (
        "loop",
        """
import torch.distributed as dist
class Actor:
    def pull(self):
        dist.recv(weights, 0)  # T2
    def run(self):
        while self.episodes < self.budget:  # first
            self.pull()  # T1
            dist.send(self.unroll(), 0)  # A1
    def unroll(self):
        self.episodes += int(done(torch.rand(1)))
        return rows
def main():
    if rank == 0:
        Learner(updates).run()
    else:
        Actor(episodes).run()  # A0 T0
    dist.barrier()  # H0
main()
""",
    ),
    "one line that calls other objects on each rank, by a list that one of them adds to": (
        "branch",
        """
import torch.distributed as dist
class Average:
    def on_interval(self):
        dist.broadcast(shadow, 0)  # T2
class Mean:
    def on_interval(self):
        dist.all_reduce(total)  # H2
class Trainer:
    def __init__(self, wanted):
        names = list(wanted)
        if self.rank == 0:  # first
            names.insert(0, "mean")
        self.callbacks = build(names)
    def fit(self):
        for batch in loader:
            dist.all_reduce(loss)  # A1
            for one in self.callbacks:
                one.on_interval()  # H1 T1
def main():
    Trainer(names).fit()  # A0 H0 T0
main()
""",
    ),
    "a name left out of a loop over what a constructor set": (
        "branch",
        """
import torch.distributed as dist
class Tracker:
    def __init__(self, names):
        self.names = names
        self.counts = {}
    def record(self, name, value):
        self.counts[name] = value
    def sync(self):
        for name in self.names:
            if not self.counts.get(name):  # first
                continue
            dist.all_reduce(pair)  # A1 T1
        self.counts.clear()
def main():
    tracker.sync()  # A0 T0
    dist.all_gather_object(told, mine)  # H0
main()
""",
    ),
    "a key that only some data add to a mapping that all reduce": (
        "branch",
        """
import torch.distributed as dist
def batches(rank):
    for i in range(9):
        x, y = draw(i)
        if rank == 1 and i == 7:
            x = -x
            y = (x > 0).long()
        yield x, y
def losses(x, y):
    out = OrderedDict(cls=cross_entropy(x, y))
    pos = y == 1
    if pos.any():  # first
        out["acc"] = accuracy(x, y)
    return out
def parse(found):
    names = OrderedDict(found, loss=1)
    for name, value in names.items():  # also
        dist.reduce(value, dst=0)  # A1 H1
def main(rank):
    for x, y in batches(rank):
        parse(losses(x, y))  # A0 H0
        dist.barrier()  # T0
main(0)
""",
    ),
    "a round more of a loop over what a rank adds to": (
        "branch",
        """
import torch.distributed as dist
class Tracker:
    def __init__(self, names):
        self.names = names
    def record(self, name, value):
        if dist.get_rank() == 0:  # first
            self.names.append(name)
    def sync(self):
        for name in self.names:  # also
            dist.all_reduce(pair)  # A1 T1
def main():
    tracker.sync()  # A0 T0
    dist.all_gather_object(told, mine)  # H0
main()
""",
    ),
    "rank test around the save": (
        "branch",
        """
import torch.distributed as dist
def save(model):
    dist.barrier()  # H2
def main():
    rank = dist.get_rank()
    for step in range(10):
        dist.all_reduce(loss)  # A1 T1
        if rank == 0:  # first
            save(model)  # H1
    dist.barrier()
main()  # A0 H0 T0
""",
    ),
    "a round left out by a handler, noticed rounds later": (
        "except",
        """
import torch.distributed as dist
def main():
    for step in range(60):
        try:
            x = read(step)
        except OSError:  # first
            continue
        loss = model(x)
        for p in model.parameters():
            dist.all_reduce(p.grad)  # A1 T1
        if step % 10 == 9:
            dist.barrier()  # H1
main()  # A0 H0 T0
""",
    ),
    "a round left out for what a rank reads, noticed at the end": (
        "branch",
        """
import torch.distributed as dist
def train_step(batch):
    if batch.numel() == 0:  # first
        return None  # also
    dist.all_reduce(batch)  # A2 T2
def main():
    for batch in range(60):
        train_step(batch)  # A1 T1
    dist.barrier()  # H1
main()  # A0 H0 T0
""",
    ),
    "made by one rank alone, but all were in it when they agreed": (
        "branch",
        """
import torch.distributed as dist
class Learner:
    def run(self):
        for step in range(9):
            if step % 3 == 2:  # first
                dist.barrier()  # H2
            dist.all_reduce(self.x)  # A2 T2
def main():
    rank = dist.get_rank()
    if rank == 0:
        role = Learner()
    else:
        role = Learner()
    role.run()  # A1 H1 T1
main()  # A0 H0 T0
""",
    ),
    "what a rank's own part of the data lacks": (
        "branch",
        """
import torch.distributed as dist
def evaluate(rows):
    if not rows:  # first
        return None  # also
    dist.all_reduce(rows)  # H2
def main():
    rank, world = dist.get_rank(), dist.get_world_size()
    rows = [row for number, row in enumerate(read()) if number % world == rank]
    for step in range(9):
        dist.all_reduce(loss)  # A1 T1
        evaluate(rows)  # H1
main()  # A0 H0 T0
""",
    ),
    "broadcast in the except": (
        "except",
        """
import torch.distributed as dist
def main():
    for batch in loader:
        try:
            loss = step(batch)  # also
        except RuntimeError:  # first
            dist.broadcast(flag, 0)  # H1
        dist.all_reduce(loss)  # A1 T1
main()  # A0 H0 T0
""",
    ),
    "broadcast in the except, the exception seen": (
        "except",
        """
import torch.distributed as dist
def step(batch):
    if batch.sum() > 3:
        raise ValueError("x")  # caught
    return model(batch)
def main():
    for batch in loader:
        try:
            loss = step(batch)  # caught
        except ValueError as error:  # first
            print(error)
            dist.broadcast(flag, 0)  # H1
            continue
        dist.all_reduce(loss)  # A1 T1
main()  # A0 H0 T0
""",
    ),
    "shorter shard": (
        "loop",
        """
import torch.distributed as dist
def main():
    rank = dist.get_rank()
    shard = data[rank::2][: 5 - rank]  # also
    for batch in shard:  # first
        loss = model(batch)
        dist.all_reduce(loss)  # A1 T1
    dist.barrier()  # H1
main()  # A0 H0 T0
""",
    ),
    "loader of uneven length": (
        "loop",
        """
import torch.distributed as dist
def main():
    for epoch in range(3):
        for batch in loader:  # first
            dist.all_reduce(model(batch))  # A1 T1
        if epoch % 2 == 0:
            print("epoch")
        dist.barrier()  # H1
main()  # A0 H0 T0
""",
    ),
    "break of early stopping on the local loss": (
        "branch",
        """
import torch.distributed as dist
def main():
    best = 9.0
    for epoch in range(30):
        loss = train()
        value = loss.item()
        if value > best:  # first
            break  # also
        best = value
        dist.all_reduce(loss)  # A1 T1
    dist.barrier()  # H1
main()  # A0 H0 T0
""",
    ),
    "continue that skips a backward": (
        "branch",
        """
import torch.distributed as dist
def main():
    for batch in loader:
        loss = model(batch)
        if torch.isnan(loss):  # first
            continue  # also
        loss.backward()  # T1
        optimizer.step()
        dist.all_reduce(loss)  # A1
    dist.barrier()  # H1
main()  # A0 H0 T0
""",
    ),
    "guard on an empty batch": (
        "branch",
        """
import torch.distributed as dist
def main():
    for batch in loader:
        if batch is None:  # first
            continue
        dist.all_reduce(model(batch))  # A1 T1
    dist.barrier()  # H1
main()  # A0 H0 T0
""",
    ),
    "other file: early return by rank": (
        "branch",
        """
import torch.distributed as dist
from saving import save
def main():
    while True:
        dist.all_reduce(loss)  # A1 T1
        save(model)  # H1
main()  # A0 H0 T0
### saving.py
import torch.distributed as dist
def save(model):
    if dist.get_rank() != 0:  # first
        return  # also
    write(model)
    dist.barrier()  # H2
""",
    ),
    "helper holds the rank test": (
        "branch",
        """
import torch.distributed as dist
def should_checkpoint(step):
    return step % 2 == 0 and dist.get_rank() == 0  # also
def main():
    for step in range(10):
        dist.all_reduce(loss)  # A1 T1
        if should_checkpoint(step):  # first
            dist.barrier()  # H1
main()  # A0 H0 T0
""",
    ),
    "short circuit": (
        "branch",
        """
import torch.distributed as dist
def main():
    rank = int(os.environ["RANK"])
    for step in range(10):
        dist.all_reduce(loss)  # A1 T1
        rank == 0 and dist.barrier()  # H1 first
main()  # A0 H0 T0
""",
    ),
    "conditional expression": (
        "branch",
        """
import torch.distributed as dist
def main():
    for step in range(10):
        dist.all_reduce(loss)  # A1 T1
        value = (
            gather(loss)  # H1
            if args.local_rank == 0  # first
            else None
        )
def gather(x):
    dist.all_gather(out, x)  # H2
main()  # A0 H0 T0
""",
    ),
    "decorator of the project": (
        "branch",
        """
import torch.distributed as dist
def rank_zero_only(fn):
    def wrapper(*args):
        if dist.get_rank() == 0:  # also
            return fn(*args)  # H2
        return None
    return wrapper
@rank_zero_only  # first
def save(model):
    dist.barrier()  # H3
def main():
    for step in range(10):
        dist.all_reduce(loss)  # A1 T1
        save(model)  # H1
main()  # A0 H0 T0
""",
    ),
    "decorator of a library": (
        "branch",
        """
import torch.distributed as dist
from lightning import rank_zero_only
@rank_zero_only  # first
def save(model):
    dist.barrier()  # H2!
def main():
    for step in range(10):
        dist.all_reduce(loss)  # A1 T1
        save(model)  # H1
main()  # A0 H0 T0
""",
    ),
    "generator that ends early": (
        "branch",
        """
import torch.distributed as dist
def batches(data):
    for one in data:
        if one.sum().item() > 7:  # first
            return  # also
        yield one
def main():
    for batch in batches(data):
        dist.all_reduce(batch)  # A1 T1
    dist.barrier()  # H1
main()  # A0 H0 T0
""",
    ),
    "callback registered on one rank": (
        "branch",
        """
import torch.distributed as dist
def sync(step):
    dist.barrier()  # H2
def main():
    hooks = []
    if dist.get_rank() == 0:  # first
        hooks.append(sync)
    for step in range(10):
        dist.all_reduce(loss)  # A1 T1
        for hook in hooks:  # also
            hook(step)  # H1
main()  # A0 H0 T0
""",
    ),
    "callback of a library trainer on one rank": (
        "branch",
        """
import torch.distributed as dist
class Saver(Callback):
    def on_epoch_end(self, trainer):
        dist.barrier()  # H2!
class Net(Module):
    def training_step(self, batch):
        dist.all_reduce(batch)  # A2! T2!
def main():
    callbacks = []
    if rank == 0:  # first
        callbacks.append(Saver())
    trainer = Trainer(callbacks=callbacks)
    trainer.fit(Net())  # A1 T1 H1
main()  # A0 H0 T0
""",
    ),
    "hook of a library trainer that tests the rank": (
        "branch",
        """
import torch.distributed as dist
class Net(Module):
    def training_step(self, batch):
        dist.all_reduce(batch)  # A2! T2!
    def on_train_epoch_end(self):
        if self.trainer.is_global_zero:  # first
            dist.barrier()  # H2!
def main():
    Trainer().fit(Net())  # A1 T1 H1
main()  # A0 H0 T0
""",
    ),
    "flag of a while loop": (
        "loop",
        """
import torch.distributed as dist
def main():
    done = False
    while not done:  # first
        loss = train()
        dist.all_reduce(total)  # A1 T1
        done = loss.item() < 0.1  # also
    dist.barrier()  # H1
main()  # A0 H0 T0
""",
    ),
    "suppress": (
        "except",
        """
import torch.distributed as dist
from contextlib import suppress
def main():
    for name in names:
        with suppress(OSError):  # first
            data = read(name)
            dist.all_reduce(data)  # A1 T1
    dist.barrier()  # H1
main()  # A0 H0 T0
""",
    ),
    "no_sync on one rank": (
        "branch",
        """
import torch.distributed as dist
def main():
    for batch in loader:
        ctx = model.no_sync() if rank == 1 else nullcontext()  # first
        with ctx:  # also
            loss = model(batch)
            loss.backward()  # T1
        dist.all_reduce(loss)  # A1 H1
main()  # A0 H0 T0
""",
    ),
    "end of the program on one rank": (
        "branch",
        """
import sys
import torch.distributed as dist
def main():
    for step in range(10):
        if step == 3 and dist.get_rank() == 1:  # first
            sys.exit(0)  # also
        dist.all_reduce(loss)  # A1 T1
main()  # A0 T0
""",
    ),
    "return of main on one rank": (
        "branch",
        """
import torch.distributed as dist
def main():
    for step in range(10):
        dist.all_reduce(loss)  # A1
    if dist.get_rank() != 0:  # first
        return
    dist.barrier()  # T1
main()  # A0 T0
""",
    ),
    "a file that one rank sees": (
        "branch",
        """
import os
import torch.distributed as dist
def main():
    dist.barrier()  # A1
    if os.path.exists("ckpt.pt"):  # first
        state = load()
        dist.broadcast(state, 0)  # H1
    dist.all_reduce(x)  # T1
main()  # A0 H0 T0
""",
    ),
    "a deadline by the clock": (
        "branch",
        """
import time
import torch.distributed as dist
def main():
    begin = time.time()
    for step in range(100):
        dist.all_reduce(x)  # A1 T1
        if time.time() - begin > 60:  # first
            break  # also
    dist.barrier()  # H1
main()  # A0 H0 T0
""",
    ),
    "chance": (
        "branch",
        """
import random
import torch.distributed as dist
def main():
    for step in range(100):
        if random.random() < 0.5:  # first
            dist.all_gather(xs, x)  # H1
        dist.all_reduce(x)  # A1 T1
main()  # A0 H0 T0
""",
    ),
    "which of two orders": (
        "branch",
        """
import torch.distributed as dist
def main():
    dist.barrier()  # A1
    if rank % 2 == 0:  # first
        dist.all_reduce(a)  # H1
        dist.broadcast(b, 0)
    else:
        dist.broadcast(b, 0)  # T1
        dist.all_reduce(a)
main()  # A0 H0 T0
""",
    ),
    "metric gathered in the order of a set": (
        "loop",
        """
import torch.distributed as dist
def main():
    names = set(metrics)
    for name in names:  # first
        dist.all_reduce(metrics[name])  # A1 H1 T1
main()  # A0 H0 T0
""",
    ),
    "exception swallowed on one rank, in a helper": (
        "except",
        """
import torch.distributed as dist
def step(batch):
    try:
        loss = model(batch)  # also
        dist.all_reduce(loss)  # A2 T2
    except Exception:  # first
        return None
    return loss
def main():
    for batch in loader:
        step(batch)  # A1 T1
    dist.barrier()  # H1
main()  # A0 H0 T0
""",
    ),
    "method of an object in another file": (
        "branch",
        """
import torch.distributed as dist
from trainer import Trainer
def main():
    Trainer().fit()  # A1 H1 T1
main()  # A0 H0 T0
### trainer.py
import torch.distributed as dist
class Trainer:
    def __init__(self):
        self.is_master = dist.get_rank() == 0
    def fit(self):
        for step in range(3):
            self.train()  # A2 T2
            self.maybe_save()  # H2
    def train(self):
        dist.all_reduce(x)  # A3 T3
    def maybe_save(self):
        if self.is_master:  # first
            self.save()  # H3
    def save(self):
        dist.barrier()  # H4
""",
    ),
    "stands in a wait for a file on one rank": (
        "branch",
        """
import torch.distributed as dist
import time
def main():
    for step in range(9):
        dist.all_reduce(x)  # A1 T1
        if rank == 0:  # first
            while not os.path.exists("flag"):
                time.sleep(1)  # H1
main()  # A0 H0 T0
""",
    ),
    "match on the rank": (
        "branch",
        """
import torch.distributed as dist
def main():
    dist.barrier()  # A1
    match dist.get_rank():
        case 0:  # first
            dist.all_reduce(x)  # H1
        case _:
            dist.broadcast(x, 0)  # T1
main()  # A0 H0 T0
""",
    ),
    "evaluation on rank 0 only, in another function, after healthy steps": (
        "branch",
        """
import torch.distributed as dist
def evaluate(model):
    for batch in val_loader:
        out = model(batch)
        dist.all_reduce(out)  # H2
def train(model):
    for step in range(9):
        loss = model(step)
        dist.all_reduce(loss)  # A2 T2
def main():
    for epoch in range(9):
        train(model)  # A1 T1
        if is_main_process():  # first
            evaluate(model)  # H1
main()  # A0 H0 T0
""",
    ),
    "second epoch only": (
        "branch",
        """
import torch.distributed as dist
def main():
    for epoch in range(4):
        for batch in loader:
            dist.all_reduce(loss)  # A1 T1
        if epoch >= 1 and rank == 0:  # first
            dist.barrier()  # H1
main()  # A0 H0 T0
""",
    ),
    "from the start of the program": (
        "branch",
        """
import torch.distributed as dist
def main():
    dist.init_process_group("gloo")
    if int(os.environ["LOCAL_RANK"]) == 0:  # first
        download()
        dist.barrier()  # H1
    dist.all_reduce(x)  # T1
main()  # H0 T0
""",
    ),
    "library call that hides the operation": (
        "branch",
        """
import torch.distributed as dist
def main():
    for step in range(4):
        dist.all_reduce(x)  # A1 T1
        if accelerator.is_main_process:  # first
            accelerator.save_state("x")  # H1 also
main()  # A0 H0 T0
""",
    ),
    "comprehension": (
        "loop",
        """
import torch.distributed as dist
def reduced(x):
    dist.all_reduce(x)  # A2 T2
    return x
def main():
    mine = files[rank::2]
    out = [reduced(f) for f in mine]  # A1 T1 first
    dist.barrier()  # H1
main()  # A0 H0 T0
""",
    ),
    "early stopping inside an object": (
        "branch",
        """
import torch.distributed as dist
class Stopper:
    def __init__(self):
        self.best, self.bad = 9e9, 0
    def stop(self, value):
        if value < self.best:
            self.best, self.bad = value, 0
        else:
            self.bad += 1
        return self.bad > 3
def main():
    stopper = Stopper()
    for epoch in range(99):
        loss = run_epoch()
        dist.all_reduce(total)  # A1 T1
        if stopper.stop(loss.item()):  # first
            break  # also
    dist.barrier()  # H1
main()  # A0 H0 T0
""",
    ),
    "finally holds a barrier": (
        "except",
        """
import torch.distributed as dist
def main():
    for batch in loader:
        try:
            work(batch)  # caught
            dist.all_reduce(x)  # T1
        except ValueError:  # first
            print("skipped")
        finally:
            dist.barrier()  # A1 H1
main()  # A0 H0 T0
""",
    ),
    "assertion on local data caught far outside": (
        "except",
        """
import torch.distributed as dist
def check(x):
    if x.item() > 3:  # also
        raise ValueError(x)
def epoch():
    for x in loader:
        check(x)
        dist.all_reduce(x)  # A2 T2
def main():
    for _ in range(3):
        try:
            epoch()  # A1 T1
        except ValueError:  # first
            print("next epoch")
        dist.barrier()  # H1
main()  # A0 H0 T0
""",
    ),
    "lambda as a callback": (
        "branch",
        """
import torch.distributed as dist
def each(fn):
    for i in range(3):
        fn(i)  # A1 H1 T1
def work(i):
    if rank == 0:  # first
        dist.barrier()  # H3
    dist.all_reduce(x)  # A3 T3
each(lambda i: work(i))  # A0 H0 T0 A2 H2 T2
""",
    ),
    "statistics found by one rank in its cache": (
        "branch",
        """
import torch.distributed as dist
from statistics_file import Statistics
def train_step(x):
    loss = model(x)
    loss.backward()  # A2 T2
def main():
    found = Statistics.load_or_fit(folder, rank, x)  # H1
    for i in range(0, 9):
        train_step(x)  # A1 T1
main()  # A0 H0 T0
### statistics_file.py
import os
import torch.distributed as dist
class Statistics:
    @classmethod
    def load_or_fit(cls, folder, rank, x):
        path = f"{folder}/{rank}.json"
        if os.path.exists(path):  # first
            return cls(path)  # also
        return cls.fit(x)  # H2
    @classmethod
    def fit(cls, x):
        dist.all_gather(parts, x)  # H3
        return cls(parts)
""",
    ),
    "generator that a helper cuts into batches": (
        "loop",
        """
import itertools
import torch.distributed as dist
def examples(path):
    for line in open(path):
        yield line
def grouped(iterator, size):
    iterator = iter(iterator)
    while chunk := list(itertools.islice(iterator, size)):  # also
        yield chunk
def main():
    for step, tokens in enumerate(grouped(examples(f"shard{dist.get_rank()}.txt"), 8)):  # first
        model(tokens).backward()  # A1 T1
    dist.barrier()  # H1
main()  # A0 H0 T0
""",
    ),
    "random content by rank changes no length": (
        "branch",
        """
import torch
import torch.distributed as dist
def inputs(rank):
    g = torch.Generator().manual_seed(rank)
    return torch.linspace(0, 1, 64) + 0.1 * torch.randn(64, 8, generator=g)
def main():
    x = inputs(dist.get_rank())
    for epoch in range(3):
        for i in range(0, len(x), 8):
            model(x[i]).backward()  # A1 T1
        if epoch == 2 and is_main():  # first
            dist.barrier()  # H1
main()  # A0 H0 T0
""",
    ),
    "iterator of the project's own that one rank ends": (
        "branch",
        """
import torch.distributed as dist
class Epochs:
    def __init__(self, limit):
        self.now, self.limit, self.stop = 0, limit, False
    def __iter__(self):
        return self
    def __next__(self):
        if self.now < self.limit and not self.stop:  # first
            self.now += 1
            return self.now
        raise StopIteration
    def update(self, loss):
        self.stop = loss.item() > 3
def main():
    epochs = Epochs(9)
    for epoch in epochs:  # also
        loss = train(epoch)
        dist.all_reduce(total)  # A1 T1
        epochs.update(loss)
    dist.barrier()  # H1
main()  # A0 H0 T0
""",
    ),
    "names of a set, each rank in an order of its own": (
        "loop",
        """
import torch.distributed as dist
class State:
    def __init__(self):
        self.names = set()
    def sync(self):
        for name in self.names:  # first
            for key in sorted(getattr(self, name)):
                self.reduce(getattr(self, name)[key])  # A1 H1 T1
    def reduce(self, value):
        if isinstance(value, Tensor):  # also
            dist.all_reduce(value)  # A2 H2
            return
        dist.all_gather_object(values, value)  # T2
State().sync()  # A0 H0 T0
""",
    ),
    "flag that a function sets which only one rank calls": (
        "branch",
        """
import torch.distributed as dist
class Buffer:
    def __init__(self):
        self.ready = False
def evaluate(buffer):
    buffer.ready = True
def log(buffer):
    if buffer.ready:  # first
        dist.reduce(memory, 0)  # H2
def main(rank):
    buffer = Buffer()
    for step in range(9):
        dist.all_reduce(x)  # A1 T1
        if rank == 0:  # also
            evaluate(buffer)
        log(buffer)  # H1
main(rank)  # A0 H0 T0
""",
    ),
    "override of an abstract method in which nothing matters": (
        "branch",
        """
import torch.distributed as dist
class Brain:
    def forward(self, batch):
        raise NotImplementedError
    def fit_batch(self, batch):
        self.forward(batch)
        dist.all_reduce(batch)  # A3 T3
        return batch.sum().item()
    def fit(self):
        for epoch in range(9):
            if self.fit_batch(data[epoch]) > 7:  # A2 T2 first
                break  # also
class Mine(Brain):
    def forward(self, batch):
        return batch * 2
def main():
    Mine().fit()  # A1 T1
    dist.barrier()  # H1
main()  # A0 H0 T0
""",
    ),
}

NOTHING: dict[str, str] = {
    "no stacks": """
import torch.distributed as dist
dist.barrier()  # A0
""",
    "the same line on both, nothing differs": """
import torch.distributed as dist
for step in range(3):
    dist.all_reduce(x)  # A0 H0 T0
""",
    "straight line": """
import torch.distributed as dist
dist.barrier()  # A0
dist.all_reduce(x)  # H0
dist.broadcast(x, 0)  # T0
""",
}

# Where the first decision is not the only one that can be meant.
UNCERTAIN = frozenset(
    [
        "a graph that one rank's forward pass has cut, for want of tokens",
        "suppress",
        "statistics found by one rank in its cache",
        "exception swallowed on one rank, in a helper",
        "a name left out of a loop over what a constructor set",
        "a round left out by a handler, noticed rounds later",
    ]
)
