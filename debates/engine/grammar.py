"""Grammars for llama.cpp (GBNF) that hold a speech to whole sentences and to exact quotes.

A sentence is words of letters with single spaces and commas: no digit, bracket, colon, mark of Markdown, quotation mark
or line break can be said. Its length is never bounded: a bound makes a small model break words off to meet it.
"""

from __future__ import annotations

from collections.abc import Sequence

LETTER = "a-zA-ZÀ-ÖØ-öø-ÿ"
RULES = rf"""
sentence ::= [A-Z] [{LETTER}]* joined* tail end
question ::= word tail "?"
statement ::= word tail "."
tail ::= (","? " " word)*
word ::= [{LETTER}]+ joined*
joined ::= "'" [{LETTER}]+ | "-" [{LETTER}]+
end ::= "." | "?" | "!"
"""
ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def literal(text: str) -> str:
    """A text as a GBNF literal. Everything beyond ASCII stands as it is: a grammar is UTF-8."""
    return '"' + "".join(ESCAPES.get(letter) or _shown(letter) for letter in text) + '"'


def _shown(letter: str) -> str:
    return f"\\x{ord(letter):02X}" if ord(letter) < 32 or ord(letter) == 127 else letter


def one_of(texts: Sequence[str]) -> str:
    return "(" + " | ".join(literal(text) for text in texts) + ")"


def more(least: int, most: int) -> str:
    """Further sentences, each after a space."""
    return f'(" " sentence){{{least},{most}}}'


def grammar(root: str) -> str:
    """The whole grammar for a root made of literals and of the rules above."""
    return f"root ::= {root}{RULES}"
