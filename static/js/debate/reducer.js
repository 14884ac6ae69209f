// What a viewer knows of a debate, as a pure function: state, frame → state, exactly as docs/live.md says.
// The same reducer takes the live log, a snapshot and a recording. Nothing here knows the page.

export function begin({ state = {}, turns = [], verdicts = [] } = {}) {
  return {
    at: null,
    missing: false, // a piece of an open turn didn't arrive: connect again
    over: !["queued", "running"].includes(state.state),
    state,
    turns: Object.fromEntries(turns.map((turn) => [turn.number, turn])),
    open: {},
    round: null, // the round that is being spoken, with its slots
    verdicts: Object.fromEntries(verdicts.map((verdict) => [verdict.version, verdict])),
  };
}

export function reduce(state, frame) {
  if (frame.id && !isAfter(frame.id, state.at)) return state;
  const next = STEPS[frame.t]?.(state, frame) ?? state;
  return frame.id ? { ...next, at: frame.id } : next;
}

const STEPS = {
  turns: (state, { turns }) => turns.reduce(seal, state),

  snapshot: (state, { at, state: told, round, open, verdicts }) => ({
    ...state,
    at,
    missing: false,
    over: !["queued", "running"].includes(told.state),
    state: told,
    round: round && { ...round, sitting: told.sitting },
    open: Object.fromEntries(open.filter(({ number }) => !state.turns[number]).map((turn) => [turn.number, counted(turn)])),
    verdicts: Object.fromEntries(verdicts.map((verdict) => [verdict.version, verdict])),
  }),

  state: (state, { sitting, kind, state: name }) => ({
    ...state,
    over: false,
    missing: false,
    state: { ...state.state, state: name, sitting, kind, sentence: "" },
    round: null,
    open: {},
  }),

  round: (state, { round, name, instruction, slots }) => ({
    ...state,
    round: { round, name, instruction, slots, sitting: state.state.sitting },
  }),

  start: (state, { number, attempt, bench, kind, round, round_name }) =>
    place(state, { number, attempt, bench, kind, round, round_name, text: "", reason: "" }),

  wait: (state, { number, reason }) => change(state, number, () => ({ reason })),

  delta(state, { number, attempt, offset, text }) {
    if (state.turns[number]) return state;
    const turn = state.open[number];
    if (!turn || turn.attempt !== attempt || turn.points !== offset) return { ...state, missing: true };
    return change(state, number, () => ({ text: turn.text + text, points: turn.points + points(text), reason: "" }));
  },

  text: (state, { number, attempt, bench, kind, round, round_name, text }) =>
    place(state, { number, attempt, bench, kind, round, round_name, text, reason: "" }),

  turn: (state, { turn }) => seal(state, turn),

  failed(state, { number, bench, sentence, text }) {
    const slot = state.round?.slots.find((one) => one.number === number);
    const known = state.open[number] ?? {
      attempt: 0,
      kind: slot?.kind ?? "",
      round: state.round?.round ?? 0,
      round_name: state.round?.name ?? "",
    };
    return place(state, { ...known, number, bench, text, reason: sentence });
  },

  verdict: (state, { verdict }) => ({ ...state, verdicts: { ...state.verdicts, [verdict.version]: verdict } }),

  end: (state, { sitting, state: name, sentence }) => ({
    ...state,
    over: true,
    state: { ...state.state, sitting, state: name, sentence },
  }),
};

// The last turn up to which none is missing: what a reconnecting viewer asks from.
export function heardTo(state) {
  let number = 0;
  while (state.turns[number + 1]) number += 1;
  return number;
}

export function isAfter(id, at) {
  if (!at) return true;
  const [fence, n] = id.split("-").map(Number);
  const [oldFence, oldN] = at.split("-").map(Number);
  return fence > oldFence || (fence === oldFence && n > oldN);
}

function seal(state, turn) {
  if (state.turns[turn.number]) return state;
  const { [turn.number]: _, ...open } = state.open;
  return { ...state, open, turns: { ...state.turns, [turn.number]: turn } };
}

function place(state, turn) {
  if (state.turns[turn.number]) return state;
  return { ...state, open: { ...state.open, [turn.number]: counted(turn) } };
}

function change(state, number, changes) {
  const turn = state.open[number];
  return turn ? { ...state, open: { ...state.open, [number]: { ...turn, ...changes() } } } : state;
}

const counted = (turn) => ({ ...turn, points: points(turn.text) });

// Offsets count code points, and a string's length doesn't.
function points(text) {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}
