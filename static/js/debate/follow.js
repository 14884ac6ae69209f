// Keeps the words now being typed in view, for as long as the reader stays with them. Any move upwards lets go.

const BELOW = 110; // pixels kept free under the words, the player's bar included

export class Follow {
  constructor(window, button) {
    this.window = window;
    this.button = button;
    this.on = false;
    this.quiet = false; // nobody asked for these words: no button calls for them until the reader moves
    this.piece = null;
    this.top = window.scrollY;
    window.addEventListener("scroll", () => this.scrolled(), { passive: true });
    window.addEventListener("wheel", ({ deltaY }) => deltaY < 0 && this.set(false), { passive: true });
    button.addEventListener("click", () => this.jump());
  }

  // These are the words now being typed.
  see(piece) {
    this.piece = piece;
    if (this.on) this.catchUp();
    else this.show();
  }

  // Follows if the reader is where the words are.
  start() {
    this.set(this.overhang() <= BELOW);
  }

  stop() {
    this.piece = null;
    this.button.hidden = true;
  }

  // How far the words end below the place where they should.
  overhang() {
    if (!this.piece) return 0;
    const { said, article } = this.piece;
    const lines = said.getClientRects();
    const bottom = lines.length ? lines[lines.length - 1].bottom : article.getBoundingClientRect().top + 56;
    return bottom + BELOW - this.window.innerHeight;
  }

  catchUp() {
    const over = this.overhang();
    if (over > 0) this.window.scrollBy({ top: over, behavior: "instant" });
    this.top = this.window.scrollY;
  }

  jump() {
    this.window.scrollBy({ top: this.overhang(), behavior: "instant" });
    this.top = this.window.scrollY;
    this.set(true);
  }

  scrolled() {
    this.quiet = false;
    const up = this.window.scrollY < this.top - 1;
    this.top = this.window.scrollY;
    if (up) this.set(false);
    else if (!this.on && this.overhang() <= BELOW) this.set(true);
  }

  set(on) {
    this.on = on;
    this.show();
  }

  show() {
    this.button.hidden = this.on || !this.piece || this.quiet;
  }
}
