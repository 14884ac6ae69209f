"""The speech filter: what it takes out, what it leaves, and that no cut of the stream changes either."""

import time
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from debates.engine.speech import LONGEST_HOLD, SpeechFilter, count_words, placeholder

OWN, OTHERS = ["Critic", "Eleştirmen"], ["Builder", "Judge", "Devil's Advocate"]
MIXED = (
    "**Critic:** *Quote* before `a_b*c` and 2*3*4; __init__ stays, **kwargs too, [a link](https://e.org/a_(b)) ends\n"
    "- one\n- two <think>no **leak**</think>\n1. a\n2. b\n\n\n"
    "# Head C# #1 ~5% > 5 ms [SRC-2] end*<|im_end|> \\*x\\*\nBuilder: no"
)
FRAGMENTS = (
    "* ** *** _ __ ` `` ``` [ ]( ) ![ ! ~~ ~ \\ \n \n\n # - 1. 2. > : ( < a b1 word. 中文 5 é ' \" … ，"
    " <think> </think> <|im_end|> <|im_start|> user assistant [INST] </s> ###\x20Response: Critic: Builder: Builder"
    " Judge Devil's [Critic\x20→\x20Builder] http://x \ud83d \ude00 \r \x00 \u202e \u200d " + "x" * 120
).split(" ")
TEXTS = st.lists(st.sampled_from([*FRAGMENTS, " ", " ", "\n"]), max_size=40).map("".join)


def said(pieces, *, cut=False, words=10_000, reasoning=False):
    """The filter after these pieces; what was shown must be what it holds, or begin with it where it was cut."""
    speech = SpeechFilter(words, OWN, OTHERS, reasoning=reasoning)
    shown = "".join(map(speech.feed, pieces))
    before = speech.text
    assert shown == before
    shown += speech.finish(cut)
    if not cut and not speech.full:
        assert shown == speech.text
    assert shown.startswith(speech.text.removesuffix("…"))
    return speech, before


def clean(text, **options):
    """What is sealed of a text; every character fed alone must give the same."""
    whole, alone = said([text], **options)[0], said(text, **options)[0]
    assert whole.text == alone.text
    return whole.text


@pytest.mark.hard_case("B43")
@pytest.mark.parametrize(
    "text",
    [
        "2*3*4",
        "a * b * c",
        "**kwargs",
        "*args",
        "f(*args, **kwargs)",
        "def f(**kwargs) and **other",
        "my_func_name",
        "__init__",
        "call __init__ and __my_name__ now",
        "_private",
        "f(x)=x_1*x_2",
        "5 * 3 = 15 *",
        "(a+b)*(c+d)*(e)",
        "x ** 2 and 2**3**4",
        "price*\n* incl. tax",
        "#1 reason",
        "C# and F#",
        "> 5 ms",
        "~5% and ~/.config",
        "the star (*) and the star (*)",
        "*args " + "word " * 60 + "cost* end",
        "callbacks[name](value)",
        "[SRC-1] says, and [SRC-2](too",
        "-5 degrees",
        "1. FC Köln ist Meister.",
        "2019. That was the year.",
        "it is 3.\nThen 5. of May",
        "0. Foo\n0. bar",
        "a Node *Next " + "word " * 60 + "end",
        "a lone ` and a lone * at the end *",
        "5 < 6 > 4, a <b> c </b>, i<n",
        "C:\\path and \\d+",
        "价格*数量*税率",
        "می\u200cخواهم 👩\u200d👩\u200d👧\u200d👦 ❤\ufe0f",
    ],
)
def test_what_is_no_mark_stays_byte_for_byte(text):
    assert clean(text) == text


