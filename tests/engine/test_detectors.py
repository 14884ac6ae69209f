"""Detectors: for each, what it must see and the tempting texts that it must leave alone, in every language it knows."""

import subprocess
import sys
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import process_time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from debates.engine.detectors import Kind, check, debate_language, language_of, retry

TEXTS = tomllib.loads((Path(__file__).parent / "detector_texts.toml").read_text("utf-8"))
SPEECHES = TEXTS["speeches"]
LONG = SPEECHES["en"]
OPPONENT = "The count is known to the nurses, and nobody else is told before the operation begins."


def cases(detector, which):
    return [(language, text) for language, texts in TEXTS[detector].items() for text in texts[which]]


def flags(text, language="en", kind="rebuttal", **more):
    return check(text, kind_of_speech=kind, language=language, **more)


def kinds(text, language="en", **more):
    return {flag.kind for flag in flags(text, language, **more)}


def words(text, wanted, language="en", **more):
    """What stands at the places of one kind's flags."""
    return [text[flag.start : flag.end] for flag in flags(text, language, **more) if flag.kind is wanted]


@pytest.mark.parametrize(("language", "text"), cases("banned_opener", "seen"))
def test_a_banned_opener_is_seen_where_a_sentence_starts(language, text):
    assert Kind.BANNED_OPENER in kinds(text, language)


@pytest.mark.parametrize(("language", "text"), cases("banned_opener", "left"))
def test_the_same_words_elsewhere_are_no_banned_opener(language, text):
    assert Kind.BANNED_OPENER not in kinds(text, language)


@pytest.mark.parametrize(("language", "text"), cases("summary_opening", "seen"))
def test_a_turn_that_opens_by_summing_up_the_other_side_is_seen(language, text):
    assert Kind.SUMMARY_OPENING in kinds(text, language)
    assert Kind.SUMMARY_OPENING not in kinds(text, language, kind="opening")


@pytest.mark.parametrize(("language", "text"), cases("summary_opening", "left"))
def test_an_attack_that_opens_a_turn_is_no_summary(language, text):
    assert Kind.SUMMARY_OPENING not in kinds(text, language)


@pytest.mark.hard_case("B105")
@pytest.mark.parametrize(("language", "text"), cases("named_source", "seen"))
def test_a_named_source_is_seen(language, text):
    assert Kind.NAMED_SOURCE in kinds(text, language)
    assert Kind.UNVERIFIED_SOURCE in kinds(text, language, sources="unverified")
    assert not {Kind.NAMED_SOURCE, Kind.UNVERIFIED_SOURCE} & kinds(text, language, sources="allowed")


@pytest.mark.hard_case("B105")
@pytest.mark.parametrize(("language", "text"), cases("named_source", "left"))
def test_what_only_looks_like_a_source_is_left_alone(language, text):
    assert Kind.NAMED_SOURCE not in kinds(text, language)


@pytest.mark.hard_case("B105")
@pytest.mark.parametrize(
    ("text", "users"),
    [
        ("HTTP/2 (RFC 9113) sends less.", ["Is HTTP/2 (RFC 9113) worth it?"]),
        ("As Smith (2019) showed, no.", ["Smith argued it in 2019."]),
        ("A Stanford study says no.", ["Stanford students should get phones"]),
        ("According to the World Bank, no.", ["the world bank should close"]),
    ],
)
def test_the_users_own_sources_may_be_named(text, users):
    assert Kind.NAMED_SOURCE not in kinds(text, motion=users[0])
    assert Kind.NAMED_SOURCE not in kinds(text, user_texts=users)
    assert Kind.NAMED_SOURCE in kinds(text, motion="Something else altogether")


def test_a_source_that_the_other_side_named_may_be_attacked_quoted_or_not():
    earlier = [(1, "As Smith (2019) showed, studies show that hands differ.")]
    for text in ("Your Smith (2019) found nothing.", "You say “studies show that hands differ”. Which?"):
        assert Kind.NAMED_SOURCE not in kinds(text, opponents_earlier=earlier)
    assert Kind.NAMED_SOURCE in kinds("Studies show that feet differ.", opponents_earlier=earlier)


@pytest.mark.hard_case("B99")
@pytest.mark.parametrize(("language", "text"), cases("agreement", "seen"))
def test_a_turn_that_only_agrees_is_seen(language, text):
    assert Kind.AGREEMENT in kinds(text, language)


@pytest.mark.hard_case("B99")
@pytest.mark.parametrize(("language", "text"), cases("agreement", "left"))
def test_a_turn_that_holds_something_against_it_does_not_agree(language, text):
    assert Kind.AGREEMENT not in kinds(text, language)


