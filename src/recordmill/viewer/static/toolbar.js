// The filter, the sort order, the field for a record number, and the progress and errors of a filter.

import { element, progress } from "./dom.js";

const byId = (id) => document.getElementById(id);

/** The forms of the header. `onQuery(query)` is called to apply a filter, `onGoto(position)` to open a record. */
export class Toolbar {
  constructor({ onQuery, onGoto }) {
    [this.where, this.sort, this.descending, this.goto] = ["where", "sort", "descending", "goto"].map(byId);
    const apply = () => onQuery(this.query);
    byId("filter-form").addEventListener("submit", (event) => {
      event.preventDefault();
      apply();
    });
    this.sort.addEventListener("change", apply);
    this.descending.addEventListener("change", apply);
    byId("goto-form").addEventListener("submit", (event) => {
      event.preventDefault();
      onGoto(Number(this.goto.value));
    });
  }

  get query() {
    const sort = this.sort.selectedIndex > 0 ? this.sort.value : null;
    return { where: this.where.value.trim(), sort, descending: sort !== null && this.descending.checked };
  }

  /** Show a filter and sort order that were set elsewhere, such as in the address. */
  set query({ where, sort, descending }) {
    if (where !== this.where.value.trim()) {
      this.where.value = where;
    }
    const index = [...this.sort.options].findIndex((option, i) => i > 0 && option.value === sort);
    this.sort.selectedIndex = Math.max(0, index);
    this.descending.checked = descending;
    this.descending.disabled = this.sort.selectedIndex === 0;
  }

  /** Offer the features to sort by. */
  setSortable(features) {
    const names = features.map((name) => {
      const option = element("option", {}, name);
      option.value = name;
      return option;
    });
    this.sort.replaceChildren(element("option", {}, "dataset order"), ...names);
  }

  setStatus(text) {
    byId("status").textContent = text;
  }

  /** Show the progress of a filter; returns a function that shows its next state. */
  showProgress(cancel) {
    const bar = progress("Reading records", cancel);
    byId("progress").replaceChildren(bar.node);
    byId("progress").hidden = false;
    return bar.update;
  }

  hideProgress() {
    byId("progress").hidden = true;
    byId("progress").replaceChildren();
  }

  /** Show an error; if it has a column, mark this column of the filter. */
  showError(error, where) {
    const [message, ...rest] = error.message.split("\n");
    const children = [element("span", {}, message)];
    if (error.column !== null && error.column !== undefined && where) {
      const before = [...where].slice(0, error.column).join("");
      const caret = element("span", { class: "caret-line", "aria-hidden": "true" }, element("span", {}, before), "^");
      children.push(element("pre", {}, where, "\n", caret));
    } else if (rest.length > 0) {
      children.push(element("pre", {}, rest.join("\n")));
    }
    if (error.hint && !children.some((child) => child.textContent.includes(error.hint))) {
      children.push(element("span", { class: "quiet" }, `Hint: ${error.hint}`));
    }
    byId("filter-error").replaceChildren(...children);
    this.where.setAttribute("aria-invalid", String(error.column !== null && error.column !== undefined));
  }

  hideError() {
    byId("filter-error").replaceChildren();
    this.where.removeAttribute("aria-invalid");
  }
}
