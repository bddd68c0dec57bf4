// Bar charts and histograms.

import { element, svg } from "./dom.js";
import { formatCount, formatNumber } from "./format.js";

const MAX_BARS = 20;

/** Create a horizontal bar chart of named counts; a long chart shows the first bars, and a button that shows all. */
export function createBarChart(caption, bars) {
  const maximum = Math.max(1, ...bars.map(({ count }) => count));
  const body = element("tbody", {}, bars.slice(0, MAX_BARS).map((bar) => createBar(bar, maximum)));
  const headers = ["Value", "Share", "Count"].map((text) => element("th", { scope: "col" }, text));
  const chart = element(
    "table",
    { class: "bars" },
    element("caption", {}, caption),
    element("colgroup", {}, ["name", "share", "count"].map((part) => element("col", { class: `column-${part}` }))),
    element("thead", { class: "unseen" }, element("tr", {}, headers)),
    body,
  );
  const more = element("button", { type: "button" }, `Show all ${formatCount(bars.length)}`);
  more.addEventListener("click", () => {
    body.append(...bars.slice(MAX_BARS).map((bar) => createBar(bar, maximum)));
    more.remove();
  });
  return element("div", { class: "chart" }, chart, bars.length > MAX_BARS && more);
}

function createBar({ name, count }, maximum) {
  const bar = element("div", { class: "bar-fill" });
  bar.style.width = `${(100 * count) / maximum}%`;
  return element(
    "tr",
    {},
    element("th", { scope: "row", title: name }, name),
    element("td", { class: "bar-cell" }, bar),
    element("td", { class: "number" }, formatCount(count)),
  );
}

/** Create a histogram from the edges of its bins and their counts. A bin of integers ends before its right edge. */
export function createHistogram(caption, { edges, counts }, { format = formatNumber, isInteger = false } = {}) {
  const maximum = Math.max(1, ...counts);
  const total = counts.reduce((sum, count) => sum + count, 0);
  const right = (bin) => edges[bin + 1] - (isInteger ? 1 : 0);
  const [first, last] = [format(edges[0]), format(right(counts.length - 1))];
  const bars = counts.map((count, bin) => {
    const height = count === 0 ? 0 : Math.max(1, (100 * count) / maximum);
    const text = `${format(edges[bin])} to ${format(right(bin))}: ${formatCount(count)}`;
    return svg("rect", { x: bin + 0.05, y: 100 - height, width: 0.9, height }, svg("title", {}, text));
  });
  const highest = `highest bin: ${formatCount(maximum)}`;
  const label = `${caption}: histogram of ${formatCount(total)} values from ${first} to ${last}, ${highest}`;
  const viewBox = `0 0 ${counts.length} 100`;
  return element(
    "figure",
    { class: "chart" },
    element("figcaption", {}, caption),
    svg("svg", { class: "histogram", role: "img", "aria-label": label, viewBox, preserveAspectRatio: "none" }, bars),
    element("div", { class: "axis quiet" }, [first, highest, last].map((text) => element("span", {}, text))),
  );
}