@pytest.mark.hard_case("B99")
@pytest.mark.parametrize(("language", "text"), cases("thanks", "seen"))
def test_thanks_and_praise_are_seen(language, text):
    assert Kind.THANKS in kinds(text, language)


@pytest.mark.parametrize(("language", "text"), cases("thanks", "left"))
def test_thanks_that_others_say_are_left_alone(language, text):
    assert Kind.THANKS not in kinds(text, language)


@pytest.mark.parametrize(("language", "text"), cases("concession", "seen"))
def test_a_concession_is_seen(language, text):
    assert Kind.CONCESSION in kinds(text, language)


@pytest.mark.parametrize(("language", "text"), cases("concession", "left"))
def test_a_refusal_or_a_demand_is_no_concession(language, text):
    assert Kind.CONCESSION not in kinds(text, language)


@pytest.mark.hard_case("B50")
@pytest.mark.parametrize("spoken", SPEECHES)
def test_a_speech_in_the_language_of_the_debate_is_no_drift(spoken):
    assert language_of(SPEECHES[spoken]) == spoken
    assert Kind.OTHER_LANGUAGE not in kinds(SPEECHES[spoken], spoken)


@pytest.mark.hard_case("B50")
@pytest.mark.parametrize("expected", SPEECHES)
def test_a_speech_in_another_language_is_drift(expected):
    for spoken in set(SPEECHES) - {expected}:
        drifted = [flag for flag in flags(SPEECHES[spoken], expected) if flag.kind is Kind.OTHER_LANGUAGE]
        assert {(flag.data["expected"], flag.data["found"]) for flag in drifted} == {(expected, spoken)}


@pytest.mark.hard_case("B50")
@pytest.mark.parametrize(("expected", "other"), [("ja", "ko"), ("tr", "en"), ("en", "de"), ("ar", "en"), ("zh", "ja")])
def test_a_speech_that_drifts_half_way_is_flagged_from_there(expected, other):
    text = f"{SPEECHES[expected]}\n\n{SPEECHES[other]}"
    [drifted] = words(text, Kind.OTHER_LANGUAGE, expected)
    assert len(SPEECHES[other]) - 60 <= len(drifted) <= len(SPEECHES[other]) + 60
    assert text.endswith(drifted)


@pytest.mark.hard_case("B50")
@pytest.mark.parametrize(
    ("text", "language"),
    [
        (f"Bunu siz söylediniz: “{SPEECHES['en']}” Bunun neresi doğru olabilir ki?", "tr"),
        (f"それは誤りです。「{SPEECHES['en']}」とあなたは言った。しかし、誰が払うのですか。", "ja"),
        ("Fonksiyon `def check_the_thing(that_is_here): return what_it_was` ile başlar ve bu yanlıştır.", "tr"),
        (
            "Kubernetes, Docker Swarm ve GitHub Actions birlikte kullanılınca ekip yavaşlar, siz de bunu biliyorsunuz.",
            "tr",
        ),
        (
            "Ein Pull Request mit Code Review und Continuous Integration ist für Sie kein Feature, sondern Overhead.",
            "de",
        ),
        ("Le Pull Request et le Code Review ne sont pas un feature, c'est un coût que vous oubliez.", "fr"),
        ("KubernetesとDockerとGitHub Actionsを使えばDeploymentは速くなります。", "ja"),
        ("The Zeitgeist of Schadenfreude, the je ne sais quoi of it, is what you sell as a raison d'être.", "en"),
        ("你说的 Kubernetes Deployment 和 Continuous Integration 都很贵。", "zh"),
    ],
)
def test_quotes_code_and_borrowed_words_are_no_drift(text, language):
    assert Kind.OTHER_LANGUAGE not in kinds(text, language)


@pytest.mark.hard_case("B51")
@pytest.mark.parametrize(
    "text",
    [
        "OK",
        "42",
        "k8s vs ECS",
        "https://example.org/the/path",
        "🙂",
        "Rust > Go?",
        "def f(x): return x*2",
        "const the = of(is);",
        "",
        "…",
        "GitHub Actions",
        "ⵣⵓⵔ",
    ],
)
def test_a_text_without_signal_has_no_language_and_is_never_drift(text):
    assert language_of(text) is None
    for language in ("en", "tr", "ja", "ar"):
        assert Kind.OTHER_LANGUAGE not in kinds(text, language)


@pytest.mark.hard_case("B51")
def test_a_motion_without_signal_takes_the_language_of_the_first_speech_that_has_one():
    assert debate_language("k8s vs ECS", ["OK", SPEECHES["tr"], SPEECHES["en"]]) == "tr"
    assert debate_language("Okullarda telefon yasaklanmalı", [SPEECHES["en"]]) == "tr"
    assert debate_language("k8s vs ECS", ["OK"], fallback="de") == "de"
    assert debate_language("k8s vs ECS") is None


