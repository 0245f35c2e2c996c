import lightning as L
from lightning.pytorch.callbacks import ModelCheckpoint

from data import loaders
from module import Module

L.Trainer(devices=4, strategy="ddp", callbacks=[ModelCheckpoint(monitor="score", mode="max")]).fit(Module(), *loaders())
