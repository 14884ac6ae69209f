// Patches the page: clones the blank pieces that the server put into it and fills them as text, never as HTML.

export class View {
  constructor(document, words) {
    this.document = document;
    this.words = words;
    this.transcript = document.getElementById("transcript");
    this.rail = document.getElementById("rail");
    this.turns = new Map(); // number → what is on the page
    for (const article of this.transcript.querySelectorAll(".turn:not(.excluded)")) this.adopt(article);
  }

  adopt(article) {
    const speech = article.querySelector(".speech");
    const [said, unsaid] = speech.children;
    const text = said.textContent;
    const piece = { article, round: article.closest(".round"), speech, said, unsaid, text, length: text.length };
    this.turns.set(Number(article.dataset.number), piece);
    return piece;
  }

  textOf(number) {
    return this.turns.get(number)?.text ?? "";
  }

  // Shows the items as far as the pacer has come.
  render(items, pacer) {
    const current = items[Math.min(pacer.current, items.length - 1)];
    for (const [place, item] of items.entries()) {
      const piece = this.turns.get(item.number) ?? this.build(item);
      const reached = place <= pacer.current;
      piece.round.hidden = !(reached || item.key === current.key);
      this.patch(piece, item, { reached, speaking: place === pacer.current, length: pacer.length(item) });
    }
    this.forget(new Set(items.map(({ number }) => number)));
    this.showRail(current, pacer);
    return this.turns.get(current?.number);
  }

  build(item) {
    const article = this.blank("turn");
    article.id = `turn-${item.number}`;
    article.dataset.number = item.number;
    article.dataset.side = item.side;
    colour(article, item.bench);
    article.querySelector(".mark use").setAttribute("href", `#mark-${item.bench}`);
    fill(article, { label: item.label, kind_label: item.kindLabel });
    const turns = this.round(item).querySelector(".turns");
    const later = [...turns.children].find((other) => Number(other.dataset.number) > item.number);
    turns.insertBefore(article, later ?? null);
    return this.adopt(article);
  }

  round({ key, roundName }) {
    const there = this.document.getElementById(`round-${key}`);
    if (there) return there;
    const round = this.blank("round");
    const heading = round.querySelector("h2");
    round.id = `round-${key}`;
    heading.id = `round-${key}-name`;
    heading.textContent = roundName;
    round.setAttribute("aria-labelledby", heading.id);
    this.transcript.append(round);
    return round;
  }

  patch(piece, item, { reached, speaking, length }) {
    const { article } = piece;
    if (piece.text !== item.text || piece.length !== length) {
      piece.said.textContent = item.text.slice(0, length);
      piece.unsaid.textContent = item.text.slice(length);
      Object.assign(piece, { text: item.text, length });
    }
    const found = reached ? item.finding : null;
    const doing = this.doing(item, reached, speaking);
    const broken = item.closed && !item.sealed && reached;
    const note = broken ? `${this.words.live.unsealed} ${item.reason}`.trim() : "";
    const look = JSON.stringify([found, doing, note, speaking, reached, item.sealed, item.excluded]);
    if (piece.look === look) return;
    piece.look = look;
    article.classList.toggle("speaking", speaking && item.spoken && !(item.closed && length >= item.text.length));
    article.classList.toggle("ahead", !reached); // in one column it would be pushed down by what comes before
    article.classList.toggle("excluded", item.excluded);
    article.toggleAttribute("data-sealed", item.sealed);
    piece.speech.hidden = Boolean(item.finding) || !item.spoken;
    article.querySelector(".finding").hidden = !found;
    fill(article, { doing, note, ...(found ?? { lead: "", words: "", aside: "" }) });
  }

  // What a speaker is at whose words aren't being typed.
  doing(item, reached, speaking) {
    const { live } = this.words;
    if (!item.spoken || (reached && !speaking)) return "";
    if (item.empty) return live.waiting;
    if (speaking) return item.text ? "" : live.writing;
    return item.sealed ? live.ready : item.closed ? "" : live.writing;
  }

