// A debate's page, awake: frames go through the reducer, the pacer says how far to show them, the view shows them.

import { card, put } from "./card.js";
import { Follow } from "./follow.js";
import { itemsOf, nowSentence } from "./items.js";
import { Pacer } from "./pacer.js";
import { begin, heardTo, reduce } from "./reducer.js";
import { connect } from "./socket.js";
import { View } from "./view.js";

const $ = (id) => document.getElementById(id);
const told = JSON.parse($("data").textContent);
const { words } = told;
const view = new View(document, words);
const follow = new Follow(window, $("latest"));
const calm = matchMedia("(prefers-reduced-motion: reduce)");
const seconds = () => performance.now() / 1000;

let state = begin(told);
for (const turn of [...told.turns, ...told.open]) turn.text = view.textOf(turn.number);
for (const turn of told.open) state.open[turn.number] = turn;
let items = [];
let pacer = null;
let socket = null;
let trouble = ""; // what is wrong with the connection, as a sentence
let announced = 0; // items whose end was told to screen readers
let arrived = false; // whether the first snapshot is there

document.documentElement.classList.add("script");

// ---- the pace

function chosenPace() {
  const chosen = recall("pace") ?? (calm.matches ? "instant" : "1");
  return $("player").querySelector(`[name="pace"][value="${chosen}"]`) ?? $("player").querySelector('[value="1"]');
}

const factor = (value) => (value === "instant" ? Infinity : Number(value));

function recall(name) {
  try {
    return localStorage.getItem(name);
  } catch {
    return null; // a browser that keeps nothing
  }
}

function remember(name, value) {
  try {
    localStorage.setItem(name, value);
  } catch {
    // it is asked again next time
  }
}

// ---- showing

function play(live) {
  pacer = new Pacer({ pace: factor(chosenPace().value), live });
  announced = 0;
  chosenPace().checked = true;
  $("player").hidden = false;
  document.body.classList.add("watching");
  watch();
}

function refresh() {
  items = itemsOf(state, told);
  pacer.feed(items, state.over, seconds());
  show();
}

function show() {
  const piece = view.render(items, pacer);
  if (piece) follow.see(piece);
  announce();
  sayNow();
  for (const node of document.querySelectorAll("[data-when]")) node.hidden = !node.dataset.when.includes(state.state.state);
  if (pacer.finished) showVerdicts();
  if (pacer.finished && state.over) rest();
}

function showVerdicts() {
  const linkable = new Set(items.filter(({ sealed }) => sealed).map(({ number }) => number));
  for (const verdict of Object.values(state.verdicts)) {
    if ($("verdicts").querySelector(`[data-version="${verdict.version}"]`)) continue;
    const made = card(verdict, told.sides, linkable, words);
    view.showVerdict(made);
    say(`${made.heading}: ${made.headline}. ${made.reason}`);
  }
}

// All is said and shown: the page looks as it does when it is loaded again.
function rest() {
  document.body.classList.remove("watching", "live");
  $("player").hidden = true;
  $("verdicts").hidden = false;
  $("replay").hidden = !items.length;
  $("sentence").textContent = state.state.sentence || words.states[state.state.state];
  $("standing").hidden = state.state.state === "done" && $("verdicts").childElementCount > 0;
  $("standing").dataset.state = state.state.state;
  follow.stop();
}

function sayNow() {
  const now = trouble || nowSentence(state, items[pacer.current], words);
  if ($("now").textContent === now) return;
  $("now").textContent = now;
  $("sentence").textContent = now;
}

function announce() {
  for (; announced < pacer.current; announced += 1) {
    const { finding, label, kindLabel } = items[announced];
    say(finding ? `${label}. ${finding.lead} ${finding.words}` : put(words.live.ended, { bench: label, kind: kindLabel }));
  }
}

function say(sentence) {
  $("announcer").textContent = sentence;
}

// ---- the clock: a frame at a time, and none while there is nothing to do or nobody looking

let ticking = false;

function watch() {
  if (ticking) return;
  ticking = true;
  requestAnimationFrame(step);
}

function step() {
  if (pacer.tick(seconds())) show();
  ticking = document.body.classList.contains("watching");
  if (ticking) requestAnimationFrame(step);
}

document.addEventListener("visibilitychange", () => {
  if (document.hidden || !pacer) return;
  pacer.drain();
  show();
  watch();
});

// ---- the player's bar

$("player").addEventListener("change", ({ target }) => {
  if (target.name !== "pace") return;
  remember("pace", target.value);
  pacer.pace = factor(target.value);
  refresh();
});
$("pause").addEventListener("click", ({ currentTarget }) => {
  pacer.paused = !pacer.paused;
  currentTarget.setAttribute("aria-pressed", pacer.paused);
});
$("skip").addEventListener("click", () => {
  pacer.skipTurn();
  show();
});
$("to-verdict").addEventListener("click", () => {
  pacer.toVerdict();
  show();
  if (!document.body.classList.contains("watching")) $("verdicts").scrollIntoView({ block: "start" });
});
function replay() {
  $("replay").hidden = true;
  $("verdicts").hidden = true;
  play(false);
  refresh();
}

$("replay").addEventListener("click", () => {
  replay();
  $("transcript").scrollIntoView({ block: "start" });
  follow.start();
});

// A page that the browser kept as it was has missed what came since.
addEventListener("pageshow", ({ persisted }) => persisted && location.reload());

// ---- live

function receive(frame) {
  const lacking = state.missing;
  state = reduce(state, frame);
  trouble = "";
  if (state.missing && !lacking) socket.again();
  if (state.missing) return;
  if (frame.t === "turns") return; // the snapshot follows at once
  if (!arrived) arrive();
  refresh();
  if (frame.t === "end") socket.acknowledge();
}

// What was said before the reader came is there at once.
function arrive() {
  arrived = true;
  items = itemsOf(state, told);
  pacer.feed(items, state.over, seconds());
  pacer.know();
  announced = pacer.current;
  show();
  follow.start();
}

if (state.over && told.autoplay) {
  follow.quiet = true;
  replay();
} else if (state.over) {
  $("replay").hidden = !told.turns.length;
} else {
  play(true);
  trouble = words.live.catching_up;
  sayNow();
  socket = connect({
    url: `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/ws/d/${told.token}/`,
    after: () => heardTo(state),
    at: () => state.at,
    onFrame: receive,
    onLost: () => {
      trouble = words.live.lost;
      sayNow();
    },
    onEnd: (gone) => {
      trouble = gone ? words.live.gone : "";
      sayNow();
    },
  });
}
