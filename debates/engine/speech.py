"""A speech as a reader may see it: what models add to their words is taken out while the words stream.

The text that streamed is the text that is sealed. Five filters stand in a row, each of which depends only on the
characters it has seen, never on how they were cut into pieces: characters that no text needs, reasoning and template
tokens (`unspoken`), Markdown (`markdown`), speakers' labels (`labels`), white space and the cap on words. Together
they hold back nothing of ordinary prose but a character or two, and at most `LONGEST_HOLD` characters where a mark,
an address or a tag is not finished.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import regex

from .labels import Labels
from .markdown import Markdown
from .marks import HOLD
from .sentences import DENSE, broken_off, whole_sentences
from .unspoken import Unspoken

LONGEST_HOLD = 3 * HOLD

_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_BREAK = re.compile("\r\n?|[\x0b\x0c\x85\u2028\u2029]")
_GONE = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufeff"
    "\u202a-\u202e\u2066-\u2069"  # bidirectional embeddings, overrides and isolates
    "\U000e0000-\U000e007f]"  # tag characters: invisible text
)
_SPACES = re.compile(r"\s{2,}")
_WORD = regex.compile(rf"(?P<gap>[\s—–]++)|(?P<dense>[{DENSE}])|(?P<run>[^\s—–{DENSE}]++)")
_LETTER = regex.compile(r"[\p{L}\p{N}]")

_MARKER = regex.compile(r"\[\p{L}{1,10}[ -]?[0-9]+\]|[0-9#*]\ufe0f?\u20e3")  # [SRC-1], a keycap emoji
_BRACKETED = regex.compile(r"\[[^\[\]]{0,60}\]|<[^<>]{0,60}>|\([^()]{0,60}\)|\{[^{}]{0,60}\}")
_LABEL = regex.compile(r"[\p{L}\p{M} '’-]{1,40}(?:\([^()]{0,40}\))?\s*[:：]")
_NO_WORDS = frozenset(
    {"n/a", "na", "n.a", "none", "null", "nil", "nan", "undefined", "tbd", "tba", "todo", "placeholder", "empty"}
    | {"no answer", "no response", "no content", "no output", "no comment", "lorem ipsum", "your answer here"}
)


def count_words(text: str) -> int:
    """Words where a script puts spaces between them; a letter of one that doesn't (Chinese, Japanese, Thai …) is half
    a word. Korean is counted by its spaces."""
    cap = _WordCap(len(text) + 1)
    cap.feed(text)
    return (cap.halves + 1) // 2


def placeholder(text: str) -> bool:
    """Whether a turn says nothing: empty, dots, "N/A", only a marker, an emoji, a speaker's name, "[your answer]"."""
    bare = _MARKER.sub("", text).strip()
    if not _LETTER.search(bare) or _BRACKETED.fullmatch(bare) or _LABEL.fullmatch(bare):
        return True
    return " ".join(bare.casefold().strip(" .!…\"'*_-[]()<>").split()) in _NO_WORDS


