"""Takes Markdown's marks out of a stream of text and leaves everything else as it is.

`2*3*4`, `**kwargs`, `__init__`, `snake_case`, `C#`, `> 5 ms` and the footnote `price*` are text, and so is a mark that
never finds its partner. What can only be decided by what comes next is held back, for at most `HOLD` characters in
the queue of marks and as many in a token that isn't whole. Beyond that a mark is text; but one that opens prose
(`**The point …`) goes, and so does its partner. Two things can't be told apart and stay: `__init__` and a single word
in `__bold__`; a lone `*` inside a word of any script.
"""

from __future__ import annotations

import regex

from .marks import HOLD, Marks

# A complete match wins over a partial one within one pattern, so alternatives of which one can begin another stand in
# two patterns, tried in order.
_WHOLE_LINE = regex.compile(
    r"[ \t]*(?:(?P<blank>(?:>[ \t]*)?\n)"
    r"|(?P<fence>(?P<ticks>`{3,}|~{3,})[ \t]*(?P<info>[^`\n]*)\n)"
    r"|(?P<rule>(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,}|={3,}[ \t]*)\n)"
    r"|(?P<reply>\#{3}[ \t]*(?:Response|Assistant)[ \t]*:)"
    r"|(?P<prompt>\#{3}[ \t]*(?:Instruction|Human)[ \t]*:))"
)
_LINE_START = regex.compile(
    r"[ \t]*(?:(?P<heading>\#{1,6}[ \t]+(?=\S))"
    r"|(?P<bullet>(?P<sign>[-*+•])[ \t]+(?=\S))"
    r"|(?P<number>(?P<n>[0-9]{1,2})[.)][ \t]+(?=(?P<bold>\*\*)|\*[^*]|[^\s0-9*]))"
    r"|(?P<quote>(?:>[ \t]*)+(?<=[ \t])(?=[\p{L}\"“«‘„「*_\[])))"
)
_FENCE_END = regex.compile(r"[ \t]*(?P<ticks>`{3,}|~{3,})[ \t]*\n")
_DUNDER = regex.compile(r"(?P<dunder>__[A-Za-z0-9]+(?:_[A-Za-z0-9]+)*__(?=\W))")
_TOKEN = regex.compile(
    r"(?P<newline>\n)"
    r"|(?P<escape>\\(?P<sign>[*_`\#~]))"
    r"|(?P<code>(?P<ticks>`++)(?P<inside>(?:[^`\n]++|(?!(?P=ticks)[^`])`++)++)(?P=ticks)(?=[^`]))"
    r"|(?P<mark>(?P<one>[*_~])(?P=one){0,2}(?!(?P=one))(?=(?P<after>.)))"
    r"|(?P<bracket>!?\[)"
    r"|(?P<link>\]\([ \t]*(?P<address>[^\s()\[\]]*+(?:\([^\s()\[\]]*+\)[^\s()\[\]]*+)*+)"
    r"(?:[ \t]+\"[^\"\n]*\")?[ \t]*\))",
    regex.DOTALL,
)
_SPECIAL = regex.compile(r"[*_~`\[\]!\\\n]")
_NEWLINE = regex.compile(r"\n")
_RUN = regex.compile(r"(.)\1*", regex.DOTALL)


