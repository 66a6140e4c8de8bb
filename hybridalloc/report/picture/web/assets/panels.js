// The plots of a map, one below the other: uPlot draws axes and lines.

const AXIS_WIDTH = 92;
const LABEL_WIDTH = 16;
/** Between ticks: room for a time in many digits. */
const X_SPACE = 100;
const PANEL_HEIGHT = 66;
const X_AXIS_HEIGHT = 38;

function memoryHeight() {
  return Math.max(260, Math.round(innerHeight * 0.46));
}

function axes(values, xLabel) {
  const stroke = () => palette.faint;
  const grid = { stroke: () => palette.grid, width: 1 };
  const ticks = { stroke: () => palette.grid, width: 1, size: 4 };
  const font = '11px system-ui, "DejaVu Sans", sans-serif';
  const label = { label: xLabel, labelSize: LABEL_WIDTH, labelFont: font, size: 22 };
  return [
    xLabel
      ? { stroke, grid, ticks, font, ...label, space: X_SPACE, values: (_, x) => xTicks(x) }
      : { show: false },
    { stroke, grid, ticks, font, labelFont: font, size: AXIS_WIDTH, values: (_, x) => values(x) },
  ];
}

function xTicks(ticks) {
  if (DATA.axis === "time") return tickText("seconds", view.x[1])(ticks);
  return ticks.map((x) => (Number.isInteger(x) ? countText(x) : ""));
}

function xLabel() {
  if (DATA.axis === "time") return "simulated time without stalls";
  return DATA.first ? `instruction (the first ${countText(DATA.first)} take no time)` : "instruction";
}

function options(map, height, rangeY, list, draw) {
  const bands = (plot) => drawBands(plot, map);
  return {
    width: 600,
    height,
    legend: { show: false },
    padding: [8, 20, list[0].show === false ? 6 : 0, 0],
    cursor: {
      sync: { key: "maps", setSeries: false, scales: ["x", null] },
      drag: { x: false, y: false },
      points: { show: false },
    },
    scales: { x: { time: false, range: () => view.x }, y: { range: rangeY } },
    axes: list,
    hooks: { drawAxes: [bands], draw: draw ? [draw] : [] },
  };
}

/** Rectangles, in place of lines. */
function memoryPlot(map, host) {
  const list = axes((x) => tickText("bytes", view.y[1])(x), "");
  list[1].incrs = Array.from({ length: 53 }, (_, i) => 2 ** i);
  list[1].space = 34;
  const label = { label: "offset in fast memory", labelSize: LABEL_WIDTH };
  Object.assign(list[1], label, { size: AXIS_WIDTH - LABEL_WIDTH });
  const given = options(map, memoryHeight(), () => view.y, list, (plot) => drawMemory(plot, map));
  const plot = new uPlot({ ...given, series: [{}, { show: false }] }, [FULL.x, FULL.y], host);
  return Object.assign(plot, { map, rangeY: () => view.y });
}

/** The labels of ticks; where there is nothing, a 0. */
function panelTicks(panel, ticks) {
  if (!panel.inView) return ticks.map((x) => (x ? "" : "0"));
  return tickText(panel.unit, panel.inView)(ticks);
}

/** Lines that are level from each edge to the next. */
function panelPlot(map, panel, host, isLast) {
  const list = axes((x) => panelTicks(panel, x), isLast ? xLabel() : "");
  if (panel.unit === "bytes") list[1].incrs = Array.from({ length: 53 }, (_, i) => 2 ** i);
  list[1].space = 20;
  const height = PANEL_HEIGHT + (isLast ? X_AXIS_HEIGHT : 0);
  const rangeY = () => [0, 1.06 * panel.inView || 1];
  const given = options(map, height, rangeY, list, (plot) => drawLimit(plot, panel));
  const series = [{}, ...panel.lines.map(lineSeries)];
  const values = panel.lines.map((line) => [...line.values, line.values.at(-1)]);
  panel.inView = panel.top;
  const plot = new uPlot({ ...given, series }, [panel.edges, ...values], host);
  return Object.assign(plot, { map, panel, rangeY });
}

/** Let panels of times reach as high as what is in view, in both maps alike. */
function fitPanels() {
  DATA.maps[0].panels.forEach((first, i) => {
    const beside = DATA.maps.map((map) => map.panels[i]);
    const top = first.unit === "bytes" ? first.top : Math.max(...beside.map(highestInView));
    for (const panel of beside) panel.inView = top;
  });
}

