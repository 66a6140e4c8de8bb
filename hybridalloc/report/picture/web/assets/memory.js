// The panel of offsets: rectangles, names, loops, and what cannot be used.

const LEAST_OUTLINE = 4;
const MOST_NAMES = 250;
const LOOP_BAR = 9;

/** Pixels of the canvas for values on both axes, as far as they are in view. */
function projection(plot) {
  const { left, top, width, height } = plot.bbox;
  const scaleX = width / (view.x[1] - view.x[0]);
  const scaleY = height / (view.y[1] - view.y[0]);
  return {
    x: (value) => left + (value - view.x[0]) * scaleX,
    y: (value) => top + height - (value - view.y[0]) * scaleY,
  };
}

function clipped(plot, draw) {
  const { ctx, bbox } = plot;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  draw(ctx, projection(plot));
  ctx.restore();
}

/** Faint bands behind loops, in any panel. */
function drawBands(plot, map) {
  clipped(plot, (ctx, at) => {
    ctx.fillStyle = palette.loop;
    for (const [start, end] of DATA.loops) {
      const left = at.x(place(map, start));
      ctx.fillRect(left, plot.bbox.top, at.x(place(map, end)) - left, plot.bbox.height);
    }
  });
}

function drawMemory(plot, map) {
  clipped(plot, (ctx, at) => {
    drawUnusable(ctx, at, map);
    const names = drawShapes(ctx, at, map);
    drawSelected(ctx, at, map);
    names.sort((a, b) => b.width * b.height - a.width * a.height);
    for (const box of names.slice(0, MOST_NAMES)) drawName(ctx, box);
    drawCapacity(ctx, at, plot.bbox);
    drawLoops(ctx, at, map, plot.bbox);
  });
}

function drawUnusable(ctx, at, map) {
  ctx.fillStyle = palette.reserved;
  const [left, right] = [at.x(view.x[0]), at.x(view.x[1])];
  for (const [low, high] of DATA.reserved) {
    ctx.fillRect(left, at.y(high), right - left, at.y(low) - at.y(high));
  }
  ctx.fillStyle = palette.scratch;
  for (const [t, bytes] of DATA.scratch) {
    const start = at.x(place(map, t));
    ctx.fillRect(start, at.y(bytes), at.x(place(map, t + 1)) - start, at.y(0) - at.y(bytes));
  }
}

/** Draw the rectangles in view; those with room for a name. */
function drawShapes(ctx, at, map) {
  const { left, right, low, high, allocation, phase, origin } = map.shapes;
  const named = [];
  let look = "";
  for (let i = 0; i < left.length; i++) {
    if (right[i] <= view.x[0] || left[i] >= view.x[1]) continue;
    if (high[i] <= view.y[0] || low[i] >= view.y[1]) continue;
    const faded = isFaded(map, allocation[i]);
    const next = `${origin[i]} ${phase[i]} ${faded}`;
    if (next !== look) {
      ctx.fillStyle = fillOf(ctx, origin[i], phase[i]);
      ctx.strokeStyle = phase[i] === PHASE.resident ? palette.paper : palette.full[origin[i]];
      ctx.globalAlpha = faded ? FADED : 1;
      ctx.lineWidth = 0.7 * devicePixelRatio;
      look = next;
    }
    const [x, y] = [at.x(left[i]), at.y(high[i])];
    const width = Math.max(at.x(right[i]) - x, 1);
    const height = Math.max(at.y(low[i]) - y, 1);
    ctx.fillRect(x, y, width, height);
    if (width < LEAST_OUTLINE || height < LEAST_OUTLINE) continue;
    ctx.strokeRect(x, y, width, height);
    if (!faded && phase[i] === PHASE.resident && width > 24 && height > 11) {
      named.push(nameBox(at, map, i));
    }
  }
  ctx.globalAlpha = 1;
  return named;
}

