// What the page shows of a state, in display order: sealed turns, turns being spoken, and places still empty.

import { benchName, finding, kindName } from "./card.js";

export function itemsOf(state, { sides, unspoken, structured, words }) {
  const speaking = state.round?.sitting === state.state.sitting ? state.round : null;
  const slots = state.over ? [] : speaking?.slots ?? [];
  const told = [
    ...slots.map((slot) => ({ ...slot, round: speaking.round, round_name: speaking.name, empty: true })),
    ...Object.values(state.open),
    ...Object.values(state.turns).map((turn) => ({ ...turn, sealed: true })),
  ];
  const byNumber = new Map(told.map((one) => [one.number, one]));
  return [...byNumber.values()]
    .filter(({ kind }) => !unspoken.includes(kind))
    .sort((one, other) => one.number - other.number)
    .map((one) => item(one, state, sides, structured, words));
}

function item(told, state, sides, structured, words) {
  const found = told.sealed ? finding(told, words) : null;
  const spoken = !found && !structured.includes(told.kind);
  return {
    number: told.number,
    attempt: told.sealed || told.empty ? undefined : told.attempt,
    key: `${told.sitting ?? state.state.sitting}-${told.round}`,
    roundName: told.round_name,
    bench: told.bench,
    side: sides.indexOf(told.bench) + 1,
    label: benchName(told.bench, words),
    kindLabel: kindName(told.kind, words),
    spoken,
    text: spoken ? told.text ?? "" : "",
    finding: found,
    sealed: Boolean(told.sealed),
    empty: Boolean(told.empty),
    excluded: Boolean(told.excluded),
    closed: Boolean(told.sealed || state.over),
    reason: told.reason ?? "",
  };
}

// What is going on, in one sentence.
export function nowSentence(state, current, words) {
  const { live, states } = words;
  if (state.state.state === "queued") return states.queued;
  if (current?.reason && !current.closed) return current.reason;
  if (current?.spoken) return put(live.speaking, current.label.toLowerCase());
  if (current && !current.closed) return live[current.bench] ?? states.running;
  if (state.over) return "";
  const ballots = state.round?.slots.some(({ kind }) => kind === "ballot");
  return ballots ? live.ballot : states.running;
}

const put = (sentence, bench) => sentence.replace("{bench}", bench);
