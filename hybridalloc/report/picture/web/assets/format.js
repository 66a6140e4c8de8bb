// Sizes, times and other text to read.

const BYTES = [[2 ** 30, "GiB"], [2 ** 20, "MiB"], [2 ** 10, "KiB"]];
const SECONDS = [[1, "s"], [1e-3, "ms"], [1e-6, "µs"], [1e-9, "ns"]];

function digits(value, count) {
  return Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(count)));
}

function sizeText(size) {
  const [factor, unit] = BYTES.find((x) => Math.abs(size) >= x[0]) ?? [1, "B"];
  return `${digits(size / factor, 3)} ${unit}`;
}

function timeText(seconds) {
  if (!seconds) return "0 s";
  const [factor, unit] = SECONDS.find((x) => Math.abs(seconds) >= x[0]) ?? SECONDS[3];
  return `${digits(seconds / factor, 4)} ${unit}`;
}

function signedTime(seconds) {
  return (seconds > 0 ? "+" : "") + timeText(seconds);
}

function countText(count) {
  return count.toLocaleString("en");
}

/** The labels of ticks, in the unit that suits the highest amount that there is. */
function tickText(unit, top) {
  if (unit === "parts") return (ticks) => ticks.map((x) => digits(x, 3));
  const units = unit === "bytes" ? BYTES : SECONDS;
  const [factor, name] = units.find((x) => top >= x[0]) ?? [1, unit === "bytes" ? "B" : "s"];
  return (ticks) => ticks.map((x) => (x ? `${digits(x / factor, 3)} ${name}` : "0"));
}

/** An element with text, which is never read as markup. */
function element(tag, text = "", className = "") {
  const made = document.createElement(tag);
  made.textContent = text;
  if (className) made.className = className;
  return made;
}

function byId(id) {
  return document.getElementById(id);
}
