// Types turns at a reading pace, one after the other in display order. It knows neither the page nor the clock: it is
// handed the items and the time, and says how far each may be shown.
//
// An item is {number, text, attempt, spoken, closed}: `closed` means that no more of it will come.

const READING = 32; // characters a second: a brisk silent reader
const BEHIND = 1.6; // all is on screen within this many times the time that the server took
const AFTER_SENTENCE = 9; // pauses, in characters
const AFTER_TURN = 24;
const FINDING = 40; // what a ruling costs to take in
const SENTENCE_END = /[.!?…。！？؟।]["'”’»」)\]]*$/u;
const graphemes = new Intl.Segmenter(undefined, { granularity: "grapheme" });

export class Pacer {
  constructor({ pace = 1, live = true } = {}) {
    this.pace = pace; // a factor, or Infinity
    this.live = live;
    this.paused = false;
    this.rushed = false; // until the end
    this.items = [];
    this.shown = new Map(); // number → {attempt, length, at_once}
    this.current = 0;
    this.credit = 0;
    this.began = this.ended = this.last = null;
    this.rested = 0;
  }

  // Takes the items as they stand; `over`: the server has nothing more to say.
  feed(items, over, now) {
    if (this.live && items.length && this.began === null) this.began = now;
    this.ended = over ? this.ended ?? now : null;
    this.items = items;
    for (const { number, attempt } of items) {
      const shown = this.shown.get(number);
      const anew = attempt !== undefined && shown?.attempt !== attempt;
      if (!shown || anew) this.shown.set(number, { attempt, length: 0, atOnce: false, done: false });
    }
    this.current = items.findIndex((item) => !this.isFinished(item));
    if (this.current < 0) this.current = items.length;
    if (this.pace === Infinity || this.rushed) this.drain();
  }

  // Counts what has been said so far as read: it was there before the reader came.
  know() {
    for (const item of this.items) {
      if (this.finished || item.number > this.items[this.current].number) break;
      this.release(item);
    }
  }

  length(item) {
    const shown = this.shown.get(item.number);
    return shown.atOnce ? item.text.length : Math.min(shown.length, item.text.length);
  }

  isFinished(item) {
    return item.closed && this.shown.get(item.number).done && this.length(item) >= item.text.length;
  }

  get finished() {
    return this.current >= this.items.length;
  }

  // Moves on to the time `now` (seconds). Says whether anything changed.
  tick(now) {
    const passed = this.last === null ? 0 : now - this.last;
    this.last = now;
    if (this.paused) {
      this.rested += passed;
      return false;
    }
    if (this.finished) return false;
    this.credit += passed * this.rate(now);
    return this.spend();
  }

  // Characters a second: the reading pace, or what it takes not to fall too far behind.
  rate(now) {
    if (!this.live || this.began === null) return this.pace * READING;
    const served = (this.ended ?? now) - this.began;
    const left = this.began + BEHIND * served + this.rested - now;
    return this.pace * Math.max(READING, this.backlog() / Math.max(left, 0.1));
  }

  backlog() {
    let cost = 0;
    for (const item of this.items.slice(this.current)) {
      const rest = item.text.slice(this.length(item));
      cost += item.spoken ? rest.length + AFTER_SENTENCE * sentences(rest) : 0;
      if (item.closed) cost += item.spoken ? AFTER_TURN : FINDING;
    }
    return cost;
  }

  spend() {
    let changed = false;
    while (this.credit > 0 && !this.finished) {
      const item = this.items[this.current];
      const shown = this.shown.get(item.number);
      if (item.spoken && this.length(item) < item.text.length) {
        this.say(item, shown);
      } else if (item.closed) {
        this.credit -= item.spoken ? AFTER_TURN : FINDING;
        shown.done = true;
        this.next();
      } else {
        this.credit = 0; // it types no faster afterwards for having waited
        break;
      }
      changed = true;
    }
    return changed;
  }

  // Shows one more grapheme of the item, and pays for it.
  say(item, shown) {
    const { index, segment } = graphemes.segment(item.text).containing(shown.length);
    shown.length = index + segment.length;
    this.credit -= segment.length;
    const following = item.text[shown.length];
    if (following !== undefined && /\s/u.test(following) && SENTENCE_END.test(item.text.slice(0, shown.length).slice(-6))) {
      this.credit -= AFTER_SENTENCE;
    }
  }

  next() {
    do this.current += 1;
    while (!this.finished && this.isFinished(this.items[this.current]));
  }

  // What more is said in this turn is shown as it comes, too.
  skipTurn() {
    const item = this.items[this.current];
    if (!item) return;
    this.shown.get(item.number).atOnce = true;
    this.release(item);
  }

  toVerdict() {
    this.rushed = true;
    this.drain();
  }

  // Shows all there is.
  drain() {
    for (const item of this.items.slice(this.current)) this.release(item);
    this.credit = 0;
    this.last = null;
  }

  release(item) {
    const shown = this.shown.get(item.number);
    shown.length = item.text.length;
    shown.done = item.closed;
    if (item === this.items[this.current] && item.closed) this.next();
  }
}

function sentences(text) {
  return text.match(/[.!?…。！？؟।]["'”’»」)\]]*\s/gu)?.length ?? 0;
}
