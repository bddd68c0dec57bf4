// The grid of records. It creates elements only for the visible cells.

import { element } from "./dom.js";
import { formatLabel } from "./format.js";
import { Scroller } from "./scroller.js";

// Minimum width and height of cells in pixels, including the gap, by content of the records.
const IMAGE_LAYOUT = { width: 150, height: 196 };
const STRIP_LAYOUT = { width: 320, height: 208 };
const TEXT_WIDTH = 260;
const TEXT_HEIGHT = 24;
const VALUE_HEIGHT = 20;
const GAP = 8;
const EXTRA_ROWS = 1;

/** Grid with virtual scrolling and a selected cell. A row of the view is one record; a line holds several of them. */
export class Grid {
  #lines = new Map();
  #pages = null;
  #layout = IMAGE_LAYOUT;
  #columns = 1;
  #width = 0;

  /** `getHash(record, row)` returns the address of a record page; `onOpen(row)` is called before it is opened. */
  constructor(container, { getHash, onOpen }) {
    Object.assign(this, { getHash, onOpen, selected: 0 });
    this.spacer = element("div", { class: "spacer" });
    this.layer = element("div", { class: "layer" });
    this.viewport = element(
      "div",
      { class: "grid", role: "grid", tabindex: 0, "aria-label": "Records", "aria-readonly": "true" },
      this.layer,
      this.spacer,
    );
    this.message = element("p", { class: "empty", hidden: true });
    container.append(this.viewport, this.message);
    this.scroller = new Scroller(this.viewport, this.spacer, () => this.#render());
    this.viewport.addEventListener("keydown", (event) => this.#onKey(event));
    this.layer.addEventListener("click", (event) => this.#onClick(event));
    new ResizeObserver(() => this.#resize()).observe(this.viewport);
  }

  get numRecords() {
    return this.#pages?.numRecords ?? 0;
  }

  /** Show the records of a view from its beginning. Cells have `numLines` lines of text if there are no images. */
  show(pages, { hasImages, numLines }) {
    this.#pages?.close();
    this.#pages = pages;
    this.#layout = hasImages ? IMAGE_LAYOUT : { width: TEXT_WIDTH, height: TEXT_HEIGHT + numLines * VALUE_HEIGHT };
    this.selected = 0;
    this.viewport.hidden = pages.numRecords === 0;
    this.message.hidden = pages.numRecords > 0;
    this.message.textContent = "No record matches the filter.";
    this.#width = 0;
    this.#measure(0);
  }

  /** Show records that have been loaded; records with several images get wide cells. */
  update(first, stop) {
    if (this.#layout === IMAGE_LAYOUT) {
      for (let row = first; row < stop; row += 1) {
        if (this.#pages.get(row)?.images.length > 1) {
          this.#layout = STRIP_LAYOUT;
          this.#measure(this.#firstRow());
          this.select(this.selected, false);
          break;
        }
      }
    }
    this.#forEachCell((cell, row) => {
      if (row >= first && row < stop) {
        this.#fillCell(cell, row);
      }
    });
    this.#markSelected();
  }

  /** Select the cell of a row, and scroll it into view. */
  select(row, scrolls = true) {
    this.#resize();
    this.selected = Math.min(Math.max(0, row), this.numRecords - 1);
    const top = Math.floor(this.selected / this.#columns) * this.#layout.height;
    const bottom = top + this.#layout.height;
    if (scrolls && top < this.scroller.top) {
      this.scroller.moveTo(top);
    } else if (scrolls && bottom > this.scroller.top + this.viewport.clientHeight) {
      this.scroller.moveTo(bottom - this.viewport.clientHeight);
    }
    this.#markSelected();
  }

  focus() {
    (this.viewport.hidden ? this.message : this.viewport).focus({ preventScroll: true });
  }

  /** Show only a message. */
  showMessage(text) {
    this.viewport.hidden = true;
    this.message.hidden = false;
    this.message.textContent = text;
  }

  #firstRow() {
    return Math.floor(this.scroller.top / this.#layout.height) * this.#columns;
  }

  #resize() {
    if (this.#pages !== null && this.viewport.clientWidth !== this.#width) {
      this.#measure(this.#firstRow());
    } else if (this.#pages !== null && this.#width > 0) {
      this.#render();
    }
  }

  /** Find the number of columns, and scroll to the line that contains a row. */
  #measure(firstRow) {
    const width = this.viewport.clientWidth;
    this.#clear();
    if (width === 0) {
      return; // Hidden; the ResizeObserver calls again.
    }
    this.#width = width;
    this.#columns = Math.max(1, Math.floor((width - GAP) / (this.#layout.width + GAP)));
    this.layer.style.setProperty("--columns", this.#columns);
    this.layer.style.setProperty("--cell-height", `${this.#layout.height - GAP}px`);
    const numLines = Math.ceil(this.numRecords / this.#columns);
    this.viewport.setAttribute("aria-rowcount", numLines);
    this.viewport.setAttribute("aria-colcount", this.#columns);
    this.scroller.set(numLines * this.#layout.height + GAP, Math.floor(firstRow / this.#columns) * this.#layout.height);
  }

  #clear() {
    this.#lines.forEach((line, number) => this.#removeLine(line, number));
  }

  #removeLine(line, number) {
    // Otherwise, the browser would finish the requests of images that have left the page.
    line.querySelectorAll("img").forEach((image) => image.complete || image.removeAttribute("src"));
    line.remove();
    this.#lines.delete(number);
  }

  #render() {
    const { height } = this.#layout;
    const numLines = Math.ceil(this.numRecords / this.#columns);
    const first = Math.max(0, Math.floor(this.scroller.top / height) - EXTRA_ROWS);
    const stop = Math.min(numLines, Math.ceil((this.scroller.top + this.viewport.clientHeight) / height) + EXTRA_ROWS);
    this.#lines.forEach((line, number) => {
      if (number < first || number >= stop) {
        this.#removeLine(line, number);
      }
    });
    for (let number = first; number < stop; number += 1) {
      const line = this.#lines.get(number) ?? this.#addLine(number);
      line.style.transform = `translateY(${number * height - this.scroller.top + GAP}px)`;
    }
    this.#pages.load(first * this.#columns, Math.min(stop * this.#columns, this.numRecords));
    this.#markSelected();
  }

  #addLine(number) {
    const line = element("div", { class: "line", role: "row", "aria-rowindex": number + 1 });
    const start = number * this.#columns;
    for (let row = start; row < Math.min(start + this.#columns, this.numRecords); row += 1) {
      const cell = element("div", {
        class: "cell",
        role: "gridcell",
        id: `cell-${row}`,
        "aria-colindex": row - start + 1,
        "aria-selected": "false",
      });
      this.#fillCell(cell, row);
      line.append(cell);
    }
    const next = [...this.#lines.keys()].filter((other) => other > number).sort((a, b) => a - b)[0];
    this.layer.insertBefore(line, this.#lines.get(next) ?? null);
    this.#lines.set(number, line);
    return line;
  }

  #fillCell(cell, row) {
    const record = this.#pages.get(row);
    if (record === null) {
      cell.replaceChildren(element("span", { class: "quiet" }, "…"));
    } else if (cell.dataset.position !== String(record.position)) {
      cell.dataset.position = record.position;
      cell.replaceChildren(createCell(record, this.getHash(record, row)));
    }
  }

  #forEachCell(visit) {
    for (const cell of this.layer.querySelectorAll(".cell")) {
      visit(cell, Number(cell.id.slice("cell-".length)));
    }
  }

  #markSelected() {
    let active = null;
    this.#forEachCell((cell, row) => {
      cell.setAttribute("aria-selected", String(row === this.selected));
      active = row === this.selected ? cell : active;
    });
    if (active === null) {
      this.viewport.removeAttribute("aria-activedescendant");
    } else {
      this.viewport.setAttribute("aria-activedescendant", active.id);
    }
  }

  #onClick(event) {
    const cell = event.target.closest(".cell");
    if (cell !== null) {
      this.select(Number(cell.id.slice("cell-".length)), false);
      this.onOpen(this.selected);
    }
  }

  #onKey(event) {
    if (event.altKey || event.metaKey) {
      return;
    }
    const linesPerScreen = Math.max(1, Math.floor(this.viewport.clientHeight / this.#layout.height));
    const target = {
      ArrowLeft: this.selected - 1,
      ArrowRight: this.selected + 1,
      ArrowUp: this.selected < this.#columns ? this.selected : this.selected - this.#columns,
      ArrowDown: this.selected + this.#columns,
      PageUp: this.selected - linesPerScreen * this.#columns,
      PageDown: this.selected + linesPerScreen * this.#columns,
      Home: 0,
      End: this.numRecords - 1,
    }[event.key];
    if (target !== undefined) {
      this.select(target);
    } else if (event.key === "Enter") {
      document.getElementById(`cell-${this.selected}`)?.querySelector("a")?.click();
    } else {
      return;
    }
    event.preventDefault();
  }
}

function createCell(record, hash) {
  const label = formatLabel(record);
  const name = record.key ?? `record ${record.position}`;
  return element(
    "a",
    { href: hash, tabindex: -1 },
    record.images.length > 0 && createStrip(record.images),
    record.error !== null && element("span", { class: "error" }, record.error),
    record.images.length === 0 && record.values.map(createValue),
    element(
      "span",
      { class: "caption" },
      label && element("span", { class: "label", title: label }, label),
      element("span", { class: "key", title: name }, name),
    ),
  );
}

function createValue({ name, text }) {
  return element("span", { class: "value" }, element("span", { class: "quiet" }, `${name} `), text);
}

function createStrip(urls) {
  const strip = element("span", { class: "strip" }, urls.map(createThumbnail));
  strip.style.setProperty("--images", Math.min(urls.length, 4));
  return strip;
}

function createThumbnail(url) {
  const image = element("img", { src: url, alt: "" });
  image.addEventListener("error", () => {
    if (image.hasAttribute("src")) {
      image.replaceWith(element("span", { class: "error" }, "Image cannot be decoded"));
    }
  });
  return image;
}
