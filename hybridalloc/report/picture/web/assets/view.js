// What is in view, and what stands out. All panels of all maps show the same range.

const DATA = JSON.parse(byId("data").textContent);
const ORIGIN = Object.fromEntries(DATA.origins.map((name, i) => [name, i]));
const PHASE = Object.fromEntries(DATA.phases.map((name, i) => [name, i]));
const FULL = { x: [DATA.left, DATA.right], y: [0, DATA.top] };
const LEAST_X = DATA.axis === "time" ? (DATA.right - DATA.left) * 1e-7 : 0.5;
const LEAST_Y = 1;

const view = { x: [...FULL.x], y: [...FULL.y] };
/** The buffers that are searched for, or null; and the allocation that is selected. */
const marked = { buffers: null, selected: null };
const plots = [];
let palette = DATA.palettes.light;
let waiting = false;

/** Draw everything once more, before the next frame. */
function refresh() {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => {
    waiting = false;
    fitPanels();
    for (const plot of plots) {
      plot.batch(() => {
        plot.setScale("x", { min: view.x[0], max: view.x[1] });
        const [min, max] = plot.rangeY();
        plot.setScale("y", { min, max });
      });
    }
  });
}

function within([low, high], [least, most], smallest) {
  const width = Math.min(Math.max(high - low, smallest), most - least);
  const start = Math.min(Math.max((low + high - width) / 2, least), most - width);
  return [start, start + width];
}

function show(axis, range) {
  view[axis] = within(range, FULL[axis], axis === "x" ? LEAST_X : LEAST_Y);
  refresh();
}

/** Make the range so many times narrower, and leave a value where it is. */
function zoom(axis, factor, at) {
  const [low, high] = view[axis];
  const fixed = at ?? (low + high) / 2;
  show(axis, [fixed - (fixed - low) / factor, fixed + (high - fixed) / factor]);
}

/** Move by a part of what is in view. */
function move(axis, share) {
  const [low, high] = view[axis];
  const by = Math.min(
    Math.max(share * (high - low), FULL[axis][0] - low),
    FULL[axis][1] - high,
  );
  show(axis, [low + by, high + by]);
}

function showAll() {
  show("x", FULL.x);
  show("y", FULL.y);
}

/** Where a point is on the axis of a map. */
function place(map, point) {
  return map.x[Math.min(Math.max(point, DATA.first), map.x.length - 1)];
}

/** The instruction at a place on the axis of a map. */
function instructionAt(map, x) {
  let low = DATA.first;
  let high = map.x.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (map.x[middle] <= x) low = middle;
    else high = middle;
  }
  return low;
}
