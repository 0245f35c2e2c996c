"""Data files, written and read: real HDF5 files, good ones and every kind of bad one."""

import gzip
import multiprocessing
import os
import pickle
import subprocess
import tracemalloc

import h5py
import numpy as np
import pytest
import torch
from small_disk import disk

from diagnostics.api import DoctorError
from ups.config import DataConfig, GenerateConfig
from ups.data.convert import ConvertOptions, convert
from ups.data.datasets import FrameDataset, PairDataset
from ups.data.fields import FieldReader, FieldSpec, data_file, open_data, open_spec
from ups.data.generate import generate
from ups.data.info import describe
from ups.data.normalisation import Normalisation, from_training_split
from ups.data.recipe import build_recipe, recipe_for
from ups.data.splits import split_samples
from ups.errors import ConfigError, DataError


def make(root, task="advection1d", **changes):
    settings = GenerateConfig(**({"samples": 10, "resolution": 16, "frames": 6} | changes))
    config = DataConfig(task=task, parameter=0.4, root=root, generate=settings)
    generate(recipe_for(config), data_file(config))
    return config


def write(path, **datasets):
    with h5py.File(path, "w") as file:
        for name, values in datasets.items():
            file[name.replace("_", "-")] = values
    return path


def trajectories(samples=4, frames=5, cells=8):
    u = np.random.default_rng(0).normal(size=(samples, frames, cells)).astype(np.float32)
    return {"tensor": u, "x_coordinate": np.arange(cells) + 0.5, "t_coordinate": np.arange(frames + 1.0)}


def refusal(call, *arguments, **options):
    with pytest.raises(DataError) as refused:
        call(*arguments, **options)
    return refused.value.message


def test_a_generated_file_has_the_layout_of_pdebench(tmp_path):
    make(tmp_path)
    make(tmp_path, "darcy2d")
    with h5py.File(tmp_path / "1D_Advection_Sols_beta0.4.hdf5") as file:
        assert {name: item.shape for name, item in file.items()} == {
            "tensor": (10, 6, 16),
            "x-coordinate": (16,),
            "t-coordinate": (7,),
        }
        assert (file["tensor"].dtype, file.attrs["beta"]) == (np.float32, 0.4)
    with h5py.File(tmp_path / "2D_DarcyFlow_beta0.4_Train.hdf5") as file:
        assert {name: item.shape for name, item in file.items()} == {
            "nu": (10, 16, 16),
            "tensor": (10, 1, 16, 16),
            "x-coordinate": (16,),
            "y-coordinate": (16,),
        }


def test_strides_and_limits_read_what_slicing_the_whole_file_reads(tmp_path):
    content = trajectories()
    path = write(tmp_path / "x_beta1.0.hdf5", **content)
    spec = open_spec(path, task="advection1d", time_stride=2, space_stride=3, max_samples=3)
    assert (spec.samples, spec.frames, spec.grid, spec.times.tolist()) == (3, 3, (3,), [0, 2, 4])
    np.testing.assert_array_equal(FieldReader(spec).frames(1, 1, 3)[..., 0], content["tensor"][1, 2:5:2, ::3])
    assert FieldSpec.from_dict(spec.to_dict()).to_dict() == spec.to_dict()


def test_the_bytes_do_not_depend_on_the_number_of_processes(tmp_path):
    recipe = build_recipe("darcy2d", 1.0, GenerateConfig(samples=40, resolution=8))
    generate(recipe, tmp_path / "one", jobs=1)
    generate(recipe, tmp_path / "two", jobs=2)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    assert not multiprocessing.active_children()


def test_a_file_of_the_same_recipe_is_kept_and_of_another_refused(tmp_path):
    path = data_file(make(tmp_path))
    before = (path.read_bytes(), path.stat().st_ino, path.stat().st_mtime_ns)
    same = build_recipe("advection1d", 0.4, GenerateConfig(samples=10, resolution=16, frames=6))
    other = build_recipe("advection1d", 0.4, GenerateConfig(samples=11, resolution=16, frames=6))
    assert generate(same, path) is False
    # Reading it to compare the recipe is allowed, and moves the time of access.
    assert (path.read_bytes(), path.stat().st_ino, path.stat().st_mtime_ns) == before
    with pytest.raises(ConfigError) as refused:
        generate(other, path)
    assert refused.value.message == f"{path} is there already, made with samples 10 instead of 11"
    assert generate(other, path, overwrite=True) is True
    assert open_spec(path, task="advection1d").samples == 11


