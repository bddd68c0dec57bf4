// Shows the page that the hash of the address selects, and handles the global keyboard shortcuts.

import { computeView, request } from "./api.js";
import { element } from "./dom.js";
import { formatCount, formatNoun } from "./format.js";
import { Grid } from "./grid.js";
import { gridHash, parseHash, recordHash } from "./location.js";
import { showOverview } from "./overview.js";
import { RecordPages } from "./pages.js";
import { showPreview } from "./preview.js";
import { createOriginal, showRecord } from "./record.js";
import { Toolbar } from "./toolbar.js";

const byId = (id) => document.getElementById(id);
const PAGES = ["grid", "record", "overview"];

let dataset;
let route = parseHash(location.hash);
let query = route.query; // Filter and sort order of the grid.
let view = null; // {key, pages: promise of RecordPages or null, controller}
let leaving = new AbortController(); // Aborted when another page is shown.

const grid = new Grid(byId("grid-page"), {
  getHash: (record, row) => recordHash(record.position, query, row),
  onOpen: rememberRow,
});
const toolbar = new Toolbar({
  onQuery: (next) => navigate(gridHash(next)),
  onGoto: (position) => navigate(recordHash(position, query, null)),
});

/** Keep the selected row in the address of the grid, so that going back selects it again. */
function rememberRow(row) {
  history.replaceState(null, "", gridHash(query, row));
}

function navigate(hash) {
  if (hash === location.hash) {
    showRoute();
  } else {
    location.hash = hash;
  }
}

/** Compute the view of the filter in the address unless it is the current one; resolves to its pages or null. */
function applyQuery() {
  const key = JSON.stringify(query);
  if (view?.key !== key) {
    view?.controller.abort();
    const controller = new AbortController();
    view = { key, controller, pages: loadView(query, controller) };
  }
  return view.pages;
}

async function loadView(chosen, controller) {
  toolbar.hideError();
  toolbar.hideProgress();
  const isWhole = chosen.where === "" && chosen.sort === null;
  try {
    const whole = { id: null, numRecords: dataset.num_records, numSkipped: 0 };
    const result = isWhole ? whole : await compute(chosen, controller);
    const pages = new RecordPages(result.id, result.numRecords, (first, stop) => grid.update(first, stop), onPageError);
    grid.show(pages, describeCells());
    showCounts(result);
    return pages;
  } catch (error) {
    if (view?.controller === controller) {
      view = null;
      showQueryError(error, chosen);
    }
    return null;
  }
}

function describeCells() {
  const { schema, image_features: images, label_feature: label, key_feature: key } = dataset;
  const numNames = (label === null ? 0 : 1) + (key === null ? 0 : 1);
  const numValues = Object.keys(schema).length - images.length - numNames;
  return { hasImages: images.length > 0, numLines: Math.min(4, Math.max(0, numValues)) + (label === null ? 1 : 2) };
}

async function compute(chosen, controller) {
  toolbar.setStatus("");
  const update = toolbar.showProgress(() => controller.abort());
  try {
    return await computeView(chosen, update, controller.signal);
  } finally {
    if (view === null || view.controller === controller) {
      toolbar.hideProgress();
    }
  }
}

function showQueryError(error, chosen) {
  const isCancelled = error.name === "AbortError";
  toolbar.showError(isCancelled ? { message: "Cancelled.", column: null } : error, chosen.where);
  grid.showMessage(isCancelled ? "Press Enter in the filter to try again." : "Correct the filter to see records.");
}

function showCounts({ numRecords, numSkipped }) {
  const total = formatNoun(dataset.num_records, "record");
  const skipped = numSkipped > 0 ? `, ${formatNoun(numSkipped, "damaged record")} skipped` : "";
  const isFiltered = query.where !== "" || numSkipped > 0;
  toolbar.setStatus(isFiltered ? `${formatCount(numRecords)} of ${total}${skipped}` : "");
}

/** Compute the view again if the server has dropped it, because the server keeps only the latest views. */
function onPageError(error) {
  if (error.status === 404 && (query.where !== "" || query.sort !== null)) {
    view = null;
    applyQuery();
  } else {
    toolbar.showError(error, "");
  }
}

async function showGrid({ row }, signal) {
  const pages = await applyQuery();
  if (pages === null || signal.aborted) {
    return;
  }
  grid.select(row ?? grid.selected);
  if (document.activeElement === document.body || document.activeElement === byId("main")) {
    grid.focus();
  }
}

