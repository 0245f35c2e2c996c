import time

from transformers import TrainerCallback


class Budget(TrainerCallback):
    """Ends a run that has used its hours or that no longer gets better."""

    def __init__(self, hours, floor):
        self.deadline = time.monotonic() + 3600 * hours
        self.floor = floor
        self.reason = None

    def spent(self, metrics):
        if time.monotonic() > self.deadline:
            self.reason = "time"
        elif metrics.get("eval_loss", float("inf")) < self.floor:
            self.reason = "quality"
        return self.reason is not None

    def on_evaluate(self, args, state, control, metrics=None, **kwargs):
        if not state.is_world_process_zero:  # cause
            return control
        if self.spent(metrics or {}):  # cause
            print(f"stopping at step {state.global_step}: {self.reason}")
            control.should_training_stop = True  # cause
        return control
