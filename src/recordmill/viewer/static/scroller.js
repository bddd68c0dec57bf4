// Scroll position within content that may be higher than browsers can lay out.

// Browsers limit the height of an element; the lowest limit is about 17 million pixels.
const MAX_PIXELS = 8_000_000;
const SETTLE_MS = 150;

/**
 * Maps the scroll bar of an element to a position within virtual content.
 *
 * Content up to MAX_PIXELS is scrolled as usual. Beyond that, large jumps (scroll bar, keys) are proportional, while
 * small steps (wheel, touch) move the content by as many pixels; the scroll bar is corrected when scrolling ends.
 */
export class Scroller {
  #last = 0;
  #timer = null;

  constructor(viewport, spacer, onScroll) {
    Object.assign(this, { viewport, spacer, onScroll, top: 0, height: 0 });
    viewport.addEventListener("scroll", () => this.#follow());
  }

  get #maxTop() {
    return Math.max(0, this.height - this.viewport.clientHeight);
  }

  get #scale() {
    const maxScroll = Math.min(this.height, MAX_PIXELS) - this.viewport.clientHeight;
    return this.height > MAX_PIXELS ? this.#maxTop / maxScroll : 1;
  }

  /** Set the height of the content and the position in it, in pixels. */
  set(height, top) {
    this.height = height;
    this.spacer.style.height = `${Math.min(height, MAX_PIXELS)}px`;
    this.moveTo(top);
  }

  /** Scroll to a position in pixels. */
  moveTo(top) {
    this.top = Math.min(Math.max(0, top), this.#maxTop);
    this.#settle();
    this.onScroll();
  }

  #settle() {
    clearTimeout(this.#timer);
    this.viewport.scrollTop = this.top / this.#scale;
    this.#last = this.viewport.scrollTop;
  }

  #follow() {
    const current = this.viewport.scrollTop;
    const step = current - this.#last;
    if (step === 0) {
      return; // The event of a position that was set here.
    }
    this.#last = current;
    const isSmall = this.#scale > 1 && Math.abs(step) < this.viewport.clientHeight;
    const top = isSmall ? this.top + step : current * this.#scale;
    this.top = Math.min(Math.max(0, top), this.#maxTop);
    if (isSmall) {
      clearTimeout(this.#timer);
      const isAtEnd = current <= 0 || current >= this.viewport.scrollHeight - this.viewport.clientHeight - 1;
      this.#timer = setTimeout(() => this.#settle(), isAtEnd ? 0 : SETTLE_MS);
    }
    this.onScroll();
  }
}
