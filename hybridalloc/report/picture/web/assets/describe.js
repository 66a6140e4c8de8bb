// What is said of an allocation, and of an instruction.

const ORIGIN_TEXT = {
  produced: "produced",
  prefetched: "prefetched",
  cross_program: "cross-program prefetch",
};

const HINT = "Point at a rectangle, or into a panel, to be told what it is.";

function instructionText(t) {
  const { name } = DATA.instructions;
  return t < name.length ? `${countText(t)} ${name[t]}` : `${countText(t)} (the end)`;
}

function spanText(start, end) {
  return `[${countText(start)}, ${countText(end)})`;
}

/** Label and text of each thing that there is to say of an allocation. */
function describeAllocation(map, i) {
  const own = map.allocations;
  const column = (name) => own[name][i];
  const size = DATA.buffers.size[column("buffer")];
  const seconds = map.clock[Math.min(column("end"), map.clock.length - 1)] - map.clock[column("start")];
  const rows = [
    ["size", `${sizeText(size)} (${countText(size)} B)`],
    ["bytes", spanText(column("offset"), column("offset") + size)],
    ["instructions", spanText(column("start"), column("end"))],
    ["from", instructionText(column("start"))],
    ["time", `${timeText(seconds)} of one run`],
    ["origin", originText(own, i)],
  ];
  if (column("issue") !== null) {
    rows.push(["evicted", `issued at ${countText(column("issue"))}, due at ${countText(column("due"))}`]);
  }
  rows.push(["saves", `${timeText(column("saved"))}, copies apart`]);
  if (map.fadedSet.has(i)) rows.push(["", "in the other map too, at whatever offset"]);
  return rows;
}

function originText(own, i) {
  const name = DATA.origins[own.origin[i]];
  const copied = name === "prefetched" || (name === "cross_program" && own.start[i] > 0);
  if (!copied) return ORIGIN_TEXT[name];
  const slices = own.slices[i] ? ` in ${own.slices[i]} slices` : "";
  return `${ORIGIN_TEXT[name]}${slices}: issued at ${countText(own.start[i])}, ready at ${countText(own.ready[i])}`;
}

/** The same of a panel at a place on its axis. */
function describePlace(map, panel, x) {
  const t = instructionAt(map, x);
  const runs = DATA.instructions.runs[t];
  const rows = runs === 1 ? [] : [["runs", countText(runs)]];
  const step = stepAt(panel.edges, x);
  for (const line of panel.lines) {
    const value = line.values[step];
    const text = { bytes: sizeText, seconds: timeText, parts: (v) => digits(v, 3) }[panel.unit](value);
    rows.push([line.label || panel.title.split(":")[0], text]);
  }
  return rows;
}

function stepAt(edges, x) {
  let low = 0;
  let high = edges.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (edges[middle] <= x) low = middle;
    else high = middle;
  }
  return low;
}

function fillTooltip(name, rows) {
  const list = element("dl");
  for (const [label, text] of rows) list.append(element("dt", label), element("dd", text));
  byId("tooltip").replaceChildren(element("b", name), list);
}

/** Show the tooltip beside the pointer, within the window. */
function placeTooltip(event) {
  const tip = byId("tooltip");
  tip.hidden = false;
  const { width, height } = tip.getBoundingClientRect();
  const beside = event.clientX + 16 + width > innerWidth ? event.clientX - 16 - width : event.clientX + 16;
  const below = Math.min(event.clientY + 12, innerHeight - height - 4);
  tip.style.left = `${Math.max(4, beside)}px`;
  tip.style.top = `${Math.max(4, below)}px`;
}

/** Say of the selected allocation what the tooltip would. */
function showDetails() {
  const chosen = marked.selected;
  const line = byId("details");
  if (chosen === null) {
    line.replaceChildren(element("span", HINT, "hint"));
    return;
  }
  const name = element("b", DATA.buffers.name[chosen.buffer]);
  const map = DATA.maps[chosen.map];
  const rows = describeAllocation(map, chosen.allocation);
  const said = rows.map(([label, text]) => `${label} ${text}`.trim()).join("  ·  ");
  line.replaceChildren(name, `  ${map.heading ? `(${map.heading})  ` : ""}${said}`);
}
