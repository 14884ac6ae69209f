"""The debates that a visitor sees first: documents (docs/document.md), each labelled for what it is.

A file's name is its sample's slug, from which the debate's token is derived: the same on every installation, since a
sample is no secret, and the same after its file has changed.
"""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

from ..models import TOKEN_ALPHABET, TOKEN_LENGTH

FOLDER = Path(__file__).parent
# The order in which samples are offered, English first. A file that isn't named here comes after these.
OFFERED = ("surgeons-count", "remote-work", "briefe-verbrennen")


def sample_files() -> list[Path]:
    """The documents in the order in which they should be offered."""
    return sorted(FOLDER.glob("*.json"), key=lambda path: (_place(path.stem), path.stem))


def sample_tokens() -> list[str]:
    """The samples' tokens in the order in which they should be offered. One may not have been loaded yet."""
    return [sample_token(path.stem) for path in sample_files()]


def sample_token(slug: str) -> str:
    number = int.from_bytes(sha256(f"sample {slug}".encode()).digest())
    base = len(TOKEN_ALPHABET)
    return "".join(TOKEN_ALPHABET[number // base**place % base] for place in range(TOKEN_LENGTH))


def _place(slug: str) -> int:
    return OFFERED.index(slug) if slug in OFFERED else len(OFFERED)
