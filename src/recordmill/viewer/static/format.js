// Formats numbers for people.

const UNITS = ["B", "kB", "MB", "GB", "TB", "PB"];

/** Format an integer with separators between thousands. */
export function formatCount(number) {
  return number.toLocaleString("en-US");
}

/** Format a number and a noun; the noun is in the plural unless the number is 1. */
export function formatNoun(number, noun) {
  return `${formatCount(number)} ${noun}${number === 1 ? "" : "s"}`;
}

/** Format a number of bytes with a decimal unit. */
export function formatBytes(numBytes) {
  let [value, unit] = [numBytes, 0];
  while (value >= 999.95 && unit < UNITS.length - 1) {
    [value, unit] = [value / 1000, unit + 1];
  }
  return `${unit === 0 ? value : value.toFixed(1)} ${UNITS[unit]}`;
}

/** Format a number with at most 6 significant digits; integers keep all digits. */
export function formatNumber(number) {
  if (number === null || number === undefined) {
    return "–";
  }
  return Number.isInteger(number) ? formatCount(number) : String(Number(number.toPrecision(6)));
}

/** Format a shape such as (224, 224, 3); unknown sizes are question marks. */
export function formatShape(shape) {
  return shape.length ? `(${shape.map((size) => size ?? "?").join(", ")})` : "scalar";
}

/** Return the text for the label of a record: the name of its class and its number. */
export function formatLabel({ label, class: name }) {
  if (name !== null && name !== undefined) {
    return `${name} (${label})`;
  }
  return label === null || label === undefined ? "" : String(label);
}
