from config import Config
from model import Net
from table import rows
from trainer import Trainer


def main():
    x, y = rows("prices.csv")
    trainer = Trainer(Config(), Net(x.shape[1]))
    print(trainer.cross_validate(x, y))


main()
