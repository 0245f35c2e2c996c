"""Stage 4: a student learns to do in one step what the diffusion's teacher does in many (consistency distillation).

On neighbouring noise levels of one path of the teacher the student shall give the same answer:

    x_n+1 = r + sigma_n+1 eps,  x_n = one Heun step of the teacher from x_n+1,
    loss = |f(x_n+1, sigma_n+1) - f_target(x_n, sigma_n)|^2

f_target has the moving average of the student's weights and no gradient. f(x, sigma_min) = x holds by parametrisation
(ups.models.denoiser), so that no constant answer, such as no correction at all, is a minimum: at the lowest level the
target is the teacher's own sample. Source: Song et al. 2023, arXiv:2303.01469, algorithm 2.
Shapes: B batch, S tokens, D latent channels, K conditions.
"""

from __future__ import annotations

import copy
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from ups.checkpoint import build_correction, build_denoiser, fill
from ups.config import UpsConfig
from ups.losses import at_least_float32, mse
from ups.metrics import nrmse_per_sample
from ups.models.correction import Correction
from ups.models.denoiser import Denoiser
from ups.models.sampler import Denoise, heun_step, noise_levels
from ups.stages import draws
from ups.stages.contract import Batch
from ups.stages.diffusion import LEVEL, MEMBER, NOISE, corrected_errors
from ups.stages.frozen import FrozenModels, Trained
from ups.stages.material import Material, alone
from ups.stages.pairs import latent_pairs

AS_FAR = 1e-12  # squared size of a teacher's correction below which it has made none


class StudentAndTarget(nn.Module):
    """One network twice: the student, which is trained, and the target, which follows it.

    One module, so that what shards, saves and averages the student does so with the target.
    """

    def __init__(self, student: Denoiser) -> None:
        super().__init__()
        self.student = student
        self.target = copy.deepcopy(student).requires_grad_(requires_grad=False)

    def forward(self, *given: Tensor, of_target: bool = False) -> Tensor:
        """Returns the answer of the student, or of the target without a gradient, (B, S, D)."""
        if not of_target:
            answer: Tensor = self.student(*given)
            return answer
        with torch.no_grad():
            fixed: Tensor = self.target(*given)
            return fixed

    @torch.no_grad()
    def follow(self, decay: float) -> None:
        """Moves the target towards the student by 1 - decay, each rank the part it holds."""
        pairs = zip(self.target.parameters(), self.student.parameters(), strict=True)
        for target, student in pairs:
            held, new = (getattr(one, "_local_tensor", one) for one in (target, student))
            held.lerp_(new, 1 - decay)


class DistillingStep(nn.Module):
    """Student and target with their loss, one number a sample."""

    def __init__(self, both: StudentAndTarget, teacher: Teacher, frozen: FrozenModels, levels: list[float]) -> None:
        super().__init__()
        self.both, self.teacher, self.frozen = both, teacher, frozen
        self.levels = levels

    def forward(self, batch: Batch) -> Tensor:
        """Returns the loss of each sample, (B,); the batch holds latents or fields."""
        z_in, z_out = self.frozen.pair(batch)
        z_hat = self.frozen.predicted(z_in, batch["cond"])
        given = z_hat, z_in, batch["cond"]
        r_BSD = (z_out - z_hat) / self.teacher.denoiser.scale_D
        place_B = (draws.uniform(batch, r_BSD, LEVEL) * (len(self.levels) - 1)).long()
        levels = r_BSD.new_tensor(self.levels)
        before_B, after_B = levels[place_B], levels[place_B + 1]
        noisy = r_BSD + before_B[:, None, None] * draws.normal(batch, r_BSD.shape[1:], r_BSD, NOISE)
        return consistency_loss(
            lambda x, sigma: self.both(x, sigma, *given),
            lambda x, sigma: self.both(x, sigma, *given, of_target=True),
            partial(self.teacher, given=given),
            noisy,
            before_B,
            after_B,
        )


def consistency_loss(
    student: Denoise, target: Denoise, teacher: Denoise, noisy_BSD: Tensor, before_B: Tensor, after_B: Tensor
) -> Tensor:
    """Returns how far the student at one level is from the target at the next on the teacher's path, squared, (B,)."""
    with torch.no_grad():
        less = heun_step(teacher, noisy_BSD, before_B, after_B)
        wanted = at_least_float32(target(less, after_B))
    return mse(at_least_float32(student(noisy_BSD, before_B)), wanted)