class Markdown:
    """Feed it pieces and show what it returns. Its state depends on the characters seen, never on how they were cut.

    `closed` is True once a model trained on prompts goes on to the next one (`### Instruction:`): nothing after that
    is returned.
    """

    def __init__(self) -> None:
        self.closed = False
        self._raw = ""  # not read yet
        self._at = 0  # how many characters came before it
        self._before = ""  # the character before it, "" at the start of a line
        self._solid = ""  # the last character that was no space
        self._line_start = True
        self._fence = ""
        self._verbatim = False
        self._marks = Marks()

    def feed(self, piece: str) -> str:
        self._raw += piece
        at = 0
        while not self.closed and at < len(self._raw) and (size := self._read(at)):
            at += size
        self._raw, self._at = self._raw[at:], self._at + at
        self._marks.let_go(self._at)
        return self._marks.taken()

    def finish(self, cut: bool) -> str:
        """The rest. Call it once; `cut` tells that the text broke off."""
        said = self.feed("\n")
        self._marks.end(cut)
        self._marks.let_go(self._at)
        return said + self._marks.taken() + ("" if self.closed else self._raw)

    def _read(self, at: int) -> int:
        """Reads on at `at`; returns how many characters it took, 0 where more must come first."""
        self._marks.let_go(self._at + at)
        if self._line_start:
            return self._read_line_start(at)
        special = ((self._verbatim and _NEWLINE) or _SPECIAL).search(self._raw, at)
        end = special.start() if special else len(self._raw)
        return self._say(self._raw[at:end]) if end > at else self._read_token(at)

    def _match(self, at: int, *patterns: regex.Pattern[str]) -> tuple[regex.Match[str] | None, bool]:
        """The first match within HOLD characters, and whether it is too early to tell."""
        end = min(len(self._raw), at + HOLD)
        for pattern in patterns:
            found = pattern.match(self._raw, at, end, partial=True)
            if found and not found.partial:
                return found, False
            if found and end - at < HOLD:
                return None, True
        return None, False

    def _say(self, text: str) -> int:
        self._before = text[-1]
        self._solid = text.rstrip()[-1:] or self._solid
        self._marks.say(text)
        return len(text)

    # The start of a line

    def _read_line_start(self, at: int) -> int:
        found, wait = self._match(at, _FENCE_END) if self._fence else (None, False)
        if found and found["ticks"].startswith(self._fence):
            self._fence, self._verbatim = "", False
            return len(found.group())
        if not wait and not self._verbatim:
            found, wait = self._match(at, _WHOLE_LINE, _LINE_START)
        if wait:
            return 0
        if found is None or self._verbatim:
            self._line_start = False
            return self._read(at)
        self._begin(found)
        return len(found.group())

    def _begin(self, found: regex.Match[str]) -> None:
        """A line that begins with a mark. Behind a bullet and a quote's `>` another mark may stand."""
        kind = found.lastgroup
        self._line_start = kind not in ("heading", "number", "reply")
        self.closed = kind == "prompt"
        if kind != "quote":
            self._marks.end_paragraph()
        if kind in ("blank", "rule"):
            self._say("\n")
            self._before = ""
        elif kind == "fence":
            self._fence = found["ticks"]
            self._verbatim = found["info"].strip().lower() not in ("markdown", "md")
        elif kind == "bullet" and found["sign"] == "*" and self._marks.footnote():
            self._line_start = False
            self._say(found.group())
        elif kind == "number":
            sure = ")" in found.group() or bool(found["bold"]) or self._solid == ":"
            self._marks.number(found.group(), int(found["n"]), self._at + found.start(), sure)

    # Within a line

    def _read_token(self, at: int) -> int:
        char = self._raw[at]
        if char == self._before and char in "*_~`":
            return self._say_run(at)
        if char == "]" and not self._marks.in_bracket():
            return self._say(char)
        found, wait = self._match(at, *((_DUNDER, _TOKEN) if char == "_" else (_TOKEN,)))
        if wait:
            return 0
        if found:
            return self._take(found, self._at + at)
        if char == "]":
            self._marks.close_bracket(None)
        return self._say_run(at) if char in "*_~`" else self._say(char)

    def _say_run(self, at: int) -> int:
        run = _RUN.match(self._raw, at)
        return self._say(run.group() if run else "")

    def _take(self, found: regex.Match[str], at: int) -> int:
        token, before = found.group(), self._before
        self._before = token[-1]
        match found.lastgroup:
            case "newline":
                self._say(token)
                self._marks.end_line()
                self._line_start, self._before = True, ""
            case "escape":
                self._say(found["sign"])
                self._before = "\\"
            case "code":
                self._say(found["inside"])
                self._before = "`"
            case "mark":
                self._marks.emphasis(token, at, before, found["after"])
            case "bracket":
                self._marks.bracket(token, at, before)
            case "link" if self._marks.close_bracket(found["address"]):
                pass
            case "link":
                return self._say("]")
            case _:
                self._say(token)
        return len(token)