@pytest.mark.hard_case("B43")
@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("*emph* and _emph_", "emph and emph"),
        ("**bold**, __two words__ and ***both***", "bold, two words and both"),
        ("a ~~gone~~ word", "a gone word"),
        ("**bold *nested* bold**", "bold nested bold"),
        ("这是**重点**内容", "这是重点内容"),
        ('*"You said it."* No.', '"You said it." No.'),
        ("# Head\n## Sub\ntext", "Head\nSub\ntext"),
        ("- a\n* b\n+ c\n  - d", "a\nb\nc\nd"),
        ("1. a\n2. b\n\n3. c", "a\nb\n\nc"),
        ("Two reasons:\n1. a\nand so on", "Two reasons:\na\nand so on"),
        ("1) a", "a"),
        ("`a_b*c` and ``x`y``", "a_b*c and x`y"),
        ("```python\nx = **a**\n- b\n```\n**after**", "x = **a**\n- b\nafter"),
        ("```markdown\n**a**\n```\n**b**", "a\nb"),
        ("~~~\n*kept*", "*kept*"),
        ("[text](https://e.org/a_(b)?c=1) end", "text end"),
        ("see[1](http://e.org)", "see1"),
        ("![alt *x*](u.png)left", "left"),
        ("> Quoted words\n> more", "Quoted words\nmore"),
        ("a\n\n---\n\nb\n***\nc", "a\n\nb\n\nc"),
        (r"\*literal\*, \`tick\` and snake\_case", "*literal*, `tick` and snake_case"),
        ("**A" + " long point." * 40 + "** end", "A" + " long point." * 40 + " end"),
        ("  lead\n\n\n \n  next \n x  ", "lead\n\n  next \n x"),
    ],
)
def test_marks_go_and_their_words_stay(text, left):
    assert clean(text) == left


@pytest.mark.hard_case("B44")
def test_a_marker_cut_in_two_is_neither_shown_nor_swallowed():
    pieces = ["**bo", "ld** and 2", "*3", "*4 [SR", "C-2] end*"]
    speech = SpeechFilter(100)
    shown = [speech.feed(piece) for piece in pieces]
    assert "*" not in "".join(shown[:2])
    assert "".join(shown) + speech.finish(False) == speech.text == "bold and 2*3*4 [SRC-2] end*"


@pytest.mark.hard_case("B44")
def test_every_cut_in_two_gives_the_same_text():
    whole = clean(MIXED)
    assert "**kwargs" in whole
    assert "leak" not in whole
    assert "Builder" not in whole
    for at in range(len(MIXED) + 1):
        assert said([MIXED[:at], MIXED[at:]])[0].text == whole


@pytest.mark.hard_case("B44")
@given(text=TEXTS, cuts=st.lists(st.integers(0, 400)), cut=st.booleans(), words=st.sampled_from([3, 10_000]))
@example(text="a</think>b", cuts=[1], cut=False, words=3)
@example(text="Builder: No</think>y", cuts=[11], cut=False, words=3)
def test_any_cuts_of_the_stream_show_and_seal_the_same(text, cuts, cut, words):
    places = sorted({0, len(text), *(at for at in cuts if at < len(text))})
    whole, shown_whole = said([text], cut=cut, words=words)
    parts, shown_parts = said([text[a:b] for a, b in pairwise(places)], cut=cut, words=words)
    assert shown_parts == shown_whole
    assert parts.text == whole.text
    assert (parts.full, parts.cut_at_other, parts.leaked) == (whole.full, whole.cut_at_other, whole.leaked)


@given(st.text(st.characters(codec=None, exclude_categories=[]), max_size=60))
def test_no_text_breaks_it_or_leaves_a_control_character(text):
    left = clean(text)
    assert left.encode().decode() == left
    assert not any(char != "\n" and char != "\t" and (char < " " or "\x7f" <= char <= "\x9f") for char in left)


@pytest.mark.hard_case("B20")
@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("<think>secret</think>Answer", "Answer"),
        ("<Thinking>\nsecret\n</Thinking>\n\nAnswer", "Answer"),
        ("<reasoning>I should use <think> tags</reasoning>Answer", "Answer"),
        ("Yes, <think>secret</think> no", "Yes, no"),
        ("[THINK]secret[/THINK]Answer", "Answer"),
        ("◁think▷secret◁/think▷Answer", "Answer"),
        ("\n </think>\n\nAnswer", "Answer"),
        ("**Secret plan, </think>Answer", "Answer"),
        ("<think>all of it, and the budget was gone", ""),
        ("<|channel|>analysis<|message|>secret<|end|><|start|>assistant<|channel|>final<|message|>Answer", "Answer"),
        ("The `<think>` tag is no argument", "The <think> tag is no argument"),
    ],
)
def test_reasoning_is_never_shown(text, left):
    assert clean(text) == left


