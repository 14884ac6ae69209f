// A verdict, and a referee's or judge's finding, in the page's words: what debates/card.py does on the server.

export function card(verdict, sides, linkable, words) {
  const say = words.verdict;
  const details = verdict.details ?? {};
  return {
    version: verdict.version,
    outcome: verdict.outcome,
    winner: verdict.winner ?? "",
    heading: verdict.version === 1 ? say.heading : put(say.version, { n: verdict.version }),
    headline: headline(verdict, words),
    reason: verdict.reason,
    bars: bars(verdict.scores ?? {}, sides, words),
    sure: sure(verdict, say),
    claimed: details.claimed?.length ? put(say.claimed, { numbers: details.claimed.join(", ") }) : "",
    strongest: point(details.strongest, linkable, words),
    weakest: point(details.weakest, linkable, words),
    unsettled: details.unsettled ?? "",
    ballots: (details.ballots ?? []).map((one) => ballot(one, sides, linkable, words)),
    judged_by: details.judges?.length ? put(say.judged_by, { models: details.judges.join(", ") }) : "",
    small: details.small_judge ? say.small : "",
  };
}

export function finding({ kind, data, failure }, words) {
  if (failure) return { lead: "", words: failure, aside: "" };
  if (kind === "ruling" && data) {
    return { lead: data.live ? words.live.live : words.live.settled, words: data.tension ?? "", aside: data.note ?? "" };
  }
  if (kind === "bench_question" && data) {
    return { lead: addressed(data.to ?? "none", words), words: data.question ?? "", aside: "" };
  }
  return null;
}

export const benchName = (name, words) => words.benches[name] ?? capital(name.replaceAll("_", " "));
export const kindName = (name, words) => words.kinds[name] ?? name.replaceAll("_", " ");

// Fills {names} in a sentence.
export const put = (sentence, values) => sentence.replace(/\{(\w+)\}/g, (_, name) => values[name] ?? "");

function addressed(to, words) {
  if (to === "both" || to === "none") return words.live[`to_${to}`];
  return put(words.live.to, { bench: benchName(to, words).toLowerCase() });
}

function headline({ outcome, winner, confidence }, words) {
  const say = words.verdict;
  if (outcome !== "winner") return say[outcome];
  const side = benchName(winner, words);
  return confidence === null ? put(say.winner_bare, { side }) : put(say.winner, { side, how: say[inWord(confidence)] });
}

function inWord(confidence) {
  if (confidence < 65) return "leaning";
  return confidence < 80 ? "clear" : "strong";
}

function sure({ outcome, confidence }, say) {
  if (outcome !== "winner" || confidence === null) return "";
  return put(say.sure, { n: Math.trunc(confidence / 10 + 0.5) });
}

function bars(scores, sides, words) {
  if (sides.length !== 2 || !sides.every((side) => side in scores)) return [];
  const lengths = sides.map((side) => Math.min(100, Math.max(0, scores[side])));
  return sides.map((side, place) => ({
    bench: side,
    label: benchName(side, words),
    score: number(scores[side]),
    x: number(place ? 100 : 100 - lengths[0]),
    width: number(lengths[place]),
  }));
}

const number = (value) => String(Math.trunc(value * 10 + 0.5) / 10);
const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

function point(told, linkable, words) {
  if (!told?.quote) return null;
  const href = linkable.has(told.turn) ? `#turn-${told.turn}` : "";
  return { bench: told.side ?? "", label: told.side ? benchName(told.side, words) : "", quote: told.quote, href };
}

function ballot(told, sides, linkable, words) {
  const say = words.verdict;
  const low = (side) => benchName(side, words).toLowerCase();
  const given = told.scores ?? {};
  const scores = sides.filter((side) => side in given).map((side) => `${benchName(side, words)} ${number(given[side])}`);
  const sentences = [scores.length ? `${scores.join(", ")}.` : "", named(told, say, low)];
  if (told.reconciled) {
    const from = told.reconciled.from;
    sentences.push(from === "none" ? say.reconciled_none : put(say.reconciled, { side: low(from) }));
  }
  if (told.shown?.length) sentences.push(put(say.read_first, { side: low(told.shown[0]) }));
  return {
    title: put(say.ballot, { n: told.number ?? "" }).trim(),
    line: sentences.filter(Boolean).join(" "),
    strongest: point(told.strongest, linkable, words),
    weakest: point(told.weakest, linkable, words),
  };
}

function named({ winner, confidence }, say, low) {
  if (confidence === null || confidence === undefined) return "";
  return winner ? put(say.named, { side: low(winner), n: confidence }) : put(say.named_none, { n: confidence });
}
