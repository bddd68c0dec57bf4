// The state of the page in the hash of its address: #/grid?where=…&sort=…, #/record/123?…&row=5, #/overview.

/** Parse a hash. `row` is the row of the grid, `position` the record of a record page; both may be null. */
export function parseHash(hash) {
  const [path, search = ""] = hash.replace(/^#\/?/, "").split("?", 2);
  const [page, argument = ""] = path.split("/");
  const parameters = new URLSearchParams(search);
  const query = {
    where: parameters.get("where") ?? "",
    sort: parameters.get("sort"),
    descending: parameters.get("descending") === "1",
  };
  const position = parseInteger(argument);
  const row = parseInteger(parameters.get("row"));
  if (page === "record" && position !== null) {
    return { page, query, row, position };
  }
  return { page: page === "overview" ? page : "grid", query, row, position: null };
}

function parseInteger(text) {
  return text !== null && /^\d{1,15}$/.test(text) ? Number(text) : null;
}

function formatQuery({ where, sort, descending }, row) {
  const parameters = new URLSearchParams();
  if (where) parameters.set("where", where);
  if (sort !== null) parameters.set("sort", sort);
  if (sort !== null && descending) parameters.set("descending", "1");
  if (row !== null && row !== undefined) parameters.set("row", row);
  const text = parameters.toString();
  return text ? `?${text}` : "";
}

/** Return the hash of the grid with a filter and sort order; `row` is selected. */
export function gridHash(query, row) {
  return `#/grid${formatQuery(query, row)}`;
}

/** Return the hash of a record page; `row` is the row of the record in the grid, null if unknown. */
export function recordHash(position, query, row) {
  return `#/record/${position}${formatQuery(query, row)}`;
}
