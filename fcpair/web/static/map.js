// The lead's map of a grid: a picture of all its cells that can be moved, zoomed, coloured and ordered, with a pointer or by
// keys. What is chosen is in the address, so that it can be shared; the browser keeps nothing.

import { CORPUS, OUTSIDE, fetchMap } from "./map-file.js";
import { makeDescriber, makeLegend } from "./map-words.js";
import { MapView } from "./map-view.js";

const { t } = globalThis.fcpairLanguage;
const CLICK_PX = 5; // a pointer that has moved further was dragging
const WHEEL = 0.002; // of the logarithm of a zoom, for each pixel
const KEEP_MS = 250; // after the last change, the address says it
const FAR = 10; // cells that Page Up and Page Down go
const ARROWS = {
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
  PageUp: [-FAR, 0],
  PageDown: [FAR, 0],
};
const CHOICES = { question: "question", colour: "colour", rows: "rows", columns: "columns" }; // names in the address
const section = document.getElementById("map");
const element = (name) => document.getElementById(`map-${name}`);
const canvas = element("canvas");
const view = new MapView(canvas);
const dark = matchMedia("(prefers-color-scheme: dark)");
const pointers = new Map(); // those that are down, by id: where each is
let map = null;
let rows = []; // the places of the texts, in the order in which they are shown
let columns = [];
let cursor = [0, 0]; // the row and the column, as they are shown
let moved = 0; // pixels since the first pointer came down
let isDue = false;
let keeping;
let describer = null;

function askFrame() {
  if (isDue) return;
  isDue = true;
  requestAnimationFrame(() => {
    isDue = false;
    view.draw(cursor, document.activeElement === canvas);
    canvas.classList.toggle("is-whole", view.isWhole);
  });
}

const asked = () => new URLSearchParams(location.search);

function keepAddress() {
  clearTimeout(keeping);
  keeping = setTimeout(() => {
    const query = asked();
    for (const [name, id] of Object.entries(CHOICES)) {
      const { value, options } = element(id);
      if (value === (options[0]?.value ?? "")) query.delete(name);
      else query.set(name, value);
    }
    const place = { zoom: view.zoom, x: view.centre[0], y: view.centre[1] };
    for (const [name, value] of Object.entries(place)) {
      if (view.isWhole) query.delete(name);
      else query.set(name, String(Math.round(100 * value) / 100));
    }
    const search = query.toString();
    history.replaceState(history.state, "", `${location.pathname}${search && `?${search}`}${location.hash}`);
  }, KEEP_MS);
}

function changed() {
  askFrame();
  keepAddress();
}

// Options of a select, of which the one in the address is chosen where there is one.
function offer(id, choices, wanted) {
  const select = element(id);
  select.replaceChildren(...choices.map(({ name, title }) => new Option(title, name)));
  select.value = wanted ?? "";
  if (select.selectedIndex < 0) select.selectedIndex = 0;
  select.closest("label").hidden = choices.length < 2;
}

function offerAll() {
  const query = asked();
  const questions = map.head.questions.map((name) => ({ name, title: name }));
  offer("question", questions, map.head.question);
  offer("colour", map.layers, query.get("colour"));
  for (const side of ["rows", "columns"]) {
    offer(side, [{ name: "", title: t("number") }, ...map.orders(side)], query.get(side));
  }
}

function paletteOf(layer) {
  const bytes = new Uint8Array(4 * (OUTSIDE + 1)).fill(255);
  const colour = (index) => {
    const hex = map.classOf(layer, index)[dark.matches ? "dark" : "light"];
    [1, 3, 5].forEach((at, part) => (bytes[4 * index + part] = Number.parseInt(hex.slice(at, at + 2), 16)));
  };
  [...layer.classes.keys(), CORPUS, OUTSIDE].forEach(colour);
  return new Uint32Array(bytes.buffer);
}

function paint() {
  const layer = map.layer(element("colour").value);
  [rows, columns] = ["rows", "columns"].map((side) => map.order(side, element(side).value));
  view.paint(map, map.classes(layer), rows, columns, paletteOf(layer));
  makeLegend(element("legend"), map, layer);
  describe();
  changed();
}

function placeOf([row, column]) {
  return rows[row] * map.nColumns + columns[column];
}

function describe(cell = cursor) {
  describer.describe(map, rows[cell[0]], columns[cell[1]], map.layer(element("colour").value));
}

function moveCursor(down, right) {
  const within = (value, n) => Math.min(Math.max(value, 0), n - 1);
  cursor = [within(cursor[0] + down, map.nRows), within(cursor[1] + right, map.nColumns)];
  view.reveal(cursor);
  describe();
  changed();
}

// Leads to the story of a pair; a place without one is only described.
function open(cell) {
  const number = map.number(placeOf(cell));
  if (number === null) return describe(cell);
  location.assign(section.dataset.pair.replace("/0", `/${number}`));
}

const KEYS = {
  "+": () => view.zoomIn(),
  "=": () => view.zoomIn(),
  "-": () => view.zoomOut(),
  0: () => view.showWhole(),
  Home: () => moveCursor(0, -map.nColumns),
  End: () => moveCursor(0, map.nColumns),
};

