"""What either side of an English claim stands for, in words and without a model, so that a resume finds the same ones.

A stance opens a small model's speech and keeps it on its side. The proposition's is the claim. The opposition's is the
claim with its first verb negated where that is sure to mean the opposite, else "It is not true that …". Claims that no
such sentence can be made of (questions, several sentences, other languages, long ones) are "Yes" and "No".
"""

from __future__ import annotations

import re

YES, NO = "Yes", "No"
LONGEST = 160  # characters of a claim that is worth repeating


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


MODALS = _set("should must can could will would may might shall")
BE = _set("is are was were am")
HAVE = {"has": "does not have", "have": "do not have", "had": "did not have"}
DO = {"do": "do not do", "does": "does not do", "did": "did not do"}
AUXILIARIES = MODALS | BE | HAVE.keys() | DO.keys()
CONTRACTED = {"can't": "can", "cannot": "can", "won't": "will", "shan't": "shall"}
PARTICIPLES = _set("been made become done gone had lost won grown taken given gotten led kept left brought")
# Verbs that need a "do" to be negated. The plain forms may be nouns, so they count only after a plural.
MAIN = _set(
    "make help hurt harm ruin destroy improve cause deserve weaken strengthen teach prevent reduce threaten create "
    "beat increase save kill lead bring give matter cost need work benefit waste limit damage spoil protect divide "
    "connect encourage discourage undermine outweigh belong"
)
DETERMINERS = _set("the a an this these those our your their my its no")
PLURALS = _set("people children men women media we you they")
DOABLE = _set("more less harm good damage better worse too little much")  # what follows a "does" of its own

NEGATIVE = _set("not never no none nobody nothing nowhere neither nor hardly rarely seldom barely only cannot")
VAGUE = _set("most many some few several half either any")  # negating the verb after these says something else
WHOLE = _set("all every everyone everybody everything")
CLAUSES = _set(
    "who that which what where when whenever if because while although though unless until whether whose how why since "
    "than as before after but"
)
REASONS = _set("because since unless until if so although though while")
JOINED = _set("and or but")
FOREIGN = _set(
    "der die das und ist nicht ein eine le la les des est une el los las una es que di il per che bir ve bu een het "
    "och det att nie jest nao em um"
)
LOWERED = _set(
    "the a an this these those it its there here we you they he she our your their my people children parents schools "
    "cities governments companies workers teachers students employers doctors countries adults teenagers everyone "
    "someone anyone nobody all every each most many some few no only if when being having social remote artificial "
    "free public private nuclear homework cars phones offices taxes banks money work life love time software code "
    "technology science what"
)
LOWERED_ENDS = ("ing", "tion", "ment", "ness", "ity", "ism", "ies", "ers")


def stance(motion: str, opposed: bool) -> str:
    """One side's stance as a clause that starts a sentence and doesn't end it: "Cities should not ban cars"."""
    claim = motion.strip().rstrip(".!").strip()
    if not _sayable(claim):
        return NO if opposed else YES
    return _opposite(claim) if opposed else claim


def _sayable(claim: str) -> bool:
    """Whether the claim is one short English statement."""
    words = claim.lower().split()
    question = claim.endswith("?") or not words or words[0] in AUXILIARIES
    broken = re.search(r"[.!?;:]\s|[\n\"“”„«»<>{}\[\]`*#|]", claim)
    return not (question or broken or len(claim) > LONGEST or not claim.isascii() or FOREIGN & set(words))


def _opposite(claim: str) -> str:
    words = claim.split()
    return _affirmed(words) or _negated(words) or f"It is not true that {lowered(claim)}"


def _affirmed(words: list[str]) -> str | None:
    """The opposite of a claim that is negated itself: "should not" is "should", "don't" is "do"."""
    place = next((n for n, word in enumerate(words) if word == "not" or _uncontracted(word)), None)
    if place is None or place == 0 or not _plain_before(words[:place]) or not _plain_after(words[place + 1 :]):
        return None
    verb = _uncontracted(words[place])
    if verb is None and words[place - 1] not in AUXILIARIES:
        return None
    return " ".join([*words[:place], *([verb] if verb else []), *words[place + 1 :]])


def _uncontracted(word: str) -> str | None:
    """ "isn't" as "is", "cannot" as "can"; None for any other word."""
    word = word.replace("’", "'")
    return CONTRACTED.get(word) or (word[:-3] if word.endswith("n't") and word[:-3] in AUXILIARIES else None)


def _negated(words: list[str]) -> str | None:
    """The claim with "not" at its verb, or before its subject where that is a whole; None where that isn't safe."""
    place = next((n for n in range(1, len(words)) if _verb(words, n)), None)
    if place is None or not _plain_before(words[:place]) or not _plain_after(words[place + 1 :]):
        return None
    if words[0].lower() in WHOLE:
        return " ".join(["Not", words[0].lower(), *words[1:]])
    return " ".join([*words[:place], _with_not(words, place), *words[place + 1 :]])


def _verb(words: list[str], place: int) -> bool:
    """Whether a verb stands here that can be negated: "will" is none in "free will is an illusion"."""
    word, after = words[place], words[place + 1] if place + 1 < len(words) else ""
    if word in BE or word == "ought":
        return True
    if word in MODALS:
        return bool(after) and after not in AUXILIARIES - {"have", "do"}
    if word in HAVE:
        return after == "to" or _participle(after)
    if word in DO:
        return after in DOABLE
    verbs = [n for n in range(1, len(words)) if _main(words, n) or words[n] in AUXILIARIES]
    return bool(after) and verbs == [place]


def _main(words: list[str], place: int) -> str | None:
    """ "makes" as "does not make", "make" after a plural as "do not make"; None for any other word."""
    word, before = words[place], words[place - 1]
    if before.lower() in DETERMINERS:
        return None
    if word.endswith("s") and word[:-1] in MAIN and not before.endswith("s"):
        return f"does not {word[:-1]}"
    plural = before.lower() in PLURALS or before.endswith("s")
    return f"do not {word}" if word in MAIN and plural else None


def _with_not(words: list[str], place: int) -> str:
    word, after = words[place], words[place + 1] if place + 1 < len(words) else ""
    if word in DO:
        return DO[word]
    if word in HAVE and after == "to":
        return HAVE[word]
    return _main(words, place) or f"{word} not"


def _participle(word: str) -> bool:
    return word in PARTICIPLES or (word.endswith("ed") and len(word) > 4)


def _plain_before(words: list[str]) -> bool:
    """A subject that a negated verb negates as a whole."""
    lowered = [word.lower() for word in words]
    return not (set(lowered) & (CLAUSES | NEGATIVE) or lowered[0] in VAGUE or "," in "".join(words))


def _plain_after(words: list[str]) -> bool:
    """A predicate with nothing in it that a "not" before it would turn around as well, or miss."""
    lowered = [word.lower().strip(",") for word in words]
    joined = next((n for n, word in enumerate(lowered) if word in JOINED), len(lowered))
    second = set(lowered[joined:]) & (AUXILIARIES - {"do", "have"})
    return not (set(lowered) & (NEGATIVE | REASONS) or second or any(map(_uncontracted, lowered)))


def lowered(claim: str) -> str:
    """The claim as the middle of a sentence. A first word that may be a name keeps its capital."""
    first = claim.split()[0]
    known = first.lower() in LOWERED or first.endswith(LOWERED_ENDS)
    return claim[0].lower() + claim[1:] if (known and first[1:].islower()) or first == "A" else claim