@pytest.mark.hard_case("B20")
def test_reasoning_shown_before_its_closing_tag_is_told_and_left_out_when_asked():
    text = "I must argue well.</think>Answer"
    late = said([text])[0]
    assert late.leaked
    again = said([text], reasoning=True)[0]
    assert (again.text, again.leaked) == ("Answer", False)


@pytest.mark.hard_case("B106")
@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("Hello<|im_end|>", "Hello"),
        ("Hello<|endoftext|></s><eos>", "Hello"),
        ("[INST] Hi [/INST] there</s>", "Hi there"),
        ("<start_of_turn>model\nHi<end_of_turn>", "Hi"),
        ("<|start_header_id|>assistant<|end_header_id|>\n\nHi<|eot_id|>", "Hi"),
        ("<｜Assistant｜>Hi<｜end▁of▁sentence｜>", "Hi"),
        ("<<SYS>>You are the critic.<</SYS>>Hi", "Hi"),
        ("### Response:\nHi", "Hi"),
        ("Hi.\n### Instruction:\nNow argue the other side", "Hi."),
        ("Hi.<|im_end|>\n<|im_start|>user\nAnd you?<|im_end|>\n<|im_start|>assistant\nFine.", "Hi.\n\nFine."),
        ("<|im_<|im_end|>end|>x", "<|im_ end|>x"),
    ],
)
def test_template_tokens_go(text, left):
    assert clean(text) == left


@pytest.mark.hard_case("B48")
def test_invisible_controls_go_and_the_joiners_of_scripts_stay():
    assert clean("a\u202eb\u202bc\u2066d\u2069\ufeffe\U000e0041f\x00g\x1b[1m\x85h\r\ni") == "abcdefg[1m\nh\ni"
    assert clean("می\u200cخواهم שלום abc 12") == "می\u200cخواهم שלום abc 12"


def test_a_surrogate_pair_cut_in_two_is_one_character_and_a_lone_half_none():
    assert said(["a\ud83d", "\ude00b\ud83d", "c\ude00", "d\ud83d"])[0].text == "a😀bcd"


@pytest.mark.hard_case("B97")
@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("Critic: I disagree.", "I disagree."),
        ("**Critic:** I disagree.", "I disagree."),
        ("**Critic**: I disagree.", "I disagree."),
        ("[Critic] I disagree.", "I disagree."),
        ("[Critic → Builder] I disagree.", "I disagree."),
        ("Critic (round 2): I disagree.", "I disagree."),
        ("## Critic\n\nI disagree.", "I disagree."),
        ("ELEŞTİRMEN: Katılmıyorum.", "Katılmıyorum."),
        ("critic：不同意。", "不同意。"),
        ("Criticism: it is cheap.", "Criticism: it is cheap."),
        ("Critic", ""),
    ],
)
def test_the_speakers_own_label_goes(text, left):
    assert clean(text) == left


@pytest.mark.hard_case("B97")
@pytest.mark.parametrize(
    ("text", "left", "other"),
    [
        ("Critic: I disagree.\n\nBuilder: Fair, I concede.\nJudge: Builder wins", "I disagree.", "Builder"),
        ("No.\n**Judge:** builder wins", "No.", "Judge"),
        ("No.\n[Builder → Critic] Yes.", "No.", "Builder"),
        ("No.\n- devil's  advocate (round 3): yes", "No.", "Devil's Advocate"),
        ("Builder: I concede.", "", "Builder"),
        ("No.\nBuilder:", "No.", "Builder"),
        ("Builder: the pattern from GoF is fine.", "Builder: the pattern from GoF is fine.", None),
        ("It is the Builder: the pattern from GoF.", "It is the Builder: the pattern from GoF.", None),
        ("I ask you,\nBuilder, why?", "I ask you,\nBuilder, why?", None),
    ],
)
def test_a_line_of_another_bench_ends_the_speech(text, left, other):
    assert clean(text) == left
    assert said([text])[0].cut_at_other == other


