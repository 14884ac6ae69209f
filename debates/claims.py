"""What may be argued: a claim of 8 to 400 characters that a person can read."""

from __future__ import annotations

import unicodedata

import regex

SHORTEST, LONGEST = 8, 400
CONTROLS = regex.compile(r"[\p{Cc}\p{Cs}--[\n\r\t]]", regex.V1)
# Overrides, embeddings and isolates could reorder the page around the claim; real right-to-left text needs none.
BIDI = regex.compile("[\u202a-\u202e\u2066-\u2069]")
UNSEEN = regex.compile(r"[\p{Cf}\p{Zs}\p{Zl}\p{Zp}\s\u115f\u1160\u3164\uffa0\u2800]")


def clean_claim(text: str) -> str:
    """The claim in one line and in NFC. Raises ValueError with one sentence for the person who wrote it."""
    if CONTROLS.search(text):
        raise ValueError("The claim holds control characters. Type it as plain text.")
    claim = " ".join(BIDI.sub("", unicodedata.normalize("NFC", text)).split())
    if not UNSEEN.sub("", claim):
        raise ValueError("Write a claim: a sentence that somebody could argue against.")
    if len(claim) < SHORTEST:
        raise ValueError(f"The claim is too short: write at least {SHORTEST} characters.")
    if len(claim) > LONGEST:
        raise ValueError(f"The claim has {len(claim)} characters: {LONGEST} is the most.")
    return claim
