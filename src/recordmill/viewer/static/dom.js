// Creates elements. Text from records only ever becomes text nodes and attribute values, never HTML.

const SVG_NAMESPACE = "http://www.w3.org/2000/svg";

/** Create an HTML element. `on…` attributes are event handlers; true, false and null set or omit an attribute. */
export function element(tag, attributes = {}, ...children) {
  return fill(setAttributes(document.createElement(tag), attributes), children);
}

/** Create an SVG element. */
export function svg(tag, attributes = {}, ...children) {
  return fill(setAttributes(document.createElementNS(SVG_NAMESPACE, tag), attributes), children);
}

/** Append children to a node: texts, nodes and lists of them; null, undefined and false are skipped. */
export function fill(node, children) {
  node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

function setAttributes(node, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) {
      node.addEventListener(name.slice(2), value);
    } else if (value !== null && value !== undefined && value !== false) {
      node.setAttribute(name, value === true ? "" : value);
    }
  }
  return node;
}

/** Create a table with a header row. A cell is text or a node; columns in `numeric` are aligned to the right. */
export function table(caption, headers, rows, numeric = []) {
  const align = (column) => (numeric.includes(column) ? { class: "number" } : {});
  const header = headers.map((text, i) => element("th", { scope: "col", ...align(i) }, text));
  return element(
    "div",
    { class: "table", role: "region", "aria-label": caption, tabindex: 0 },
    element(
      "table",
      {},
      element("thead", {}, element("tr", {}, header)),
      element("tbody", {}, rows.map((row) => element("tr", {}, row.map((cell, i) => element("td", align(i), cell))))),
    ),
  );
}

/** Create a progress bar with a text and a button that cancels the work; `update` shows the progress of a job. */
export function progress(label, cancel) {
  const bar = element("progress", { "aria-label": label });
  const text = element("span", { class: "quiet" });
  const button = element("button", { type: "button", onclick: cancel }, "Cancel");
  const node = element("div", { class: "progress" }, element("span", {}, label), bar, text, cancel && button);
  const update = ({ done, total }) => {
    if (total > 0) {
      bar.max = total;
      bar.value = done;
      text.textContent = `${done.toLocaleString("en-US")} of ${total.toLocaleString("en-US")} records`;
    }
  };
  return { node, update };
}