function highestInView({ edges, lines }) {
  const [first, last] = view.x.map((x) => stepAt(edges, x));
  let highest = 0;
  for (const { values } of lines) {
    for (let i = first; i <= last; i++) highest = Math.max(highest, values[i]);
  }
  return highest;
}

function lineSeries(line) {
  const colour = () => palette.roles[line.role];
  return {
    stroke: line.filled ? undefined : colour,
    fill: line.filled ? colour : undefined,
    width: 1.2,
    paths: line.filled ? filledPath : levelPath,
    points: { show: false },
    show: line.values.some((x) => x > 0),
  };
}

/** Steps in view as [left, right, top] in pixels: of each column of pixels the highest. */
function columnsInView(plot, series, first, last) {
  const [edges, values] = [plot.data[0], plot.data[series]];
  const { left, width, top, height } = plot.bbox;
  const perX = width / (view.x[1] - view.x[0]);
  const perY = height / plot.rangeY()[1];
  const columns = [];
  let end = -Infinity;
  for (let i = Math.max(first - 1, 0); i < Math.min(last + 1, edges.length - 1); i++) {
    const from = Math.round(left + (edges[i] - view.x[0]) * perX);
    const to = Math.round(left + (edges[i + 1] - view.x[0]) * perX);
    const y = top + height - values[i] * perY;
    const before = columns.at(-1);
    if (to <= end) before[2] = Math.min(before[2], y);
    else if (before && before[2] === y) before[1] = to;
    else columns.push([Math.max(from, end), Math.max(to, from + 1), y]);
    end = columns.at(-1)[1];
  }
  return columns;
}

/** A line along the columns. */
function levels(columns) {
  const path = new Path2D();
  columns.forEach(([left, right, y], i) => {
    if (i) path.lineTo(left, y);
    else path.moveTo(left, y);
    path.lineTo(right, y);
  });
  return path;
}

function levelPath(plot, series, first, last) {
  return { stroke: levels(columnsInView(plot, series, first, last)), fill: null, flags: 3 };
}

function filledPath(plot, series, first, last) {
  const columns = columnsInView(plot, series, first, last);
  const base = plot.bbox.top + plot.bbox.height;
  const fill = levels(columns);
  fill.lineTo(columns.at(-1)[1], base);
  fill.lineTo(columns[0][0], base);
  fill.closePath();
  return { stroke: null, fill, flags: 3 };
}

function drawLimit(plot, panel) {
  if (panel.limit === null) return;
  clipped(plot, (ctx) => {
    const { left, width, height } = plot.bbox;
    const y = plot.bbox.top + height * (1 - panel.limit / plot.rangeY()[1]);
    dash(ctx);
    ctx.beginPath();
    ctx.moveTo(left, y);
    ctx.lineTo(left + width, y);
    ctx.stroke();
  });
}

/** The title of a panel, and which colour is what. */
function caption(panel) {
  const line = element("div", "", "caption");
  line.append(element("span", panel.title));
  const key = element("span");
  for (const { role, label } of panel.lines) {
    if (!label) continue;
    const swatch = element("i");
    swatch.dataset.role = role;
    key.append(swatch, label);
  }
  line.append(key);
  return line;
}

function addMap(map, host) {
  const column = element("section", "", "map");
  if (map.heading) column.append(element("h2", map.heading));
  column.append(element("p", map.headline, "headline"), element("p", map.facts.join("  ·  ")));
  if (map.remark) column.append(element("p", map.remark, map.valid ? "" : "wrong"));
  host.append(column);
  const memory = element("div", "", "plot memory");
  column.append(memory);
  plots.push(memoryPlot(map, memory));
  if (!map.pieces.low.length) memory.append(element("div", "nothing in fast memory", "empty"));
  map.panels.forEach((panel, i) => {
    const below = element("div", "", "plot");
    column.append(caption(panel), below);
    plots.push(panelPlot(map, panel, below, i === map.panels.length - 1));
  });
}

function fitPlots() {
  for (const plot of plots) {
    const width = plot.root.parentElement.clientWidth;
    const height = plot.panel ? plot.height : memoryHeight();
    plot.setSize({ width, height });
  }
}
