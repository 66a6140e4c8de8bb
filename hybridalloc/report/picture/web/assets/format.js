// Sizes, times and other text to read.

const BYTES = [[2 ** 30, "GiB"], [2 ** 20, "MiB"], [2 ** 10, "KiB"]];
const SECONDS = [[1, "s"], [1e-3, "ms"], [1e-6, "µs"], [1e-9, "ns"]];
/** Of decimals, that numbers have at all. */
const MOST_PLACES = 15;

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

/** How many decimals tell each of these numbers from the next. */
function placesApart(values) {
  return values.length > 1 ? Math.ceil(-Math.log10(values[1] - values[0])) : 0;
}

/** Numbers in three digits, and as many more as tell neighbours apart. */
function textsApart(values) {
  const highest = Math.max(...values.map(Math.abs));
  const places = Math.max(placesApart(values), 2 - Math.floor(Math.log10(highest)), 0);
  return values.map((x) => String(Number(x.toFixed(Math.min(places, MOST_PLACES)))));
}

/** The labels of ticks, in the unit that suits the highest amount that there is. */
function tickText(unit, top) {
  if (unit === "parts") return textsApart;
  const units = unit === "bytes" ? BYTES : SECONDS;
  const suited = units.find((x) => top >= x[0]) ?? [1, unit === "bytes" ? "B" : "s"];
  return (ticks) => {
    const isFine = unit === "bytes" && placesApart(ticks.map((x) => x / suited[0])) > 3;
    const [factor, name] = isFine ? [1, "B"] : suited;
    const texts = textsApart(ticks.map((x) => x / factor));
    return texts.map((text) => (text === "0" ? text : `${text} ${name}`));
  };
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
