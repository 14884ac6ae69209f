"""Quotations found, and resolved to the exact characters they came from."""

from bisect import bisect

import pytest
from hypothesis import given
from hypothesis import strategies as st

from debates.engine.folding import fold, is_turkic
from debates.engine.quotes import Match, Quotation, check, find_quotes, resolve

OWN_COST = "We all agree. It's the team's \"own\" cost, and nobody pays it."
STRICT = (
    "Only strict rules for parking would\nfree our streets - and the \ufb01re brigade nods; that is not fair to us."
)


def found(text):
    return [quotation.text for quotation in find_quotes(text) if quotation.depth == 0]


def resolved(words, *turns):
    """What became of the words against turns 1, 2 …, and what stands in the ranges it names."""
    outcome = resolve(Quotation(words, 0, len(words)), list(enumerate(turns, 1)))
    source = turns[outcome.turn - 1] if outcome.turn else ""
    return outcome.match, outcome.turn, [source[start:end] for start, end in outcome.parts]


@pytest.mark.hard_case("B39")
@pytest.mark.parametrize(
    "text",
    [
        'You said "{}".',
        "You said “{}”.",
        "You said ”{}”.",
        'You said “{}".',
        'You said "{}”.',
        "Du sagst „{}“.",
        "Du sagst „{}”.",
        "Du sagst »{}«.",
        "Vous dites « {} ».",
        "Vous dites «\u00a0{}\u00a0».",
        "Zitat ‹{}›.",
        "You said ‘{}’.",
        "You said '{}'.",
        "Du sagst ‚{}‘.",
        "彼は「{}」と言った。",
        "彼は『{}』と言った。",
        '他说"{}"。',
        "他说“{}”了。",
        'وقلت «{}» ثم و"أخرى هنا".',
        "“{}”i savundun.",
        '"{}"in İstanbul\'da',
        "(“{}”)",
    ],
)
@pytest.mark.parametrize("words", ["it is the cost", "cost’s o’clock don't"])
def test_a_quotation_in_any_marks_is_found(text, words):
    whole = text.format(words)
    quotation = find_quotes(whole)[0]
    assert quotation.text == words == whole[quotation.start : quotation.end]


@pytest.mark.hard_case("B39")
@pytest.mark.parametrize(
    ("text", "quotations"),
    [
        ("It's the dogs' home; the ’90s, 'tis rock 'n' roll, James’ and Ankara’da", []),
        ('a 12" pipe, a 10" pipe and 5\'10"', []),
        ('צה"ל אמר', []),
        ("‘It’s the dogs’ home’ he said", ["It’s the dogs’ home"]),
        ("He said: 'the teams' cost is high' and left", ["the teams' cost is high"]),
        ('He said "foo and "bar baz" qux', ["bar baz"]),
        ("“never closed\n\nand closed here”", []),
        ("'ere he said \"the dogs' home is full\" again", ["the dogs' home is full"]),
        ('"" “ ” "', []),
        ("Why “ spaced out ” then", ["spaced out"]),
    ],
)
def test_an_apostrophe_or_a_lone_mark_is_no_quotation(text, quotations):
    assert found(text) == quotations


@pytest.mark.hard_case("B39")
def test_a_quotation_within_a_quotation_is_part_of_it():
    quotations = find_quotes("You said “It’s the team’s ‘own’ cost”.")
    assert [(quotation.text, quotation.depth) for quotation in quotations] == [
        ("It’s the team’s ‘own’ cost", 0),
        ("own", 1),
    ]


@pytest.mark.hard_case("B39")
@pytest.mark.parametrize(
    "words", ["It’s the team’s ‘own’ cost", "it’s the team's “own” cost,", "It's the team's «own» cost"]
)
def test_quote_marks_are_folded_and_the_original_kept(words):
    assert resolved(words, OWN_COST) == (Match.FOLDED, 1, ["It's the team's \"own\" cost"])


@pytest.mark.hard_case("B41")
def test_the_words_themselves_are_exact_whatever_marks_stand_around_them():
    text = "It's the team's \"own\" cost"
    assert resolved(f"{text}.", OWN_COST) == (Match.EXACT, 1, [text])
    assert [outcome.match for outcome in check(f"You say “{text}!” Why?", [(4, OWN_COST)])] == [Match.EXACT]


@pytest.mark.hard_case("B41")
@pytest.mark.parametrize(
    ("words", "there"),
    [
        (
            "Only relaxed rules for parking would free our streets",
            "Only strict rules for parking would\nfree our streets",
        ),
        ("that is fair to us", "that is not fair to us"),
        ("that is … fair to us", "that is not fair to us"),
        ("that is not very fair to us", "that is not fair to us"),
        ("not fair to u", "not fair to us"),
    ],
)
def test_a_word_changed_dropped_or_added_is_altered(words, there):
    match, turn, (nearest,) = resolved(words, "Nothing of the kind.", STRICT)
    assert (match, turn) == (Match.ALTERED, 2)
    assert there.split()[-4:-1] == nearest.split()[-4:-1]


