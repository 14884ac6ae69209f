"""What a model writes to its own template or to itself, never to a reader: reasoning and chat-template tokens.

- A reasoning block (`<think>…</think>` and its kin) goes with all that is in it. One that is never closed goes to
  the end: the answer was never begun.
- What follows a marker for another role (`<|im_start|>user`) goes up to the next marker for the assistant.
- A tag right after a backtick is spoken about, not used: it stays.
- A closing tag that was never opened: see `Unspoken`.
"""

from __future__ import annotations

from collections.abc import Iterator

import regex

_THINK = "(?i:think|thinking|thought|reasoning|scratchpad)"
_THINK_OPENS = rf"[<◁]{_THINK}[>▷]|\[THINK\]"
_THINK_CLOSES = rf"[<◁]/{_THINK}[>▷]|\[/THINK\]"
_ROLE = r"<\|(?:im_start|start)\|>|<start_of_turn>|<\|start_header_id\|>"
_ASSISTANT = rf"(?:{_ROLE})(?:assistant|model)|<\|assistant\|>"
_OTHER_ROLE = rf"(?:{_ROLE})(?:system|user|tool|human|developer|ipython)|<\|(?:system|user|tool)\|>"
_TOKEN = (
    r"<\|[\w▁./-]{1,40}\|>|<｜[\w▁./-]{1,40}｜>|</?s>|<(?:bos|eos|pad|unk|end_of_utterance)>"
    r"|<(?:start|end)_of_turn>|<</?SYS>>|\[/?(?:INST|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS)\]"
)
_CLOSES = {
    "think": regex.compile(_THINK_CLOSES),
    "channel": regex.compile(r"<\|(?:end|return|call)\|>|<\|channel\|>final"),
    "role": regex.compile(_ASSISTANT),
    "system": regex.compile("<</SYS>>"),
}
# A complete match wins over a partial one within one pattern, so what may go on stands in a pattern of its own.
_MARKS = (
    regex.compile(
        rf"(?P<think>{_THINK_OPENS})|(?P<stray>{_THINK_CLOSES})|(?P<channel><\|channel\|>(?:analysis|commentary))"
        rf"|(?P<role>{_OTHER_ROLE})|(?P<system><<SYS>>)|(?P<token>{_ASSISTANT}|<\|channel\|>final)"
    ),
    regex.compile(f"(?P<token>{_TOKEN})"),
)
_CANDIDATE = regex.compile(r"[<◁\[]")
_LONGEST = 80  # more than the longest token


def _match(patterns: tuple[regex.Pattern[str], ...], text: str, at: int) -> regex.Match[str] | None:
    """The first match, complete or partial."""
    return next(filter(None, (pattern.match(text, at, partial=True) for pattern in patterns)), None)


class Unspoken:
    """Takes reasoning and template tokens out of a stream; holds back at most one unfinished tag.

    A closing tag without an opening one means that all before it was reasoning. What has already been shown can't be
    taken back without breaking "streamed is sealed", so nothing is held for this case alone: `feed` yields None
    there, on which the reader of the stream drops whatever it still holds, if it has shown nothing yet; otherwise
    `leaked` should be set by it and the turn tried again with `reasoning=True`. That option is for models known to
    leave the opening tag out: everything up to the closing tag is then reasoning.
    """

    def __init__(self, reasoning: bool = False) -> None:
        self._tail = ""
        self._last = ""
        self._closes = _CLOSES["think"] if reasoning else None
        self._thought = reasoning
        self._gap = False  # something was taken out after a space: one more space would double it

    def feed(self, piece: str) -> Iterator[str | None]:
        """Yields what is spoken, and None where all before turned out to be reasoning."""
        raw, at = self._tail + piece, 0
        self._tail = ""
        while at < len(raw):
            candidate = _CANDIDATE.search(raw, at)
            start = candidate.start() if candidate else len(raw)
            yield from self._say(raw[at:start])
            if candidate is None:
                return
            hit = _match((self._closes,) if self._closes else _MARKS, raw, start)
            if hit and hit.partial:
                self._tail = raw[start:]
                return
            yield from self._take(hit, raw[start : start + 1])
            at = hit.end() if hit else start + 1

    def finish(self) -> str:
        """A tag that was never finished is text, unless it stands in what is hidden."""
        return "" if self._closes else self._tail

    def _say(self, text: str) -> Iterator[str]:
        if self._closes or not text:
            return
        if self._gap and text.startswith(" "):
            text = text[1:]
        self._gap = False
        self._last = (self._last + text)[-_LONGEST:]
        yield text

    def _take(self, hit: regex.Match[str] | None, char: str) -> Iterator[str | None]:
        if hit is None:
            yield from self._say(char)
        elif self._closes:
            self._closes = None
            self._gap = self._last[-1:] in ("", " ", "\n")
        elif hit.lastgroup in ("think", "stray") and self._last.endswith("`"):
            yield from self._say(hit.group())
        elif hit.lastgroup == "stray" and not self._thought:
            self._thought, self._last = True, ""
            yield None
        else:
            yield from self._seam()
            self._gap = self._last[-1:] in ("", " ", "\n")
            self._closes = _CLOSES.get(hit.lastgroup or "")
            self._thought |= hit.lastgroup == "think"

    def _seam(self) -> Iterator[str]:
        """A space, where the two sides of what is taken out could join into another token."""
        starts = [found.start() for found in _CANDIDATE.finditer(self._last)][-2:]
        if any(_match(_MARKS, self._last, start) for start in starts):
            yield from self._say(" ")
