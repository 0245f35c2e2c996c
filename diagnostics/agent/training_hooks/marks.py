"""What is told of each forward, backward and step, and who of this folder hears it.

A mark is one line in the file of prints: written where something has been so for 10, 20, 40 ... steps.
Nothing here runs an operation of torch, holds a tensor or a module, or waits for a device.
"""

from __future__ import annotations

import sys
import time

from .. import part
from ..function_hooks import (
    batch_as_time,
    blank_targets,
    divergences,
    forced_dropouts,
    heard_functions,
    outside_targets,
    repeated_draws,
    unheard_frames,
    unreachable_targets,
    unsigned_targets,
)
from ..gradient_hooks import (
    cut_states,
    dropped_windows,
    endless_graphs,
    foreign_gradients,
    kept_gradients,
    lost_passes,
    unheld_parameters,
    watched_gradient,
)
from ..imports import when_imported
from ..loss_graphs import (
    constant_terms,
    outer_weights,
    saved_tensors,
    separate_terms,
    spread_differences,
    squashed_outputs,
    target_weights,
)
from ..model_hooks import (
    judged_copies,
    left_statistics,
    model_numbers,
    module_modes,
    shared_weights,
    untrained_states,
    woken_parts,
)
from ..object_hooks import (
    grown_containers,
    held_generators,
    held_objects,
    nan_steps,
    numbered_names,
    rounded_averages,
)
from ..schedule_hooks import (
    empty_restores,
    horizons,
    other_counts,
    plateaus,
    resumed_schedules,
    slow_schedules,
    swinging_rates,
    unused_schedules,
)
from ..torch_hooks import loaded_values, random_states, wrapped_models
from ..torch_hooks.dynamo import leave_uncompiled
from . import (
    clipped_gradients,
    constant_losses,
    cut_graphs,
    followed_losses,
    guards,
    kept_states,
    leaf_losses,
    learning_rates,
    loss_scalers,
    lost_losses,
    lost_rates,
    module_hooks,
    module_values,
    open_reductions,
    part_modes,
    program_objects,
    root_modes,
    roots,
    rounded_updates,
    state_loads,
    useless_terms,
    written_files,
)

MOST_MARKS = 150
EVENTS = ("step", "forward", "backward", "backward_ended", "forget")


