// The rectangles of a map: prepared once, found under the pointer.

const FADED = 0.2;

/** The rectangles as columns, those that look alike behind one another. */
function shapesOf(map) {
  const { pieces, allocations } = map;
  const look = (i) => allocations.origin[pieces.allocation[i]] * 4 + pieces.phase[i];
  const order = pieces.low.map((_, i) => i).sort((a, b) => look(a) - look(b) || a - b);
  const column = (value) => Float64Array.from(order, value);
  return {
    left: column((i) => place(map, pieces.start[i])),
    right: column((i) => place(map, pieces.end[i])),
    low: column((i) => pieces.low[i]),
    high: column((i) => pieces.high[i]),
    allocation: Int32Array.from(order, (i) => pieces.allocation[i]),
    phase: Int32Array.from(order, (i) => pieces.phase[i]),
    origin: Int32Array.from(order, (i) => allocations.origin[pieces.allocation[i]]),
  };
}

/** Whether an allocation stands back: it is not searched for, or both maps have it. */
function isFaded(map, allocation) {
  if (marked.buffers) return !marked.buffers.has(map.allocations.buffer[allocation]);
  return map.fadedSet.has(allocation);
}

/** The allocation at a place, or -1; what is drawn last is found first. */
function allocationAt(map, x, y, slackX, slackY) {
  const { left, right, low, high, allocation } = map.shapes;
  let near = -1;
  for (let i = left.length - 1; i >= 0; i--) {
    if (x >= left[i] && x < right[i] && y >= low[i] && y < high[i]) return allocation[i];
    const close = x >= left[i] - slackX && x < right[i] + slackX;
    if (near < 0 && close && y >= low[i] - slackY && y < high[i] + slackY) near = allocation[i];
  }
  return near;
}

const stripes = new Map();

/** Stripes in a colour: to the right for prefetches, to the left for evictions. */
function stripe(context, colour, tint, leaning) {
  const key = `${colour}${tint}${leaning}`;
  if (!stripes.has(key)) {
    const tile = document.createElement("canvas");
    const size = (tile.width = tile.height = Math.round(7 * devicePixelRatio));
    const brush = tile.getContext("2d");
    brush.fillStyle = tint;
    brush.fillRect(0, 0, size, size);
    brush.strokeStyle = colour;
    brush.lineWidth = devicePixelRatio;
    for (const shift of [-size, 0, size]) {
      brush.moveTo(shift, leaning > 0 ? size : 0);
      brush.lineTo(shift + size, leaning > 0 ? 0 : size);
    }
    brush.stroke();
    stripes.set(key, context.createPattern(tile, "repeat"));
  }
  return stripes.get(key);
}

/** What fills the rectangles of an origin in a phase. */
function fillOf(context, origin, phase) {
  const [full, tint] = [palette.full[origin], palette.tint[origin]];
  if (phase === PHASE.resident) return full;
  return stripe(context, full, tint, phase === PHASE.arriving ? 1 : -1);
}
