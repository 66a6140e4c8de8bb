// Search by name, and the way from one match to the next.

const search = { matches: [], at: -1 };

/** Every allocation of these buffers, map by map, in the order of time. */
function allocationsOf(buffers) {
  return DATA.maps.flatMap((map, index) => {
    const own = map.allocations;
    const found = own.buffer.flatMap((buffer, i) => (buffers.has(buffer) ? [i] : []));
    found.sort((a, b) => own.start[a] - own.start[b]);
    return found.map((allocation) => ({ map: index, allocation, buffer: own.buffer[allocation] }));
  });
}

function mark(buffers) {
  marked.buffers = buffers;
  marked.selected = null;
  search.matches = buffers ? allocationsOf(buffers) : [];
  search.at = -1;
  sayFound();
  showDetails();
  refresh();
}

function searchFor(text) {
  const wanted = text.trim().toLowerCase();
  if (!wanted) return mark(null);
  const found = new Set();
  DATA.buffers.name.forEach((name, i) => {
    if (name.toLowerCase().includes(wanted)) found.add(i);
  });
  return mark(found);
}

/** Bring out one buffer, under its whole name. */
function choose(buffer) {
  byId("search").value = DATA.buffers.name[buffer];
  mark(new Set([buffer]));
}

function sayFound() {
  const { matches, at } = search;
  let text = "";
  if (marked.buffers && !marked.buffers.size) text = "no such buffer";
  else if (marked.buffers && !matches.length) text = "only in slow memory";
  else if (marked.buffers) text = `${at >= 0 ? `${at + 1} of ` : ""}${countText(matches.length)}`;
  byId("found").textContent = text;
}

/** Go to the next match, or the one before, and zoom until it can be seen. */
function step(by) {
  const count = search.matches.length;
  if (!count) return;
  search.at = search.at < 0 && by < 0 ? count - 1 : (search.at + by + count) % count;
  select(search.matches[search.at]);
  bringIntoView(marked.selected);
  sayFound();
}

function select(chosen) {
  marked.selected = chosen;
  showDetails();
  refresh();
}

function bringIntoView({ map, allocation, buffer }) {
  const own = DATA.maps[map].allocations;
  const left = place(DATA.maps[map], own.start[allocation]);
  const right = place(DATA.maps[map], own.end[allocation]);
  const [low, size] = [own.offset[allocation], DATA.buffers.size[buffer]];
  const isThin = right - left < (view.x[1] - view.x[0]) / 40;
  if (isThin || left < view.x[0] || right > view.x[1]) {
    const around = Math.max(2 * (right - left), LEAST_X * 8);
    show("x", [left - around, right + around]);
  }
  if (size < (view.y[1] - view.y[0]) / 100 || low < view.y[0] || low + size > view.y[1]) {
    const around = Math.max(4 * size, LEAST_Y * 16);
    show("y", [low - around, low + size + around]);
  }
}