class Marks:
    """All who look at the steps of this process."""

    def __init__(self, agent, prints):
        self.agent, self._prints = agent, prints
        self._left, self.broken, self.steps = MOST_MARKS, False, 0
        self.loads = 0  # files and states that were
        self.roots, self.origin = roots.Roots(), module_values.Origin(self)
        self.modes, self.rates = root_modes.Modes(self), learning_rates.Rates(self)
        self.clips, self.cuts = clipped_gradients.ClippedGradients(self), cut_graphs.CutGraphs(self)
        self.read_names = state_loads.ReadNames()
        self.states, self.lost_rates = kept_states.KeptStates(self), lost_rates.LostRates(self)
        self.plateaus, self.resumed = plateaus.Plateaus(self), resumed_schedules.ResumedSchedules(self)
        self.empties = empty_restores.EmptyRestores(self)
        self.shared, self.woken = shared_weights.SharedWeights(self), woken_parts.WokenParts(self)
        self.part_modes, self.hooks = part_modes.PartModes(self), module_hooks.ModuleHooks(self)
        self.divergences, self.dropouts = divergences.Divergences(self), forced_dropouts.ForcedDropouts(self)
        self.draws = repeated_draws.RepeatedDraws(self)
        self.targets = unreachable_targets.UnreachableTargets(self)
        self.unheard = unheard_frames.UnheardFrames(self)
        self.blanks = blank_targets.BlankTargets(self)
        self.outside = outside_targets.OutsideTargets(self)
        self.unsigned = unsigned_targets.UnsignedTargets(self)
        self.untrained = untrained_states.UntrainedStates(self)
        self.statistics = left_statistics.LeftStatistics(self)
        parts = (
            self.modes, self.rates, kept_gradients.GradientWatch(self), lost_losses.LostLosses(self),
            leaf_losses.LeafWatch(self), self.clips, self.cuts, followed_losses.SpreadLosses(self),
            self.part_modes, self.hooks, lost_passes.LostPasses(self),
            open_reductions.OpenReductions(self), rounded_updates.RoundedUpdates(self), self.lost_rates,
            program_objects.ProgramObjects(self), followed_losses.UnevenPasses(self),
            followed_losses.SquashedLosses(self), judged_copies.JudgedCopies(self), self.shared,
            nan_steps.NanSteps(self), constant_losses.ConstantLosses(self), foreign_gradients.ForeignGradients(self),
            self.woken, self.plateaus, self.resumed, self.divergences, self.dropouts,
            swinging_rates.SwingingRates(self), self.draws, self.targets, self.blanks, self.untrained,
            self.statistics, self.unheard, self.empties, self.states,
            dropped_windows.DroppedWindows(self), unused_schedules.UnusedSchedules(self),
            slow_schedules.SlowSchedules(self), batch_as_time.BatchAsTime(self),
            other_counts.OtherCounts(self), self.outside, self.unsigned, unheld_parameters.UnheldParameters(self),
            useless_terms.UselessTerms(self), endless_graphs.EndlessGraphs(self), cut_states.CutStates(self),
        )  # fmt: skip
        # A part that leaves out an event is not called for it: there are thousands a second.
        heard = ([getattr(one, event) for one in parts if _hears(one, event)] for event in EVENTS)
        self._on_step, self._on_forward, self._on_backward, self._on_ended, self._on_fork = heard

    def forget(self):
        """Starts over, in a forked child."""
        self._left, self.broken, self.steps = MOST_MARKS, False, 0
        self.roots = roots.Roots()
        for tell in self._on_fork:
            tell()

    def step(self, optimizer, followed):
        """An optimizer is about to make a step. Never raises."""
        try:
            self.steps += 1
            for tell in self._on_step:
                tell(optimizer, followed)
        except Exception as error:
            self.give_up(error)

    def backward(self, tensors, loss, adds):
        """A backward pass begins. Never raises."""
        try:
            for tell in self._on_backward:
                tell(tensors, loss, adds)
        except Exception as error:
            self.give_up(error)

    def backward_ended(self):
        """A backward pass ended. Never raises."""
        try:
            for tell in self._on_ended:
                tell()
        except Exception as error:
            self.give_up(error)

    def forward(self, module):
        """An outermost module is called. Never raises."""
        try:
            root = self.roots.of(module)
            if root is not None and not self.broken:
                for tell in self._on_forward:
                    tell(module, root)
        except Exception as error:
            self.give_up(error)

    def has_loaded(self):
        """Whether a state was read from anywhere."""
        return self.loads > 0 or "safetensors" in sys.modules

    def optimizers(self):
        """Returns how many optimizers made a step."""
        return self._prints.made

    def has_optimizer(self):
        """Whether one was made and lives."""
        return len(self._prints.models.optimizers) > 0

    def made_at(self, optimizer):
        """Returns where an optimizer was made."""
        return self._prints.models.made.get(id(optimizer), [])

    def counts(self):
        """Returns how many steps each optimizer made, by its number."""
        return {one.index: one.count for one in self._prints.all_followed()}

    def holder_of(self, tensor):
        """Returns the number of the optimizer whose parameter lies where this tensor does, None without one."""
        address = tensor.data_ptr()
        for followed in self._prints.all_followed():
            optimizer = followed.ref()
            for group in optimizer.param_groups if optimizer is not None else ():
                if any(type(one).__name__ == "Parameter" and one.data_ptr() == address for one in group["params"]):
                    return followed.index
        return None

    def other_optimizers(self, index):
        """Returns (number, optimizer) of those that live, without this one."""
        found = [(one.index, one.ref()) for one in self._prints.all_followed() if one.index != index]
        return [(number, one) for number, one in found if one is not None]

    def count_of(self, optimizer):
        """Returns how many steps an optimizer began."""
        followed = self._prints.followed(optimizer)
        return followed.count if followed is not None else 0

    def number_of(self, optimizer):
        """Returns which optimizer it is in the order of first steps, None for one that made no step."""
        followed = self._prints.followed(optimizer)
        return followed.index if followed is not None else None

    def held(self):
        """Returns the ids of what the optimizers that live hold."""
        optimizers = list(self._prints.models.optimizers)
        return {id(one) for each in optimizers for group in each.param_groups for one in group["params"]}

    def parameters_of_roots(self):
        """Returns {name: parameter} of each model that was called or wrapped, the largest first."""
        return [
            {name: parameter for name, parameter, _ in wrapped_models.walk(root)}
            for root in self._prints.models.roots()
        ]

    def learning(self):
        """Returns the (name, parameter) pairs of what an optimizer holds, in the order of their models."""
        held = self.held()
        return [(name, one) for key, (name, _, one) in self._prints.models.parameters().items() if key in held]

    def names_of(self, parameters):
        """Returns the names of those that an optimizer holds."""
        held, known = self.held(), self._prints.models.parameters()
        return [known[id(one)][0] for one in parameters if id(one) in held and id(one) in known]

    def tell(self, what, **facts):
        """Writes one mark."""
        self._left -= 1
        if self._left >= 0:
            self._prints.write({"what": what, "ns": time.monotonic_ns(), **facts})

    def give_up(self, error):
        """Something of the job is not what it seems: nothing more is looked at."""
        if not self.broken:
            self.broken = True
            self.agent.event("no-marks", "%s: %s" % (type(error).__name__, error))


