// Light and dark, legend, list of differences; and the start.

function setTheme(name) {
  document.documentElement.dataset.theme = name;
  palette = DATA.palettes[name];
  for (const swatch of document.querySelectorAll("i[data-role]")) {
    swatch.style.background = palette.roles[swatch.dataset.role];
  }
  fillLegend();
  for (const plot of plots) plot.redraw(false, true);
}

function switchTheme() {
  setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark");
}

/** A box for each look that there is in the maps. */
function fillLegend() {
  const seen = (phase, origin) =>
    DATA.maps.some(({ shapes }) =>
      shapes.phase.some((x, i) => x === phase && (origin === null || shapes.origin[i] === origin)),
    );
  const parts = DATA.origins
    .map((name, i) => [ORIGIN_TEXT[name], i, PHASE.resident])
    .filter(([, origin]) => DATA.maps.some(({ shapes }) => shapes.origin.includes(origin)));
  if (seen(PHASE.arriving, null)) parts.push(["being fetched", ORIGIN.prefetched, PHASE.arriving]);
  if (seen(PHASE.leaving, null)) parts.push(["being evicted", ORIGIN.produced, PHASE.leaving]);
  const boxes = parts.map(([text, origin, phase]) => legendBox(text, (ctx) => fillOf(ctx, origin, phase)));
  if (DATA.scratch.length) boxes.push(legendBox("scratch", () => palette.scratch));
  if (DATA.reserved.length) boxes.push(legendBox("reserved", () => palette.reserved));
  byId("legend").replaceChildren(...boxes, legendItem("capacity", drawLimitSample));
}

function legendBox(text, fill) {
  return legendItem(text, (ctx, { width, height }) => {
    ctx.fillStyle = fill(ctx);
    ctx.fillRect(0, 0, width, height);
  });
}

function drawLimitSample(ctx, { width, height }) {
  dash(ctx);
  ctx.beginPath();
  ctx.moveTo(0, height / 2);
  ctx.lineTo(width, height / 2);
  ctx.stroke();
}

function legendItem(text, draw) {
  const box = element("span", text);
  const sample = element("canvas");
  sample.width = 18 * devicePixelRatio;
  sample.height = 11 * devicePixelRatio;
  draw(sample.getContext("2d"), sample);
  box.prepend(sample);
  return box;
}

function addDifferences(found) {
  const section = byId("differences");
  section.hidden = false;
  section.append(element("h2", `Buffers: ${found.kinds}`));
  if (!found.count) return;
  const table = element("table");
  const head = table.insertRow();
  for (const text of ["buffer", "size", "change", "to fast", "to slow", "effect on time, B - A"]) {
    head.append(element("th", text));
  }
  found.buffer.forEach((_, i) => table.append(differenceRow(found, i)));
  const frame = element("div");
  frame.tabIndex = 0;
  frame.append(table);
  section.append(frame);
  const more = found.count - found.buffer.length;
  if (more > 0) section.append(element("p", `and ${countText(more)} more`));
}

function differenceRow(found, i) {
  const buffer = found.buffer[i];
  const row = element("tr");
  const button = element("button", DATA.buffers.name[buffer]);
  button.type = "button";
  button.addEventListener("click", () => {
    choose(buffer);
    step(1);
    scrollTo({ top: 0 });
  });
  row.insertCell().append(button);
  const figures = [countText(found.to_fast[i]), countText(found.to_slow[i]), signedTime(found.effect[i])];
  row.append(element("td", sizeText(DATA.buffers.size[buffer]), "number"), element("td", found.change[i]));
  for (const text of figures) row.append(element("td", text, "number"));
  return row;
}

function start() {
  byId("program").textContent = byId("program").title = DATA.program;
  for (const map of DATA.maps) {
    map.shapes = shapesOf(map);
    map.fadedSet = new Set(map.faded);
  }
  for (const map of DATA.maps) addMap(map, byId("maps"));
  if (DATA.differences) addDifferences(DATA.differences);
  fitPlots();
  setTheme(matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  listenToAll();
  showDetails();
  if (DATA.chosen !== null) choose(DATA.chosen);
  document.documentElement.dataset.ready = "true";
}

start();