def test_a_file_from_elsewhere_is_never_overwritten(tmp_path):
    path = write(tmp_path / "pdebench.hdf5", **trajectories())
    recipe = build_recipe("advection1d", 0.4, GenerateConfig())
    with pytest.raises(ConfigError, match="was not made by ups data generate; it is never overwritten"):
        generate(recipe, path, overwrite=True)


def test_a_disk_that_nobody_may_write_to_is_told_of_the_file_that_was_wanted(tmp_path):
    recipe = build_recipe("advection1d", 0.4, GenerateConfig())
    with disk(tmp_path / "disk", 1 << 24) as small:
        subprocess.run(["mount", "-o", "remount,ro", str(small)], check=True)
        with pytest.raises(
            DoctorError, match=r"cannot write the data file .*/disk/new.hdf5: the file system is read-only"
        ):
            generate(recipe, small / "new.hdf5")


def test_bad_files_are_named_with_what_is_wrong(tmp_path):
    good = write(tmp_path / "beta1.0.hdf5", **trajectories(samples=400))
    cut = tmp_path / "cut.hdf5"
    cut.write_bytes(good.read_bytes()[:30000])
    text = tmp_path / "text.hdf5"
    text.write_text("no HDF5 at all, though long enough to look into" * 100)
    other = write(tmp_path / "other.hdf5", data=np.zeros(3))
    flat = write(tmp_path / "flat.hdf5", **(trajectories() | {"tensor": np.zeros((4, 8), np.float32)}))
    size = good.stat().st_size
    task = {"task": "advection1d"}
    assert refusal(open_spec, tmp_path / "none", **task) == f"there is no data file {tmp_path / 'none'}"
    assert refusal(open_spec, cut, **task) == (
        f"{cut} is truncated: it is 30000 bytes long and says that it holds {size}"
    )
    assert refusal(open_spec, text, **task) == f"{text} is not an HDF5 file"
    assert refusal(open_spec, other, **task) == (
        f"{other} has no dataset 'tensor', 'x-coordinate', 't-coordinate', which advection1d needs; it has 'data'"
    )
    assert refusal(open_spec, flat, **task) == (
        f"{flat}: 'tensor' has shape (4, 8), advection1d needs (samples, frames, x)"
    )
    assert refusal(open_spec, good, parameter=2.0, **task) == (
        f"{good} holds advection1d with beta = 1, the configuration asks for 2"
    )


def test_nan_is_named_with_its_sample_and_frame(tmp_path):
    content = trajectories()
    content["tensor"][2, 3, 5] = np.nan
    path = write(tmp_path / "beta1.0.hdf5", **content)
    reader = FieldReader(open_spec(path, task="advection1d"))
    assert refusal(from_training_split, reader, np.arange(4)) == (
        f"{path}: field 'u' holds NaN or infinite values in sample 2, frame 3"
    )
    facts = describe(path)["datasets"]["tensor"]
    assert (facts["not_finite"], facts["first_not_finite"]) == (1, [2, 3, 5])


def test_test_is_first_then_validation_and_none_may_be_empty(tmp_path):
    config = DataConfig(task="darcy2d")
    splits = split_samples(20, config)
    assert [part.tolist() for part in (splits.test, splits.validation, splits.train)] == [
        [0, 1],
        [2, 3],
        list(range(4, 20)),
    ]
    assert refusal(split_samples, 2, config) == (
        "2 samples are too few: test takes 1, validation 1, and none is left for training"
    )


def test_statistics_are_those_of_the_training_samples_alone(tmp_path):
    reader = FieldReader(open_data(make(tmp_path)))
    found = from_training_split(reader, np.arange(4, 10))
    values = np.stack([reader.frames(sample, 0, 6) for sample in range(4, 10)]).astype(np.float64)
    np.testing.assert_allclose((found.mean["u"][0], found.std["u"][0]), (values.mean(), values.std()), rtol=1e-12)
    found.save(tmp_path / "n.json")
    assert Normalisation.load(tmp_path / "n.json") == found
    u = torch.randn(3, 5, 1)
    torch.testing.assert_close(found.denormalise("u", found.normalise("u", u)), u)
    assert found.digest() != from_training_split(reader, np.arange(3, 10)).digest()