def _hears(one, event):
    nothing = getattr(part.Part, event)
    return getattr(type(one), event, nothing) is not nothing


def watch(agent, prints):
    """Has `prints` and the calls of modules tell; wraps what makes schedulers, scalers, states and files."""
    leave_uncompiled(
        sys.modules[__name__], clipped_gradients, cut_graphs, guards, kept_gradients, kept_states, leaf_losses,
        learning_rates, loss_scalers, lost_losses, lost_passes, lost_rates, module_hooks, module_values, nan_steps,
        open_reductions, part, part_modes, program_objects, root_modes, roots, rounded_updates, state_loads,
        written_files, followed_losses, grown_containers, held_generators, held_objects, numbered_names, loaded_values,
        random_states, saved_tensors, spread_differences, squashed_outputs, target_weights, judged_copies,
        model_numbers, shared_weights, constant_losses, constant_terms, foreign_gradients, woken_parts, module_modes,
        plateaus, resumed_schedules, horizons, rounded_averages, divergences, forced_dropouts, heard_functions,
        swinging_rates, repeated_draws, unreachable_targets, untrained_states, dropped_windows, watched_gradient,
        unused_schedules, left_statistics, unheard_frames, empty_restores, blank_targets, slow_schedules, outer_weights,
        batch_as_time, other_counts, outside_targets, unsigned_targets, unheld_parameters, useless_terms,
        separate_terms, endless_graphs, cut_states,
    )  # fmt: skip
    marks = Marks(agent, prints)
    prints.marks = marks
    agent.at_fork.append(marks.forget)
    _watch_forwards(agent.modules, marks, prints.models)
    state_loads.watch(marks)
    kept_states.watch(marks)
    clipped_gradients.watch(marks.clips)
    cut_graphs.watch(marks.cuts)
    part_modes.watch(marks.part_modes)
    module_hooks.watch(marks.hooks)
    shared_weights.watch(marks.shared)
    woken_parts.watch(marks.woken)
    plateaus.watch(marks.plateaus)
    resumed_schedules.watch(marks.resumed, marks.empties)
    written_files.watch(marks)
    lost_rates.watch(marks)
    when_imported(heard_functions.MODULE, lambda: divergences.watch(marks.divergences))
    when_imported(heard_functions.MODULE, lambda: forced_dropouts.watch(marks.dropouts))
    when_imported(heard_functions.MODULE, lambda: unreachable_targets.watch(marks.targets))
    when_imported(heard_functions.MODULE, lambda: unheard_frames.watch_losses(marks.unheard))
    when_imported(unheard_frames.PACKS_IN, lambda: unheard_frames.watch_packing(marks.unheard))
    when_imported(heard_functions.MODULE, lambda: blank_targets.watch(marks.blanks))
    when_imported(heard_functions.MODULE, lambda: outside_targets.watch(marks.outside))
    when_imported(heard_functions.MODULE, lambda: unsigned_targets.watch(marks.unsigned))
    when_imported(repeated_draws.MODULE, lambda: repeated_draws.watch(marks.draws))
    when_imported(learning_rates.MODULE, lambda: learning_rates.watch(marks, wrapped_models.after_init))
    when_imported(loss_scalers.MODULE, lambda: loss_scalers.watch(marks))


def _watch_forwards(activity, marks, models):
    torch = sys.modules["torch"]
    told, traced, quiet = activity.outermost, torch._C._get_tracing_state, models.quiet

    def outermost(module, args, kwargs):
        if told is not None:
            told(module, args, kwargs)
        if quiet and id(module) in quiet and torch.is_grad_enabled():
            models.called_to_learn(module)
        if traced() is None:
            marks.forward(module)

    activity.outermost = outermost
    root_modes.watch(marks)