@pytest.mark.hard_case("B50")
@pytest.mark.parametrize(
    ("motion", "language"),
    [
        ("Private Briefe verstorbener Eltern sollte man ungelesen verbrennen", "de"),
        ("A surgeon should have to tell you how many times they have done your operation", "en"),
        ("Il faut interdire les téléphones à l'école", "fr"),
        ("Hay que prohibir los móviles en clase", "es"),
        ("Uzaktan çalışma ekipleri zayıflatır", "tr"),
        ("العمل عن بعد يضعف الفرق التي لا تعرف بعضها", "ar"),
        ("在宅勤務はチームを弱くする", "ja"),
        ("遠端工作會削弱團隊", "zh"),
        ("Cities should ban cars", None),
        ("Remote work makes teams weaker", None),
    ],
)
def test_a_short_motion_tells_its_language_or_nothing(motion, language):
    assert language_of(motion) == language


def test_the_detector_is_loaded_only_when_a_text_needs_it():
    code = (
        "import sys; from debates.engine.detectors import language_of; before = 'gcld3' in sys.modules;"
        "language_of(sys.argv[1]); sys.exit(before or 'gcld3' not in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code, SPEECHES["de"]], timeout=60).returncode == 0


def test_the_detector_is_asked_by_many_threads_at_once():
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(language_of, list(SPEECHES.values()) * 20)) == list(SPEECHES) * 20


@pytest.mark.hard_case("B100")
def test_a_turn_like_an_own_earlier_one_is_repeated():
    for again in (LONG, LONG.upper(), LONG.replace("night", "dusk"), f"  {LONG}\n"):
        [found] = [
            flag for flag in flags(again, own_earlier=[(1, "Another."), (3, LONG)]) if flag.kind is Kind.REPEATED
        ]
        assert (found.data["turn"], found.start, found.end) == (3, 0, 0)


@pytest.mark.hard_case("B100")
@pytest.mark.parametrize(
    "text",
    [
        "\n\n".join(["The nurses know the number, and nobody else is told."] * 30),
        "The cost falls on the patient. " * 5,
        "Who pays for this rule today? You. Who pays for this rule today? I do. Who pays for this rule today?",
        "the cost of the rule is " * 20,
        "規則は誰も守らない。" * 12,
    ],
)
def test_a_turn_that_goes_round_in_circles_is_repeated(text):
    assert Kind.REPEATED in kinds(text, None)


@pytest.mark.hard_case("B100")
@pytest.mark.parametrize(
    "text",
    [
        "No. No. No. And no.",
        "Nobody asked. Nobody asked. Nobody asked.",
        LONG,
        "Yes, I do.",
        "They know. You know. I know. She knows.",
    ],
)
def test_a_figure_of_speech_or_a_short_answer_is_not_repeated(text):
    assert Kind.REPEATED not in kinds(text, own_earlier=[(1, "Yes, I do."), (2, SPEECHES["de"]), (4, LONG[:200])])


@pytest.mark.hard_case("B101")
@pytest.mark.parametrize("text", ["", " \n", "...", "N/A", "[SRC-1]", "🙂", "Proposition:", "[your answer here]"])
def test_a_turn_that_says_nothing_has_this_one_flag(text):
    assert [flag.kind for flag in flags(text)] == [Kind.PLACEHOLDER]


@pytest.mark.hard_case("B106")
@pytest.mark.parametrize(
    "text",
    [
        "As an AI language model, I can't take sides.",
        "As an AI, I have no opinion.",
        "They know. I'm just an AI, so I can't say.",
        "The nurses know.<|im_end|>",
        "[INST] The nurses know.",
        "### Response: the nurses know.",
        "<<0123456789abcdef The nurses know.",
        'Here it is: {"name": "speak", "arguments": {}}',
        "I'm sorry, but I can't assist with that.",
        "Sure! Here is my rebuttal. The nurses know.",
        "Als KI-Sprachmodell kann ich das nicht.",
        "En tant que modèle de langage, je ne sais pas.",
        "Como modelo de lenguaje, no lo sé.",
        "Bir yapay zekâ modeli olarak bilemem.",
        "كنموذج لغوي لا أعرف.",
        "私は言語モデルとして答えられません。",
    ],
)
def test_words_of_the_model_or_its_prompt_are_seen(text):
    assert Kind.PROMPT_LEAK in kinds(text, None)