@pytest.mark.hard_case("B41")
@pytest.mark.parametrize(
    ("words", "turn"),
    [
        ("we can do this", "And we can't do this, and we can't"),
        ("we can", "Here we can't"),
        ("fair and legal", "It is unfair and legal"),
        ("fair and legal", "It is un\u00adfair and legal"),
        ("smoking is legal", "Non-smoking is legal"),
        ("it costs 3", "it costs 3.5 million"),
        ("2 cups of it", "½ cups of it"),
    ],
)
def test_half_a_word_is_not_the_word(words, turn):
    assert resolved(words, turn)[0] is Match.ALTERED


@pytest.mark.hard_case("B41")
def test_short_quotations_do_not_count_and_own_or_later_words_are_absent():
    text = "“the” “own cost” and “moons are made of cheese”"
    outcomes = check(text, [(1, OWN_COST)])
    assert [(outcome.quotation.text, outcome.match) for outcome in outcomes] == [
        ("moons are made of cheese", Match.ABSENT),
    ]
    assert outcomes[0].turn is outcomes[0].start is outcomes[0].end is None
    assert check("“moons are made of cheese”", [])[0].match is Match.ABSENT


@pytest.mark.hard_case("B42")
@pytest.mark.parametrize(
    ("words", "turn", "there"),
    [
        ("the hidden cost here", "x the\u00a0hidden\u2009cost \r\n here y", "the\u00a0hidden\u2009cost \r\n here"),
        ("the hidden cost", "the hid\u00adden co\u200bst", "the hid\u00adden co\u200bst"),
        ("ABC costs more", "the ＡＢＣ costs more", "ＡＢＣ costs more"),
        ("the fire office", "the \ufb01re of\ufb01ce", "the \ufb01re of\ufb01ce"),
        ("هذا كتاب جيد", "قلت هذا كـتـاب جيد", "هذا كـتـاب جيد"),
        ("می خواهم بروم نمی‌شود", "می خواهم بروم نمیشود", "می خواهم بروم نمیشود"),
        ("cafe\u0301 is open now", "the café is open now", "café is open now"),
        ("free our streets—and the fire brigade", STRICT, "free our streets - and the \ufb01re brigade"),
        ("STRASSE IST ZU LAUT", "die Straße ist zu laut", "Straße ist zu laut"),
        ("[T]he hidden cost here", "See, the hidden cost here", "the hidden cost here"),
        ("よい文です", "これはよい文です。", "よい文です"),
    ],
)
def test_what_looks_the_same_is_found_where_it_stands(words, turn, there):
    match, number, parts = resolved(words, turn)
    assert match in (Match.FOLDED, Match.EXACT)
    assert (number, parts) == (1, [there])


@pytest.mark.hard_case("B42")
def test_a_range_is_right_behind_letters_that_grow_when_folded():
    turn = "İİİ ßßß \ufb03 ﷺ \U0001d400 👩\u200d👩\u200d👧 then the hidden cost"
    outcome = resolve(Quotation("The Hidden Cost", 0, 15), [(9, turn)])
    assert (outcome.match, outcome.turn) == (Match.FOLDED, 9)
    assert turn[outcome.start : outcome.end] == "the hidden cost"


@pytest.mark.hard_case("B42")
def test_a_letter_that_grows_does_not_hide_one_that_shrinks():
    folded = fold("\ufb01e\u0301")
    assert (folded.text, folded.starts, folded.ends) == ("fié", [0, 0, 1], [1, 1, 3])


@pytest.mark.hard_case("B46")
def test_dotted_and_dotless_i_are_different_letters_in_turkish():
    assert resolved("IŞIK PAHALI DEĞİL", "Bence ışık pahalı değil.")[0] is Match.FOLDED
    assert resolved("İSTANBUL'DA ışık", "istanbul’da IŞIK")[0] is Match.FOLDED
    assert resolved("Isı pahalı değil", "İsi pahalı değil")[0] is Match.ALTERED
    assert resolved("ISI PAHALI DEĞİL", "isi pahalı değil")[0] is Match.ALTERED
    assert resolved("WE THINK IT IS", "we think it is")[0] is Match.FOLDED


def test_an_ellipsis_may_leave_out_words_of_one_turn():
    match, turn, parts = resolved("Only strict rules … free our streets [...] not fair to us", OWN_COST, STRICT)
    assert (match, turn) == (Match.ELLIPSIS, 2)
    assert parts == ["Only strict rules", "free our streets", "not fair to us"]


