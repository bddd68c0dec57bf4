// The records of a view, loaded in pages on demand.

import { fetchRecords } from "./api.js";

const PAGE_SIZE = 50;
const MAX_PAGES = 40;
// Requests are sent at most this often, so that fast scrolling does not start one for every page that it passes.
const DELAY_MS = 30;

/** Records of a view by row. Requests for pages that are no longer visible are aborted. */
export class RecordPages {
  #pages = new Map(); // Number of a page to its records, least recently requested first.
  #requests = new Map(); // Number of a page to the AbortController of its request.
  #needed = new Set();
  #timer = null;

  /** `onLoad(firstRow, stopRow)` is called when records arrive, `onError(error)` when a request fails. */
  constructor(viewId, numRecords, onLoad, onError) {
    Object.assign(this, { viewId, numRecords, onLoad, onError });
  }

  /** Return the record of a row, or null if it is not loaded. */
  get(row) {
    return this.#pages.get(Math.floor(row / PAGE_SIZE))?.[row % PAGE_SIZE] ?? null;
  }

  /** Load the records of rows first to stop - 1, and abort the requests for all others. */
  load(first, stop) {
    const needed = new Set();
    for (let page = Math.floor(first / PAGE_SIZE); page * PAGE_SIZE < stop; page += 1) {
      needed.add(page);
    }
    for (const [page, controller] of this.#requests) {
      if (!needed.has(page)) {
        controller.abort();
        this.#requests.delete(page);
      }
    }
    this.#needed = needed;
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      this.#needed.forEach((page) => this.#loadPage(page));
    }, DELAY_MS);
  }

  async #loadPage(page) {
    const known = this.#pages.get(page);
    if (known !== undefined) {
      this.#pages.delete(page);
      this.#pages.set(page, known);
      return;
    }
    if (this.#requests.has(page)) {
      return;
    }
    const controller = new AbortController();
    this.#requests.set(page, controller);
    const [start, stop] = [page * PAGE_SIZE, Math.min((page + 1) * PAGE_SIZE, this.numRecords)];
    try {
      this.#pages.set(page, await fetchRecords(start, stop, this.viewId, controller.signal));
      if (this.#pages.size > MAX_PAGES) {
        this.#pages.delete(this.#pages.keys().next().value);
      }
      this.onLoad(start, stop);
    } catch (error) {
      if (error.name !== "AbortError") {
        this.onError(error);
      }
    } finally {
      if (this.#requests.get(page) === controller) {
        this.#requests.delete(page);
      }
    }
  }

  /** Return the record of a row, loaded alone if necessary; null beyond the ends. */
  async fetch(row, signal) {
    if (row < 0 || row >= this.numRecords) {
      return null;
    }
    return this.get(row) ?? (await fetchRecords(row, row + 1, this.viewId, signal))[0] ?? null;
  }

  /** Abort all requests. */
  close() {
    this.load(0, 0);
  }
}