async function showRecordPage({ position, row }, signal) {
  const body = element("div", { "aria-busy": "true" });
  const steps = [
    element("button", { id: "previous", disabled: true, "aria-keyshortcuts": "ArrowLeft" }, "← Previous"),
    element("button", { id: "next", disabled: true, "aria-keyshortcuts": "ArrowRight" }, "Next →"),
  ];
  const back = element("a", { id: "back", href: gridHash(query, row), "aria-keyshortcuts": "Escape" }, "Back to grid");
  const focused = document.activeElement.id;
  const heading = element("div", { class: "bar" }, element("h2", {}, `Record ${formatCount(position)}`), steps, back);
  byId("record-page").replaceChildren(heading, body);
  if (document.activeElement === document.body || document.activeElement === document.documentElement) {
    byId("main").focus({ preventScroll: true });
  }
  linkNeighbors(steps, position, row, signal).then(() => steps.find(({ id }) => id === focused)?.focus());
  const record = await showRecord(body, position, signal);
  body.removeAttribute("aria-busy");
  if (dataset.pipeline !== null) {
    await showPreview(body, dataset.pipeline, position, createOriginal(record), signal);
  }
}

/** Add links to the previous and next record in the grid, or in the dataset if `row` is unknown. */
async function linkNeighbors(steps, position, row, signal) {
  const pages = await applyQuery();
  const find = async (direction) => {
    if (row !== null) {
      return pages === null ? null : pages.fetch(row + direction, signal);
    }
    const next = position + direction;
    return next >= 0 && next < dataset.num_records ? { position: next } : null;
  };
  const neighbors = await Promise.all([find(-1), find(1)]).catch(() => [null, null]);
  neighbors.forEach((record, i) => {
    if (record !== null) {
      const hash = recordHash(record.position, query, row === null ? null : row + (i === 0 ? -1 : 1));
      steps[i].disabled = false;
      steps[i].addEventListener("click", () => {
        history.replaceState(null, "", hash); // The back button of the browser then leads to the grid.
        showRoute();
      });
    }
  });
}

async function showRoute() {
  leaving.abort();
  leaving = new AbortController();
  const { signal } = leaving;
  route = parseHash(location.hash);
  if (route.page !== "overview") {
    query = route.query;
    toolbar.query = query;
  }
  for (const page of PAGES) {
    byId(`${page}-page`).hidden = page !== route.page;
  }
  document.body.dataset.page = route.page;
  byId("tab-grid").href = gridHash(query);
  for (const page of ["grid", "overview"]) {
    if (page === route.page) {
      byId(`tab-${page}`).setAttribute("aria-current", "page");
    } else {
      byId(`tab-${page}`).removeAttribute("aria-current");
    }
  }
  const titles = { grid: "Records", record: `Record ${route.position}`, overview: "Overview" };
  document.title = `${titles[route.page]} – ${dataset.title}`;
  const show = {
    grid: () => showGrid(route, signal),
    record: () => showRecordPage(route, signal),
    overview: () => showOverview(byId("overview-page"), dataset, signal),
  }[route.page];
  await show().catch((error) => {
    if (error.name !== "AbortError") {
      byId(`${route.page}-page`).append(element("p", { class: "error", role: "alert" }, error.message));
    }
  });
}

function onKey(event) {
  const { target, key } = event;
  const isTyping = target.matches("input:not([type=checkbox]), select, textarea");
  if (event.ctrlKey || event.altKey || event.metaKey || event.defaultPrevented) {
    return;
  }
  const actions = isTyping
    ? { Escape: () => (route.page === "grid" ? grid.focus() : byId("main").focus()) }
    : {
        "/": () => {
          if (route.page === "overview") {
            navigate(gridHash(query));
          }
          setTimeout(() => toolbar.where.select());
        },
        g: () => toolbar.goto.select(),
        ...(route.page === "record" && {
          ArrowLeft: () => byId("previous").click(),
          ArrowRight: () => byId("next").click(),
          Escape: () => byId("back").click(),
        }),
        ...(route.page === "overview" && { Escape: () => byId("tab-grid").click() }),
      };
  if (actions[key] !== undefined) {
    event.preventDefault();
    actions[key]();
  }
}

async function start() {
  try {
    dataset = await request("api/dataset");
  } catch (error) {
    toolbar.showError(error, "");
    return;
  }
  byId("title").textContent = byId("title").title = dataset.title;
  byId("count").textContent = formatNoun(dataset.num_records, "record");
  toolbar.setSortable(dataset.sortable);
  toolbar.where.disabled = false; // Before, `showRoute` would replace what the user has typed.
  addEventListener("hashchange", showRoute);
  addEventListener("keydown", onKey);
  await showRoute();
}

start();