class Teacher:
    """The trained denoiser, kept out of the module."""

    def __init__(self, denoiser: Denoiser) -> None:
        self.denoiser = denoiser.requires_grad_(requires_grad=False).eval()

    def __deepcopy__(self, memo: dict[int, Any]) -> Teacher:
        return self

    def double(self) -> None:
        """Makes all weights float64, for comparisons."""
        self.denoiser.double()

    def __call__(self, x_BSD: Tensor, sigma_B: Tensor, given: tuple[Tensor, ...]) -> Tensor:
        """Returns the residual that the teacher sees in a noisy one, (B, S, D)."""
        answer: Tensor = self.denoiser(x_BSD, sigma_B, *given)
        return at_least_float32(answer)


class Stage:
    """Trains the student on pairs of the training split."""

    NAME = "consistency"
    measures = ("nrmse", "teacher_nrmse", "apart", "operator_nrmse", "member_nrmse", "crps", "spread", "skill")

    def __init__(
        self,
        config: UpsConfig,
        device: torch.device,
        material: Material | None = None,
        trained: Trained | None = None,
        cached: bool = False,
    ) -> None:
        """See the operator's stage; `trained` holds autoencoder, operator and diffusion."""
        self.config, self.device, self.trained = config, device, trained or {}
        self.material = material = material if material is not None else alone(config)
        self.encoder = FrozenModels(config, material, device, self.trained, operator=True)
        denoiser = build_denoiser(config, material.spec)
        if "diffusion" in self.trained:
            fill(denoiser, self.trained["diffusion"], "diffusion")
        self.teacher = Teacher(denoiser.to(device))
        self.train_dataset, self.validation_dataset = latent_pairs(config, material, cached=cached)

    def build(self) -> DistillingStep:
        """Returns the module, on the CPU; the student starts with the teacher's weights."""
        student = build_denoiser(self.config, self.material.spec, student=True)
        student.load_state_dict({name: value.cpu() for name, value in self.teacher.denoiser.state_dict().items()})
        settings = self.config.diffusion
        levels = noise_levels(self.config.consistency.levels, settings.sigma_min, settings.sigma_max)
        return DistillingStep(StudentAndTarget(student), self.teacher, self.encoder, levels)

    def stepped(self, module: nn.Module) -> None:
        """Moves the target after the student."""
        both: Any = module.both
        both.follow(self.config.consistency.target_decay)

    def validate(self, module: nn.Module, batch: Batch) -> dict[str, Tensor]:
        """Returns errors of one step of the student and of the teacher's many, physical units, (B,).

        `apart` is the distance between student's and teacher's answer to the same noise, over the size of the
        teacher's correction.
        """
        both: Any = module.both
        student = self._student(both)
        errors = corrected_errors(student, self.encoder, batch, self.config.diffusion.members)
        teacher = build_correction(self.config, self.teacher.denoiser)
        z_in, _ = self.encoder.pair(batch)
        z_hat = self.encoder.predicted(z_in, batch["cond"])
        noise = draws.normal(batch, z_hat.shape[1:], z_hat, MEMBER)
        of_teacher = teacher(z_hat, z_in, batch["cond"], noise)
        of_student = student(z_hat, z_in, batch["cond"], noise)
        size = mse(of_teacher, z_hat).clamp_min(AS_FAR)
        return {
            **errors,
            "teacher_nrmse": nrmse_per_sample(self.encoder.decoded(of_teacher), self.encoder.truth(batch)),
            "apart": (mse(of_student, of_teacher) / size).sqrt(),
        }

    def _student(self, both: Any) -> Correction:
        """Returns the student as one step; it is called through `both`, which gathers sharded weights."""
        correction = build_correction(self.config, self.teacher.denoiser, student=True)
        correction.denoise_by = both
        return correction

    def finish(self, module: nn.Module) -> dict[str, Any]:
        """Returns the states of all stages up to this one."""
        both: Any = module.both
        return {
            "autoencoder": self.trained.get("autoencoder"),
            "operator": self.trained.get("operator"),
            "later": {"diffusion": self.trained.get("diffusion"), "consistency": both.student.state_dict()},
        }