@pytest.mark.parametrize(
    "words",
    [
        "free our streets … Only strict rules",  # the other way round
        "It's the team's … free our streets",  # from two turns
        "Only strict rules … nobody ever said",
    ],
)
def test_a_dishonest_ellipsis_is_none(words):
    assert resolved(words, OWN_COST, STRICT)[0] in (Match.ALTERED, Match.ABSENT)


def test_an_ellipsis_leaves_out_no_whole_page():
    page = "One two three. " + "Filler words here. " * 40 + "Four five six."
    assert resolved("One two three … four five six", page)[0] is not Match.ELLIPSIS


def test_an_exact_place_is_preferred_then_the_latest():
    assert resolved("the cost of it", "the cost of it", "The cost of it")[:2] == (Match.EXACT, 1)
    assert resolved("the cost of it", "the cost of it", "the cost of it")[:2] == (Match.EXACT, 2)


def test_several_quotations_are_resolved_in_their_order():
    text = "“that is not fair to us” but “it's the team's ‘own’ cost” and 'that is fair to all of us'"
    matches = [(outcome.match, outcome.turn) for outcome in check(text, [(2, OWN_COST), (5, STRICT)])]
    assert matches == [(Match.EXACT, 5), (Match.FOLDED, 2), (Match.ALTERED, 5)]


LETTERS = st.sampled_from(
    [*"aAiIıİsSşß5é'’ -–—.,…\"“”\n\u00a0\u00ad\u200b\u200d\u0640\u0301\u0307ﬁＡ中文かｶﾞ각\u1100\u1161👩🇩🇪̈̈ﷺ½"]
)
ENDS = " .,;:!?-"  # what a quotation may have more at its ends
HOSTILE = st.text(LETTERS, max_size=60) | st.text(st.characters(codec=None, exclude_categories=[]), max_size=40)


@given(HOSTILE, st.booleans())
def test_each_folded_character_knows_its_place(text, turkic):
    folded = fold(text, turkic)
    assert len(folded.text) == len(folded.starts) == len(folded.ends)
    assert folded.starts == sorted(folded.starts)
    assert all(0 <= start < end <= len(text) for start, end in zip(folded.starts, folded.ends, strict=True))


@given(st.lists(HOSTILE | st.sampled_from(["the cost", "not fair", "Straße ist"]), min_size=3, max_size=9), st.data())
def test_a_found_range_folds_to_the_quoted_words(parts, data):
    turn = " ".join(parts)
    starts = [0, *(at + 1 for at, char in enumerate(turn) if char.isspace())]
    start = data.draw(st.sampled_from(starts))
    end = data.draw(st.integers(start, len(turn)))
    words = data.draw(st.sampled_from([str, str.upper, str.casefold]))(turn[start:end])
    outcome = resolve(Quotation(words, 0, len(words)), [(1, turn)])
    if outcome.match in (Match.EXACT, Match.FOLDED):
        turkic = is_turkic(words + turn)
        there = fold(turn[outcome.start : outcome.end], turkic).text
        assert there.strip(ENDS) == fold(words, turkic).text.strip(ENDS)
    for first, last in outcome.parts:
        assert 0 <= first < last <= len(turn)


@given(st.lists(st.sampled_from(["we", "do", "not", "pay", "the", "cost", "of", "it", "fair"]), min_size=5), st.data())
def test_no_word_can_be_dropped_or_added_unseen(words, data):
    turn = " ".join(words)
    at = data.draw(st.integers(1, len(words) - 2))
    without = " ".join(words[:at] + words[at + 1 :])
    added = " ".join([*words[:at], "never", *words[at:]])
    assert (resolved(without, turn)[0] in (Match.EXACT, Match.FOLDED)) == (f" {without} " in f" {turn} ")
    assert resolved(added, turn)[0] in (Match.ALTERED, Match.ABSENT)


@given(HOSTILE, st.lists(HOSTILE, max_size=3))
def test_hostile_text_never_raises_and_ranges_stay_inside(text, turns):
    quoted = f"“{text}” {text} '{text}' \"a b {text}\""
    for outcome in check(quoted, list(enumerate(turns))):
        assert quoted[outcome.quotation.start : outcome.quotation.end] == outcome.quotation.text
        assert all(0 <= start < end <= len(turns[outcome.turn]) for start, end in outcome.parts)


@given(st.text(st.sampled_from("\"'“”‘’„«»「」ab s\n([,"), max_size=50))
def test_quotations_nest_and_never_cross(text):
    quotations = find_quotes(text)
    ends: list[int] = []
    for quotation in quotations:
        assert quotation.text == text[quotation.start : quotation.end] != ""
        del ends[bisect([-end for end in ends], -quotation.start) :]
        assert all(quotation.end <= end for end in ends)
        ends.append(quotation.end)
