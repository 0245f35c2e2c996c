import json
import sys

from composer import dist_utils


class LoggerDestination:
    """Base of everything that hears about events of the training loop."""

    def batch_end(self, state):
        pass

    def epoch_end(self, state):
        pass

    def close(self):
        pass


class ProgressLogger(LoggerDestination):

    def epoch_end(self, state):
        loss = dist_utils.all_mean(state.loss)
        if dist_utils.get_global_rank() == 0:
            print(f"epoch {state.epoch}: loss {loss:.4f}", flush=True)


class RankZeroLogger(LoggerDestination):
    """Calls the methods of its subclasses on rank 0 only."""

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        for name in ("batch_end", "epoch_end", "close"):
            if name in cls.__dict__:
                setattr(cls, name, cls._on_rank_zero(cls.__dict__[name]))

    @staticmethod
    def _on_rank_zero(method):
        def wrapper(self, *args):
            if dist_utils.get_global_rank() == 0:
                return method(self, *args)

        return wrapper


class InMemoryLogger(RankZeroLogger):

    def __init__(self):
        self.losses = []

    def batch_end(self, state):
        self.losses.append(float(state.loss))


class WeightHistogramLogger(RankZeroLogger):
    """Every few epochs the spread of each weight matrix, for the dashboards."""

    def __init__(self, interval, stream=sys.stdout):
        self.interval, self.stream = interval, stream

    def epoch_end(self, state):
        if (state.epoch + 1) % self.interval == 0:
            record = {"epoch": state.epoch, **state.weight_statistics()}
            self.stream.write(json.dumps(record) + "\n")
            self.stream.flush()