function pressed(event) {
  if (!map || event.ctrlKey || event.altKey || event.metaKey) return;
  if (event.key === "Enter") open(cursor);
  else if (ARROWS[event.key]) moveCursor(...ARROWS[event.key]);
  else if (KEYS[event.key]) KEYS[event.key]();
  else return;
  if ("+=-".includes(event.key)) view.reveal(cursor);
  event.preventDefault();
  changed();
}

const placeIn = (event) => [event.offsetX, event.offsetY];

function down(event) {
  if (event.button) return;
  moved = pointers.size ? Infinity : 0; // two fingers click nothing
  pointers.set(event.pointerId, placeIn(event));
  canvas.setPointerCapture(event.pointerId);
}

const distance = ([[left, top], [otherLeft, otherTop]]) => Math.hypot(left - otherLeft, top - otherTop);
const middle = (places) => [0, 1].map((axis) => places.reduce((sum, place) => sum + place[axis], 0) / places.length);

function move(event) {
  if (!map) return;
  if (!pointers.has(event.pointerId)) return hover(event);
  const before = [...pointers.values()];
  pointers.set(event.pointerId, placeIn(event));
  const after = [...pointers.values()];
  const [from, to] = [middle(before), middle(after)];
  moved += Math.hypot(to[0] - from[0], to[1] - from[1]);
  if (after.length > 1) view.zoomBy(distance(after) / (distance(before) || 1), ...to);
  if (moved > CLICK_PX) view.move(to[0] - from[0], to[1] - from[1]);
  changed();
}

function hover(event) {
  const cell = view.cellAt(...placeIn(event));
  if (cell) describe(cell);
}

function up(event) {
  if (!pointers.delete(event.pointerId) || pointers.size || moved > CLICK_PX || event.type !== "pointerup") return;
  const cell = map && view.cellAt(...placeIn(event));
  if (!cell) return;
  cursor = cell;
  open(cell);
  changed();
}

// At the whole map, to zoom out is to scroll the page.
function turn(event) {
  if (!map || (view.isWhole && event.deltaY > 0)) return;
  event.preventDefault();
  const lines = event.deltaMode === WheelEvent.DOM_DELTA_PIXEL ? 1 : 20;
  view.zoomBy(Math.exp(-WHEEL * lines * event.deltaY), ...placeIn(event));
  changed();
}

function placeView() {
  const query = asked();
  const [zoom, x, y] = ["zoom", "x", "y"].map((name) => Number(query.get(name)));
  if (!(zoom > 1) || !Number.isFinite(x + y)) return;
  view.zoom = Math.min(zoom, view.mostZoom);
  view.centre = [x, y];
  cursor = view.cellAt(canvas.clientWidth / 2, canvas.clientHeight / 2) ?? cursor;
}

async function load(question) {
  const isFirst = !map;
  const problem = element("problem");
  section.setAttribute("aria-busy", "true");
  try {
    const address = new URL(section.dataset.cells, location.href);
    if (question) address.searchParams.set("question", question);
    map = await fetchMap(address);
    problem.hidden = true;
  } catch (error) {
    problem.hidden = false;
    element("sentence").textContent = error.message;
    return;
  } finally {
    section.removeAttribute("aria-busy");
  }
  offerAll();
  view.resize();
  paint();
  if (isFirst) placeView();
  moveCursor(0, 0);
  performance.mark("map-shown");
}

// The panel with the numbers is read anew by itself; when it has changed, so has the map.
function follow() {
  const newest = () => document.querySelector("#coverage [data-newest]")?.dataset.newest;
  let seen = newest();
  document.addEventListener("htmx:afterSwap", () => {
    if (newest() === seen) return;
    seen = newest();
    load(element("question").value);
  });
}

function begin() {
  section.hidden = false;
  describer = makeDescriber(element("cell"), section.dataset);
  for (const id of ["colour", "rows", "columns"]) element(id).addEventListener("change", paint);
  element("question").addEventListener("change", () => {
    keepAddress();
    load(element("question").value);
  });
  element("again").addEventListener("click", () => load(asked().get("question")));
  const buttons = { in: () => view.zoomIn(), out: () => view.zoomOut(), whole: () => view.showWhole() };
  for (const [id, act] of Object.entries(buttons)) {
    element(id).addEventListener("click", () => {
      act();
      changed();
    });
  }
  canvas.addEventListener("keydown", pressed);
  canvas.addEventListener("pointerdown", down);
  canvas.addEventListener("pointermove", move);
  canvas.addEventListener("pointerup", up);
  canvas.addEventListener("pointercancel", up);
  canvas.addEventListener("wheel", turn, { passive: false });
  for (const name of ["focus", "blur"]) canvas.addEventListener(name, askFrame);
  dark.addEventListener("change", () => map && paint());
  new ResizeObserver(() => {
    view.resize();
    if (map) askFrame();
  }).observe(canvas);
  follow();
  load(asked().get("question"));
}

if (section) begin();
