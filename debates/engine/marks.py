"""The queue in which text waits behind marks that are not decided yet: emphasis, brackets, and the number of what may
be the first item of a list. Nothing waits for more than `HOLD` characters."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import regex

HOLD = 200

_CODE = regex.compile(r"[\p{Ll}_/.]")  # how `**kwargs` and `*.py` go on, and prose seldom does
_ADDRESS = regex.compile(r"[/.:#]")
_PAIRS = frozenset({"()", "[]", '""', "''", "“”", "‘’", "«»", "‹›", "「」", "„“"})  # around a mark spoken about


def _joins(char: str, run: str) -> bool:
    """Whether a mark beside this character stands inside a word or a product. `**` may touch letters of scripts in
    which nobody writes code: 这是**重点**内容."""
    strict = len(run) == 1 or run[0] == "_"
    return char.isalnum() and (strict or char < "\u0400" or char.isdigit())


def _opens(before: str, run: str, after: str) -> bool:
    return not (after.isspace() or after in ")]},;:" or (before and before in ")]}") or _joins(before, run))


def _closes(before: str, run: str, after: str) -> bool:
    return not (not before or before.isspace() or before in "([{¿¡$€£" or after in "([{" or _joins(after, run))


@dataclass(slots=True, eq=False)
class Mark:
    """A mark that is not decided yet. `text` is what is shown of it if it turns out to be none, `at` counts the
    characters before it. `prose` tells that it is more likely a mark than a piece of code."""

    text: str
    at: int
    prose: bool
    held: bool = True


class Marks:
    """Text in, text out, in order; a mark waits for its partner, and what follows it waits too."""

    def __init__(self) -> None:
        self._queue: deque[str | Mark] = deque()
        self._out: list[str] = []
        self._open: dict[str, list[Mark]] = {sign: [] for sign in "*_~["}
        self._alone: dict[str, str] = {}  # closing runs whose opening half is gone already
        self._item: Mark | None = None  # the "1. " of what may be a list
        self._next = 0  # the number with which a list goes on
        self._footnotes = 0

    def say(self, text: str) -> None:
        if self._queue:
            self._queue.append(text)
        else:
            self._out.append(text)

    def let_go(self, at: int) -> None:
        """Passes on what waits for nothing, or has waited for HOLD characters at position `at`."""
        while self._queue:
            item = self._queue[0]
            if isinstance(item, Mark) and item.held:
                if at - item.at <= HOLD:
                    return
                self._give_up(item)
            self._out.append(item.text if isinstance(item, Mark) else item)
            self._queue.popleft()

    def taken(self) -> str:
        """What was passed on since the last call."""
        said = "".join(self._out)
        self._out.clear()
        return said

    def emphasis(self, run: str, at: int, before: str, after: str) -> None:
        """A run of one to three equal signs, between two characters ("" at the start of a line)."""
        if (run[0] == "~" and run != "~~") or before + after in _PAIRS:
            return self.say(run)
        left = self._close(run) if _closes(before, run, after) else run
        if left == run and _opens(before, run, after):
            return self._hold(self._open[run[0]], Mark(run, at, prose=not _CODE.match(after)))
        self._footnotes += left == run == "*" and not before.isspace()
        return self.say(left)

    def footnote(self) -> bool:
        """Whether a `*` at the start of a line is the note to an earlier `price*`, and no bullet."""
        noted = self._footnotes > 0
        self._footnotes -= noted
        return noted

    def bracket(self, text: str, at: int, before: str) -> None:
        """The `[` or `![` that a link or an image may begin with."""
        self._hold(self._open["["], Mark(text, at, prose=not _joins(before, text)))

    def in_bracket(self) -> bool:
        stack = self._open["["]
        while stack and not stack[-1].held:
            stack.pop()
        return bool(stack)

    def close_bracket(self, address: str | None) -> bool:
        """Settles the last bracket; True if it made a link. `calls[name](value)` is none."""
        mark = self._open["["].pop()
        mark.held = False
        if address is None or not (mark.prose or _ADDRESS.search(address)):
            return False
        if mark.text == "![":
            self._drop_from(mark)
        mark.text = ""
        return True

    def number(self, text: str, number: int, at: int, sure: bool) -> None:
        """A line that begins like an item of a list. `1.` alone may be an ordinal (1. Bundesliga): it waits for `2.`"""
        if 0 < number == self._next:
            self._next += 1
            self._settle_item("")
        elif number == 1:
            self._settle_item()
            self._next = 2
            if not sure:
                self._item = Mark(text, at, prose=False)
                self._queue.append(self._item)
        else:
            self.say(text)

    def end_line(self) -> None:
        """A link's text never goes over the end of a line."""
        self._end("[")

    def end_paragraph(self) -> None:
        """Emphasis never goes over the end of a paragraph."""
        self._end("*_~[")
        self._alone.clear()

    def end(self, cut: bool) -> None:
        """Nothing more comes. Where the text was `cut`, the partner of a mark that opens prose was lost with it."""
        for mark in [mark for stack in self._open.values() for mark in stack if cut and mark.held]:
            self._give_up(mark, cut)
        self.end_paragraph()
        self._settle_item()

    def _hold(self, stack: list[Mark], mark: Mark) -> None:
        stack.append(mark)
        self._queue.append(mark)

    def _close(self, run: str) -> str:
        """Pairs a closing run with what is open, and returns what of it found no partner."""
        stack = self._open[run[0]]
        while run and stack:
            mark = stack[-1]
            if mark.held and len(run) < len(mark.text) < 3:
                return run
            if mark.held:
                used = min(len(run), len(mark.text))
                run, mark.text = run[used:], mark.text[used:]
            mark.held = bool(mark.held and mark.text)
            if not mark.held:
                stack.pop()
        return "" if run and self._alone.pop(run, "") else run

    def _give_up(self, mark: Mark, cut: bool = False) -> None:
        """A mark without a partner is text. One that opens prose is more likely long bold, or cut before its end."""
        mark.held = False
        if mark is self._item:
            self._item, self._next = None, 0
        elif mark.prose and mark.text[0] in "*_~" and (cut or len(mark.text) > 1):
            self._alone[mark.text] = mark.text
            mark.text = ""

    def _settle_item(self, text: str | None = None) -> None:
        if self._item:
            self._item.text = self._item.text if text is None else text
            self._item.held = False
            self._item = None

    def _drop_from(self, mark: Mark) -> None:
        while (item := self._queue.pop()) is not mark:
            if isinstance(item, Mark):
                item.held = False

    def _end(self, signs: str) -> None:
        for sign in signs:
            for mark in self._open[sign]:
                mark.held = False
            self._open[sign].clear()
