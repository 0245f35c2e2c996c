import time

from transformers import TrainerCallback


class Budget(TrainerCallback):
    def __init__(self, minutes):
        self.limit = 60 * minutes
        self.started = time.monotonic()

    def _spent(self):
        return time.monotonic() - self.started

    def on_step_end(self, args, state, control, **kwargs):
        if self._spent() > self.limit:
            control.should_training_stop = True


class Late(TrainerCallback):
    def __init__(self, deadline):
        self.deadline = deadline

    def on_step_end(self, args, state, control, **kwargs):
        now = time.time()
        late = now > self.deadline
        if late:
            control.should_training_stop = True