/** The part of a rectangle that is in view, and the name to be written there. */
function nameBox(at, map, i) {
  const { left, right, low, high, allocation, origin } = map.shapes;
  const x0 = at.x(Math.max(left[i], view.x[0]));
  const x1 = at.x(Math.min(right[i], view.x[1]));
  const y0 = at.y(Math.min(high[i], view.y[1]));
  const y1 = at.y(Math.max(low[i], view.y[0]));
  const name = DATA.buffers.name[map.allocations.buffer[allocation[i]]];
  const colour = palette.name[origin[i]];
  return { x: (x0 + x1) / 2, y: (y0 + y1) / 2, width: x1 - x0, height: y1 - y0, name, colour };
}

/** Write a name across or, if there is more room, upwards; perhaps without its end. */
function drawName(ctx, box) {
  const size = 11 * devicePixelRatio;
  ctx.font = `${size}px system-ui, "DejaVu Sans", sans-serif`;
  const width = ctx.measureText(box.name).width + size / 2;
  const turned = width > box.width && box.height > box.width;
  const [along, across] = turned ? [box.height, box.width] : [box.width, box.height];
  const kept = Math.floor((box.name.length * along) / width) - 1;
  if (across < 1.1 * size || (width > along && kept < 4)) return;
  ctx.save();
  ctx.translate(box.x, box.y);
  if (turned) ctx.rotate(-Math.PI / 2);
  ctx.textAlign = "center";
  ctx.textBaseline = "middle";
  ctx.fillStyle = box.colour;
  ctx.fillText(width > along ? `${box.name.slice(0, kept)}…` : box.name, 0, 0, along);
  ctx.restore();
}

/** Outline what is selected, in both maps: it is the same buffer. */
function drawSelected(ctx, at, map) {
  if (marked.selected === null) return;
  const { left, right, low, high, allocation } = map.shapes;
  ctx.strokeStyle = palette.ink;
  ctx.lineWidth = 2 * devicePixelRatio;
  for (let i = 0; i < left.length; i++) {
    if (map.allocations.buffer[allocation[i]] !== marked.selected.buffer) continue;
    const [x, y] = [at.x(left[i]), at.y(high[i])];
    ctx.strokeRect(x, y, Math.max(at.x(right[i]) - x, 2), Math.max(at.y(low[i]) - y, 2));
  }
}

/** Draw the lines that follow as those of a capacity. */
function dash(ctx) {
  ctx.strokeStyle = palette.ink;
  ctx.lineWidth = devicePixelRatio;
  ctx.setLineDash([5 * devicePixelRatio, 3 * devicePixelRatio]);
}

function drawCapacity(ctx, at, bbox) {
  dash(ctx);
  ctx.beginPath();
  ctx.moveTo(bbox.left, at.y(DATA.capacity));
  ctx.lineTo(bbox.left + bbox.width, at.y(DATA.capacity));
  ctx.stroke();
  ctx.setLineDash([]);
}

/** Bars at the upper edge, one row for each depth, with how often loops run. */
function drawLoops(ctx, at, map, bbox) {
  const row = (LOOP_BAR + 5) * devicePixelRatio;
  ctx.font = `${LOOP_BAR * devicePixelRatio}px system-ui, "DejaVu Sans", sans-serif`;
  ctx.textAlign = "center";
  ctx.textBaseline = "middle";
  for (const [start, end, trips, depth] of DATA.loops) {
    const left = Math.max(at.x(place(map, start)), bbox.left);
    const right = Math.min(at.x(place(map, end)), bbox.left + bbox.width);
    if (right <= left) continue;
    const top = bbox.top + depth * row;
    ctx.globalAlpha = 0.85;
    ctx.fillStyle = palette.bar;
    ctx.fillRect(left, top + 1, Math.max(right - left, 1), row - 2);
    ctx.globalAlpha = 1;
    ctx.fillStyle = palette.ink;
    const text = `${countText(trips)} times`;
    if (ctx.measureText(text).width < right - left) {
      ctx.fillText(text, (left + right) / 2, top + row / 2);
    }
  }
}