@pytest.mark.hard_case("B106")
@pytest.mark.parametrize(
    "text",
    [
        "As an AI company grows, it buys chips.",
        "An AI can't take sides.",
        "You sound like an AI language model.",
        "You said “As an AI language model, I can't”, and that's odd.",
        "Use a < b and c |> d, then <div> it.",
        "Commit 0123456789abcdef fixed it.",
        "I'm sorry for the man who waits.",
        "Of course there is an answer.",
        "KI ist teuer.",
    ],
)
def test_a_debate_about_machines_is_no_leak(text):
    assert Kind.PROMPT_LEAK not in kinds(text)


def test_a_quote_that_failed_is_flagged_where_it_stands():
    text = (
        "“The count is known to no nurses,” you say, and “surgeons are never wrong about it”."
        " “The count is known to the nurses.”"
    )
    altered, absent = flags(text, opponents_earlier=[(1, "Nothing."), (2, OPPONENT)])
    assert (altered.kind, absent.kind) == (Kind.QUOTE_ALTERED, Kind.QUOTE_ABSENT)
    assert text[altered.start : altered.end] == "The count is known to no nurses,"
    assert OPPONENT[altered.data["start"] : altered.data["end"]].startswith("The count is known to the nurses")
    assert (altered.data["turn"], altered.data["match"], absent.data["turn"]) == (2, "altered", None)


def test_the_motion_the_bench_and_own_words_may_be_quoted_and_openings_quote_nobody():
    text = (
        "“Cities should ban all cars” is the motion, “who holds the knife” was asked, “the bill is paid twice” I said."
    )
    heard = {
        "motion": "Cities should ban all cars",
        "bench_said": ["Who holds the knife?"],
        "own_earlier": [(1, "The bill is paid twice.")],
    }
    assert not flags(text, opponents_earlier=[(2, OPPONENT)], **heard)
    assert len(flags(text, opponents_earlier=[(2, OPPONENT)])) == 3
    assert not flags(text, kind="opening")


def test_flags_come_in_order_and_tell_their_words():
    text = "Furthermore, studies show that teams slow down. I concede that. Moreover, it costs."
    found = flags(text)
    assert [flag.start for flag in found] == sorted(flag.start for flag in found)
    assert all(text[flag.start : flag.end].startswith(flag.data["words"].rstrip("…")) for flag in found)
    assert all(
        flag.sentence.endswith(".") and set(flag.as_dict()) == {"kind", "start", "end", "sentence", "data"}
        for flag in found
    )


def test_a_retry_names_the_words_concerned():
    text = "Furthermore, studies show that teams slow down. You said “surgeons are never wrong about it”."
    told = retry(flags(text, opponents_earlier=[(2, OPPONENT)])) or ""
    assert all(part in told for part in ("“Furthermore”", "studies show", "surgeons are never wrong about it"))
    assert "language" in (retry(flags(SPEECHES["en"], "tr")) or "")


def test_concessions_thanks_and_unverified_sources_call_for_no_retry():
    assert retry(flags("Fair enough. Studies show that teams slow down. Thank you.", sources="unverified")) is None
    assert retry(()) is None


HOSTILE = [
    "((((",
    "**",
    "` ",
    "a 2020 ",
    "according to the ",
    "study of ",
    "The WHO ",
    "Smith (2019",
    "Smith and ",
    "研究によると",
    "« ",
    "“You say ",
    "you say that ",
    "Studies show. ",
    "many recent ",
    "I concede ",
    "Bir araştırma ",
    "Rakibim ",
    "10.1234/",
    "https://a ",
    "<|",
    "_a/",
    "İ",
    "\n",
    "日",
    "Siz öğ ",
    "Harvard, ",
]


@pytest.mark.parametrize("piece", HOSTILE)
@pytest.mark.parametrize("language", ["en", "tr", "de", "fr", "es", "ar", "ja"])
def test_hostile_text_takes_linear_time(piece, language):
    """Eight times the text takes about eight times the CPU; 64 times would be quadratic."""

    def spent(size):
        text = (piece * (size // len(piece) + 1))[:size]
        begun = process_time()
        flags(text, language, opponents_earlier=[(1, OPPONENT)], own_earlier=[(2, text[: size // 2])])
        return process_time() - begun

    assert any(spent(16_000) < 24 * max(spent(2_000), 0.001) for _ in range(3))


@settings(max_examples=150, deadline=None)
@given(st.text(max_size=300), st.sampled_from(["en", "tr", "de", "fr", "es", "ar", "ja", "ko", None]))
def test_any_text_is_read_without_failing_and_places_stay_inside_it(text, language):
    for flag in flags(text, language, opponents_earlier=[(1, OPPONENT)], own_earlier=[(2, text[::-1])]):
        assert 0 <= flag.start <= flag.end <= len(text)