@pytest.mark.parametrize(
    ("text", "words", "left"),
    [
        ("One two three. Four five six.", 5, "One two three."),
        ("One two three. Four five six.", 6, "One two three. Four five six."),
        ("One two “three.” Four five six.", 5, "One two “three.”"),
        ("One two three four five", 3, "One two three…"),
        ("One, “two three", 2, "One, “two…"),
        ("这是一句话。这是第二句话。", 4, "这是一句话。"),
        (
            "He met Dr. Smith at 3.5 km, e.g. near J. Doe of the U.S. Senate",
            9,
            "He met Dr. Smith at 3.5 km, e.g. near…",
        ),
        ("Wirklich? Am 3. Oktober 1990 war das", 3, "Wirklich?"),
    ],
)
def test_the_word_cap_trims_to_the_last_whole_sentence(text, words, left):
    assert clean(text, words=words) == left
    assert said([text], words=words)[0].full == (count_words(text) > words)


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("It holds. And yet it mov", "It holds."),
        ("It holds! (Really.) And yet it mov", "It holds! (Really.)"),
        ("هل هذا واضح؟ نعم ولك", "هل هذا واضح؟"),
        ("यह उचित है। और यह", "यह उचित है।"),
        ("これは文です。「そうですか？」と彼", "これは文です。「そうですか？」"),
        ("No sentence ends he", "No sentence ends…"),
        ("It costs 3.", "It costs…"),
        ("“Why not?” she said an", "“Why not?” she said…"),
        ("Hel", "Hel…"),
        ("A whole one.", "A whole one."),
        ("**One. Two thr", "One."),
        ("", ""),
    ],
)
def test_the_providers_limit_trims_likewise_and_leaves_something(text, left):
    assert clean(text, cut=True) == left


def test_once_full_nothing_more_is_shown():
    speech = SpeechFilter(2)
    assert speech.feed("One two three") == "One two "
    assert speech.full
    assert speech.closed
    assert speech.feed(" four.") == ""


@pytest.mark.parametrize(
    "start", ["plain ", "*args ", "**The ", "[", "`", "[a](", "__x", "1. ", "Builder (", "<|", "- "]
)
def test_nothing_is_held_back_beyond_the_bound(start):
    speech = SpeechFilter(10_000, OWN, OTHERS)
    text = start + "word " * 300
    for at, char in enumerate(text, 1):
        speech.feed(char)
        assert len(speech.text) >= at - LONGEST_HOLD


def test_ordinary_prose_streams_as_it_comes():
    speech = SpeechFilter(100, OWN, OTHERS)
    text = "Cars fill streets, and nobody pays (not even you) for it: 5 < 6! So what? "
    for at, char in enumerate(text, 1):
        speech.feed(char)
        assert len(speech.text) >= at - 2


@pytest.mark.hard_case("B38")
@pytest.mark.parametrize(
    ("unit", "size"),
    [
        *((unit, 400_000) for unit in ("*", "`", "((((", "<", "[")),
        *((unit, 60_000) for unit in ("_", "\n", "[a](", "*a ", "`a", "- ", "1. a\n", "Builder", ". ", "<|a|>")),
    ],
)
def test_the_work_grows_with_the_text_and_no_faster(unit, size):
    def work(size):
        started = time.process_time()
        said([unit * (size // len(unit))], cut=True, words=10**6)
        return time.process_time() - started

    assert work(size) < 30 * work(size // 10) + 0.05  # ten times the text; a square would be a hundred times the work


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", 0),
        ("don't stop — now", 3),
        ("one—two", 2),
        ("well-known U.S. 3.5", 3),
        ("这是一句话。", 3),
        ("AI模型", 2),
        ("ภาษาไทย", 4),
        ("한국어 문장", 2),
        ("* — …", 0),
    ],
)
def test_words_are_counted_in_every_script(text, words):
    assert count_words(text) == words


@pytest.mark.hard_case("B101")
@pytest.mark.parametrize(
    "text",
    [
        *("", " \n", "...", "…", "N/A", "n/a.", "[SRC-1]", "[SRC-1], [SRC-2].", "👍", "1️⃣", "Critic:", "---"),
        *("Critic (round 2):", "[insert your argument here]", "(no response)", "<your answer>", "None", "**TODO**"),
    ],
)
def test_a_turn_without_words_is_a_placeholder(text):
    assert placeholder(text)


@pytest.mark.hard_case("B101")
@pytest.mark.parametrize(
    "text", ["No.", "42", "Yes, [SRC-1].", "好", "None of that is true.", "Critic: no", "(a) b (c)"]
)
def test_a_short_answer_is_none(text):
    assert not placeholder(text)
