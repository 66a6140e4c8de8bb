// Mouse, touch and keyboard.

const ZOOM = 1.25;
const STEP = 0.15;

function valuesAt(plot, event) {
  const box = plot.over.getBoundingClientRect();
  const share = [(event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height];
  return {
    x: view.x[0] + share[0] * (view.x[1] - view.x[0]),
    y: view.y[1] - share[1] * (view.y[1] - view.y[0]),
    perX: (view.x[1] - view.x[0]) / box.width,
    perY: (view.y[1] - view.y[0]) / box.height,
  };
}

function pointed(plot, event) {
  const { x, y, perX, perY } = valuesAt(plot, event);
  return allocationAt(plot.map, x, y, 2 * perX, 2 * perY);
}

function hover(plot, event) {
  if (plot.panel) {
    const { x } = valuesAt(plot, event);
    const name = instructionText(instructionAt(plot.map, x));
    fillTooltip(name, describePlace(plot.map, plot.panel, x));
    placeTooltip(event);
    return;
  }
  const allocation = pointed(plot, event);
  if (allocation < 0) {
    byId("tooltip").hidden = true;
    return;
  }
  const buffer = plot.map.allocations.buffer[allocation];
  fillTooltip(DATA.buffers.name[buffer], describeAllocation(plot.map, allocation));
  placeTooltip(event);
}

function wheel(plot, event) {
  event.preventDefault();
  const { x, y } = valuesAt(plot, event);
  const turned = event.deltaY || event.deltaX;
  const factor = ZOOM ** (-Math.sign(turned) * Math.min(Math.abs(turned) / 60, 2));
  if (event.shiftKey && !plot.panel) zoom("y", factor, y);
  else zoom("x", factor, x);
}

function listen(plot) {
  const { over } = plot;
  let from = null;
  over.addEventListener("wheel", (event) => wheel(plot, event), { passive: false });
  over.addEventListener("pointerdown", (event) => {
    over.setPointerCapture(event.pointerId);
    from = { x: event.clientX, y: event.clientY, moved: false };
  });
  over.addEventListener("pointermove", (event) => {
    if (!from) return hover(plot, event);
    byId("tooltip").hidden = true;
    const [dx, dy] = [event.clientX - from.x, event.clientY - from.y];
    if (!from.moved && Math.hypot(dx, dy) < 4) return undefined;
    move("x", -dx / over.clientWidth);
    if (!plot.panel) move("y", dy / over.clientHeight);
    from = { x: event.clientX, y: event.clientY, moved: true };
    return undefined;
  });
  over.addEventListener("pointerup", (event) => {
    if (from && !from.moved && !plot.panel) click(plot, event);
    from = null;
  });
  over.addEventListener("pointercancel", () => (from = null));
  over.addEventListener("pointerleave", () => (byId("tooltip").hidden = true));
  over.addEventListener("dblclick", showAll);
}

function click(plot, event) {
  const allocation = pointed(plot, event);
  if (allocation < 0) return select(null);
  const buffer = plot.map.allocations.buffer[allocation];
  return select({ map: DATA.maps.indexOf(plot.map), allocation, buffer });
}

const KEYS = {
  ArrowLeft: () => move("x", -STEP),
  ArrowRight: () => move("x", STEP),
  ArrowUp: () => move("y", STEP),
  ArrowDown: () => move("y", -STEP),
  "+": () => zoom("x", ZOOM),
  "=": () => zoom("x", ZOOM),
  "-": () => zoom("x", 1 / ZOOM),
  "]": () => zoom("y", ZOOM),
  "[": () => zoom("y", 1 / ZOOM),
  0: showAll,
  n: () => step(1),
  p: () => step(-1),
  t: switchTheme,
  "?": showKeys,
  "/": () => byId("search").focus(),
  Escape: forget,
};

function forget() {
  byId("search").value = "";
  byId("tooltip").hidden = true;
  mark(null);
}

function showKeys() {
  const keys = byId("keys");
  keys.hidden = !keys.hidden;
  byId("help").setAttribute("aria-expanded", String(!keys.hidden));
}

function press(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key.startsWith("Arrow") && event.target.closest("#differences")) return; // scrolls
  if (event.target === byId("search")) {
    if (event.key === "Enter") step(event.shiftKey ? -1 : 1);
    else if (event.key === "Escape") {
      forget();
      event.target.blur();
    } else return;
  } else if (KEYS[event.key]) KEYS[event.key]();
  else return;
  event.preventDefault();
}

function listenToAll() {
  addEventListener("keydown", press);
  byId("search").addEventListener("input", (event) => searchFor(event.target.value));
  byId("tools").addEventListener("submit", (event) => event.preventDefault());
  const buttons = { previous: "p", next: "n", in: "+", out: "-", reset: "0", theme: "t", help: "?" };
  for (const [id, key] of Object.entries(buttons)) byId(id).addEventListener("click", KEYS[key]);
  addEventListener("resize", () => requestAnimationFrame(fitPlots));
  for (const plot of plots) listen(plot);
}