class SpeechFilter:
    """One speech. Show what `feed` returns; stop the stream once `closed`; then `finish`, and seal `text`.

    `words` caps the speech: what would begin one word more is not shown, and `full` is True. `cut_at_other` names the
    bench whose line ended the speech. `leaked` is True where a closing reasoning tag showed, too late, that what had
    been shown was reasoning: such a speech is worth a new attempt with `reasoning=True` (see `Unspoken`).
    """

    def __init__(
        self,
        words: int,
        own_names: Iterable[str] = (),
        other_names: Iterable[str] = (),
        *,
        reasoning: bool = False,
    ) -> None:
        self.cut_at_other: str | None = None
        self.leaked = False
        self._names = tuple(own_names), tuple(other_names)
        self._shown: list[str] = []
        self._within_word = False  # whether what was fed ends inside a word
        self._characters = _Characters()
        self._unspoken = Unspoken(reasoning)
        self._cap = _WordCap(words)
        self._begin()

    @property
    def text(self) -> str:
        """All that was shown; after `finish` all that may be sealed."""
        if len(self._shown) > 1:
            self._shown = ["".join(self._shown)]
        return "".join(self._shown)

    @property
    def full(self) -> bool:
        """Whether the speech went beyond its words: then it is cut."""
        return self._cap.full

    @property
    def closed(self) -> bool:
        """Whether nothing that may still come would be shown."""
        return self.full or self.cut_at_other is not None or self._markdown.closed

    def feed(self, piece: str) -> str:
        """What may be shown now."""
        if self.closed:
            return ""
        self._within_word = not piece[-1].isspace() if piece else self._within_word
        shown, said = "", []
        for text in self._unspoken.feed(self._characters.feed(piece)):
            if text is not None:
                said.append(text)
                continue
            shown += self._show("".join(said))
            said.clear()
            if self.closed:
                return shown
            self._forget()
        return shown + self._show("".join(said))

    def finish(self, cut: bool) -> str:
        """The rest. Where the provider `cut` the speech, or its words ran out, `text` ends with its last whole
        sentence, so it may be shorter than what was shown. Without any sentence's end it keeps the whole words and
        gets an ellipsis: it is never empty if something was said."""
        shown = self.text
        self._show_rest(cut)
        if self.full or (cut and not self.closed):
            within_word = self._within_word and not self.full
            self._shown = [whole_sentences(self.text) or (self.text and broken_off(self.text, within_word))]
        return self.text[len(shown) :] if self.text.startswith(shown) else ""

    def _begin(self) -> None:
        self._markdown = Markdown()
        self._labels = Labels(*self._names)
        self._spacing = _Spacing()

    def _forget(self) -> None:
        """What came so far was reasoning, though no tag had opened it."""
        if self._shown:
            self.leaked = True
        else:
            self._begin()

    def _show(self, text: str) -> str:
        return self._label(self._markdown.feed(text))

    def _show_rest(self, cut: bool) -> None:
        self._show(self._unspoken.finish())
        self._label(self._markdown.finish(cut))
        self._space(self._labels.finish())

    def _label(self, text: str) -> str:
        return self._space(self._labels.feed(text))

    def _space(self, text: str) -> str:
        said = self._cap.feed(self._spacing.feed(text))
        if not self.full:
            self.cut_at_other = self._labels.cut_at
        if said:
            self._shown.append(said)
        return said


class _Characters:
    """Drops control characters, halves of surrogate pairs and invisible text; joins pairs that were cut in two.
    Every kind of line break becomes a newline. ZWJ and ZWNJ stay: scripts and emoji need them."""

    def __init__(self) -> None:
        self._half = ""
        self._after_return = False

    def feed(self, piece: str) -> str:
        if not piece:
            return ""
        text, self._half = self._half + piece, ""
        if "\ud800" <= text[-1] <= "\udbff":
            text, self._half = text[:-1], text[-1]
        if text:
            text, self._after_return = text.removeprefix("\n" if self._after_return else ""), text[-1] == "\r"
        text = _PAIR.sub(lambda pair: pair.group().encode("utf-16", "surrogatepass").decode("utf-16"), text)
        return _GONE.sub("", _BREAK.sub("\n", text))


class _Spacing:
    """Several line breaks become one break between paragraphs; spaces at the end go. Other spaces stay, but for runs
    of more than HOLD."""

    def __init__(self) -> None:
        self.pending = ""

    def feed(self, text: str) -> str:
        text = self.pending + text
        said = text.rstrip()
        self.pending = self._narrow(text[len(said) :])
        return _SPACES.sub(lambda run: self._narrow(run.group()), said)

    @staticmethod
    def _narrow(spaces: str) -> str:
        lines = spaces.split("\n")
        return "\n".join(line[:HOLD] for line in (["", "", lines[-1]] if len(lines) > 2 else lines))


class _WordCap:
    """Counts words as they come, in halves, and lets nothing through from the one that is too many."""

    def __init__(self, words: int) -> None:
        self.full = False
        self.halves = 0
        self._most = 2 * words
        self._counted = False  # whether the word that is coming has been counted

    def feed(self, text: str) -> str:
        if self.full:
            return ""
        for token in _WORD.finditer(text):
            letter = _LETTER.search(text, token.start(), token.end())
            dense = token.lastgroup == "dense"
            if letter and not (self._counted and not dense):
                self.halves += 1 if dense else 2
                if self.halves > self._most:
                    self.full = True
                    return text[: letter.start()]
            self._counted = token.lastgroup == "run" and (self._counted or letter is not None)
        return text


def printable(value: Any) -> Any:
    """The same value without characters that no text needs and no row can hold, in all the strings inside it."""
    if isinstance(value, str):
        return _GONE.sub("", value)
    if isinstance(value, dict):
        return {key: printable(inner) for key, inner in value.items()}
    return [printable(inner) for inner in value] if isinstance(value, list) else value
