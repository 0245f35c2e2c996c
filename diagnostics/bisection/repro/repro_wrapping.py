"""The lines of a script that wrap its model as the failure needs it. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from diagnostics.bisection.repro.plan import BEFORE_FORWARD, Plan


def wrapping(plan: Plan) -> Iterator[str]:
    """Returns what makes `model` the wrapped one, with its optimizer."""
    settings = plan.settings
    if settings.checkpointing:
        yield "for module in blocks(model):"
        yield "    module.forward = functools.partial(checkpoint, module.forward, use_reentrant=False)"
    if plan.failure.phase in BEFORE_FORWARD and plan.failure.phase != "wrap":
        return
    given = "".join(f", {name}={value!r}" for name, value in settings.options)
    match settings.wrapper:
        case "ddp":
            devices = ", device_ids=[torch.cuda.current_device()]" if settings.device.startswith("cuda") else ""
            yield f"model = DistributedDataParallel(model{devices}{given})"
        case "fsdp2":
            yield f'mesh = init_device_mesh("{settings.device.partition(":")[0]}", ({settings.world},))'
            if plan.units:
                yield f"for path in {list(plan.units)}:"
                yield f"    fully_shard(model.get_submodule(path), mesh=mesh{given})"
            yield f"fully_shard(model, mesh=mesh{given})"
        case "fsdp1":
            if plan.units:
                yield f"units = [model.get_submodule(path) for path in {list(plan.units)}]"
                yield "policy = functools.partial(lambda_auto_wrap_policy, lambda_fn=lambda one: one in units)"
                given = f", auto_wrap_policy=policy{given}"
            yield f'model = FullyShardedDataParallel(model, device_id=torch.device("{settings.device}"){given})'
        case "fabric":
            yield (
                "strategy = DDPStrategy(cluster_environment=TorchElasticEnvironment(), "
                f'process_group_backend="{settings.backend}"{given})'
            )
            kind = settings.device.partition(":")[0]
            yield f'fabric = Fabric(accelerator="{kind}", devices={settings.world}, strategy=strategy)'
            yield "fabric.launch()"
            yield "model = fabric.setup_module(model)"
    if plan.optimizer:
        yield "optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)"
    if settings.compile:
        yield "compiled = torch.compile(model)"