  // Takes away what is void: a new claim says everything anew that wasn't sealed.
  forget(kept) {
    for (const [number, { article }] of this.turns) {
      if (kept.has(number)) continue;
      const round = article.closest(".round");
      article.remove();
      if (!round.querySelector(".turn")) round.remove();
      this.turns.delete(number);
    }
  }

  showRail(current, pacer) {
    const rounds = [...this.transcript.querySelectorAll(":scope > .round:not([hidden])")].filter((round) => round.querySelector(":scope > h2"));
    const look = rounds.map(({ id }) => id).join() + (pacer.finished ? "" : current?.key);
    if (look === this.railLook) return;
    this.railLook = look;
    this.rail.replaceChildren(
      ...rounds.map((round) => {
        const entry = this.document.createElement("li");
        const link = this.document.createElement("a");
        link.href = `#${round.id}`;
        link.textContent = round.querySelector("h2").textContent;
        entry.classList.toggle("current", !pacer.finished && round.id === `round-${current?.key}`);
        if (entry.classList.contains("current")) link.setAttribute("aria-current", "step");
        entry.append(link);
        return entry;
      }),
    );
  }

  // Puts a new version of the verdict before the older ones.
  showVerdict(card) {
    const article = this.blank("verdict");
    article.dataset.version = card.version;
    article.classList.add(`outcome-${card.outcome}`);
    colour(article, card.winner);
    const { heading, headline, reason, sure, claimed, unsettled, judged_by, small } = card;
    fill(article, { heading, headline, reason, sure, claimed, unsettled, judged_by, small });
    this.showScores(article, card.bars);
    for (const name of ["strongest", "weakest"]) showPoint(article, name, card[name]);
    part(article, "unsettled").hidden = !unsettled;
    part(article, "ballots").hidden = !card.ballots.length;
    showBallots(article.querySelector(".ballots"), card.ballots);
    const verdicts = this.document.getElementById("verdicts");
    verdicts.querySelector("form")?.remove();
    article.querySelector("form button")?.classList.toggle("main", card.outcome === "unjudged");
    verdicts.prepend(article);
  }

  showScores(article, bars) {
    article.querySelector(".scores").hidden = !bars.length;
    const scores = article.querySelectorAll(".score");
    const drawn = article.querySelectorAll(".bar");
    for (const [place, bar] of bars.entries()) {
      fill(article, { [`bar-${place}-label`]: bar.label, [`bar-${place}-score`]: bar.score });
      colour(scores[place], bar.bench);
      colour(drawn[place], bar.bench);
      drawn[place].setAttribute("x", bar.x);
      drawn[place].setAttribute("width", bar.width);
    }
  }

  blank(name) {
    return this.document.getElementById(`blank-${name}`).content.firstElementChild.cloneNode(true);
  }
}

// Gives a node the accent of a bench; what isn't a bench's name has none.
const colour = (node, bench) => /^\w+$/.test(bench) && node.classList.add(`bench-${bench}`);

const part = (node, name) => node.querySelector(`[data-part="${name}"]`);

// Puts texts into the places that bear their names. A whole paragraph without a text is hidden.
function fill(node, texts) {
  for (const [name, text] of Object.entries(texts)) {
    const place = node.querySelector(`[data-fill="${name}"]`);
    if (place.textContent !== text) place.textContent = text;
    if (place.tagName === "P") place.hidden = !text;
  }
}

function showPoint(article, name, point) {
  const place = part(article, name);
  place.hidden = !point;
  if (!point) return;
  colour(place, point.bench);
  fill(place, { [`${name}-label`]: point.label, [`${name}-quote`]: point.quote });
  if (point.href) place.querySelector("a").href = point.href;
}

function showBallots(list, ballots) {
  const blank = list.firstElementChild;
  for (const { title, line, ...points } of ballots) {
    const entry = blank.cloneNode(true);
    fill(entry, { title, line });
    for (const name of ["strongest", "weakest"]) {
      part(entry, `ballot-${name}`).hidden = !points[name];
      fill(entry, { [`ballot-${name}`]: points[name]?.quote ?? "" });
    }
    list.append(entry);
  }
  blank.remove();
}