def test_items_are_steps_of_a_trajectory_and_maps_of_a_steady_problem(tmp_path):
    reader = FieldReader(open_data(make(tmp_path)))
    found = from_training_split(reader, np.arange(10))
    pairs = PairDataset(reader, np.array([3, 7]), found)
    item = pairs[6]
    assert (len(pairs), item["sample"], item["frame"]) == (10, 7, 1)
    np.testing.assert_allclose(item["cond"], [0.4, 0.4, np.log10(0.4)], rtol=1e-6)
    np.testing.assert_allclose(found.denormalise("u", item["u_out"]).numpy(), reader.frames(7, 2, 3)[0], atol=1e-6)
    reader = FieldReader(open_data(make(tmp_path, "darcy2d")))
    found = from_training_split(reader, np.arange(10))
    item, frames = PairDataset(reader, np.array([3, 7]), found)[1], FrameDataset(reader, np.array([3, 7]), found)
    assert (item["sample"], item["u_in"].shape, len(frames)) == (7, (16, 16, 1), 4)
    assert torch.equal(frames[2]["u"], item["u_in"])
    assert torch.equal(frames[3]["u"], item["u_out"])
    assert [frames[index]["field"] for index in range(4)] == [0, 1, 0, 1]


def test_a_reader_that_is_open_travels_by_pickle_and_by_fork(tmp_path):
    reader = FieldReader(open_data(make(tmp_path)))
    expected = reader.frames(2, 1, 3)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(reader)).frames(2, 1, 3), expected)  # noqa: S301
    dataset = PairDataset(reader, np.arange(10), from_training_split(reader, np.arange(10)))
    loader = torch.utils.data.DataLoader(dataset, batch_size=8, num_workers=1, multiprocessing_context="fork")
    assert torch.equal(next(iter(loader))["u_in"][3], dataset[3]["u_in"])


def test_reading_a_frame_of_a_large_file_takes_the_memory_of_the_frame(tmp_path):
    path = write(tmp_path / "beta1.0.hdf5", **trajectories(samples=64, frames=64, cells=1024))
    reader = FieldReader(open_spec(path, task="advection1d"))
    reader.frames(0, 0, 1)
    tracemalloc.start()
    for sample in range(64):
        reader.frames(sample, 3, 5)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 200_000 < path.stat().st_size / 50


@pytest.mark.parametrize(
    "content", [b"no file of torch", pickle.dumps(print, protocol=2), gzip.compress(b"x", mtime=0)]
)
def test_what_is_no_tensor_file_is_refused_without_torchs_unsafe_advice(tmp_path, content):
    (tmp_path / "odd.pt").write_bytes(content)
    message = refusal(convert, [tmp_path / "odd.pt"], "darcy2d", tmp_path, ConvertOptions())
    assert message == (
        f"{tmp_path}/odd.pt cannot be read as tensors saved by torch: "
        "it holds something else than tensors in plain containers, or torch.save did not write it"
    )


def test_a_pipe_in_place_of_a_file_makes_nobody_wait(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    assert refusal(convert, [tmp_path / "pipe"], "darcy2d", tmp_path, ConvertOptions()) == (
        f"{tmp_path}/pipe is no regular file"
    )
    assert refusal(open_spec, tmp_path / "pipe", task="darcy2d") == (
        f"{tmp_path}/pipe is no regular file, and cannot be read as HDF5"
    )


def test_converted_darcy_keeps_the_order_of_its_sources(tmp_path):
    for name, count in (("test", 2), ("train", 3)):
        x = torch.rand(count, 4, 4) > 0.5
        torch.save({"x": x, "y": torch.full((count, 4, 4), float(count))}, tmp_path / f"{name}.pt")
    path = convert([tmp_path / "test.pt", tmp_path / "train.pt"], "darcy2d", tmp_path, ConvertOptions())
    with h5py.File(path) as file:
        assert file["tensor"][:, 0, 0, 0].tolist() == [2, 2, 3, 3, 3]
        assert set(np.unique(file["nu"])) <= {0.0, 1.0}
        assert file.attrs["permeability_of_false_and_true"].tolist() == [0, 1]


def test_real_files_convert_and_read(tmp_path, real_data):
    sources = [real_data / "darcy_test_16.pt", real_data / "darcy_train_16.pt"]
    spec = open_spec(convert(sources, "darcy2d", tmp_path, ConvertOptions()), task="darcy2d")
    assert (spec.samples, spec.grid) == (1050, (16, 16))
    path = convert([real_data / "burgers_train_16.pt"], "burgers1d", tmp_path, ConvertOptions())
    spec = open_spec(path, task="burgers1d")
    assert (spec.samples, spec.frames, spec.times[-1]) == (800, 17, 1.0)
    assert spec.parameter == pytest.approx(0.01 * np.pi, rel=1e-5)
