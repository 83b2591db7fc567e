// The lead's map of a grid: a picture of all its cells that can be moved, zoomed, coloured and ordered, with a pointer or by
// keys. What is chosen is in the address, so that it can be shared. A class of the legend that is pressed, and cells that are
// selected, are filters of the pairs below.

import { CHANGED, asked, change, pairAddress, remember, remembered, write } from "./grid-address.js";
import { CORPUS, OUTSIDE, fetchMap } from "./grid-map-file.js";
import { Texts, makeDescriber, makeLegend } from "./grid-map-words.js";
import { LARGEST, MapView } from "./grid-map-view.js";

const { digits, t } = globalThis.fcpairLanguage;
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
const view = canvas && new MapView(canvas);
const dark = matchMedia("(prefers-color-scheme: dark)");
const root = document.documentElement;
const LAYER = "map.";
const AREA = /^([1-9]\d*)-([1-9]\d*)\.([1-9]\d*)-([1-9]\d*)$/;
const KEYS_MS = 400; // after the last key, the cells that keys selected are a filter
const hasPairs = Boolean(document.getElementById("pairs"));
const pointers = new Map(); // those that are down, by id: where each is
let map = null;
let rows = []; // the places of the texts, in the order in which they are shown
let columns = [];
let cursor = [0, 0]; // the row and the column, as they are shown
let moved = 0; // pixels since the first pointer came down
let isDue = false;
let keeping;
let describer = null;
const before = remembered(); // of the view to which somebody comes back
let texts = null;
let isSelecting = false; // by a pointer alone, without Shift
let anchor = null; // the cell from which a selection goes on
let selectingKeys;

function askFrame() {
  if (isDue) return;
  isDue = true;
  requestAnimationFrame(() => {
    isDue = false;
    view.draw(cursor, document.activeElement === canvas);
    view.drawAxes(element("side"), element("top"), axisName);
    canvas.classList.toggle("is-whole", view.isWhole);
  });
}

// What an axis says of a row or a column, by its place as it is shown: its number, and how its text begins.
function axisName(side, at, hasText) {
  const place = (side === "rows" ? rows : columns)[at];
  const name = digits(place + 1);
  return hasText ? `${name}  ${texts.now(side, place, askFrame)}` : name;
}

// The address, with what is chosen on the map.
function withChoices() {
  const query = asked();
  for (const [name, id] of Object.entries(CHOICES)) {
    const { value, options } = element(id);
    if (value === (options[0]?.value ?? "")) query.delete(name);
    else query.set(name, value);
  }
  return query;
}

function keepAddress() {
  clearTimeout(keeping);
  keeping = setTimeout(() => {
    const query = withChoices();
    const place = { zoom: view.zoom, x: view.centre[0], y: view.centre[1] };
    for (const [name, value] of Object.entries(place)) {
      if (view.isWhole) query.delete(name);
      else query.set(name, String(Math.round(100 * value) / 100));
    }
    write(query);
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

const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : dark.matches);

function paletteOf(layer) {
  const bytes = new Uint8Array(4 * (OUTSIDE + 1)).fill(255);
  const colour = (index) => {
    const hex = map.classOf(layer, index)[isDark() ? "dark" : "light"];
    [1, 3, 5].forEach((at, part) => (bytes[4 * index + part] = Number.parseInt(hex.slice(at, at + 2), 16)));
  };
  [...layer.classes.keys(), CORPUS, OUTSIDE].forEach(colour);
  return new Uint32Array(bytes.buffer);
}

function paint() {
  const layer = map.layer(element("colour").value);
  [rows, columns] = ["rows", "columns"].map((side) => map.order(side, element(side).value));
  view.paint(map, map.classes(layer), rows, columns, paletteOf(layer));
  showLegend(layer);
  describe();
  changed();
}

function showLegend(layer) {
  const name = LAYER + layer.name;
  const pressed = asked().get(name);
  makeLegend(element("legend"), map, layer, pressed === null ? null : Number(pressed), hasPairs && ((index) => {
    const query = asked();
    if (query.get(name) === String(index)) query.delete(name);
    else query.set(name, index);
    change(query);
  }));
}

// Another order has other cells at the places that were selected.
function reorder() {
  const query = withChoices();
  const hadArea = query.has("area");
  query.delete("area");
  if (hadArea) change(query);
  else write(query);
  paint();
}

// The selected cells, as the address has them.
function showArea() {
  const places = AREA.exec(asked().get("area") ?? "");
  view.area = places && places.slice(1).map((place) => Number(place) - 1);
  element("unselect").hidden = !view.area;
  askFrame();
}

function keepArea() {
  const query = asked();
  const before = query.get("area");
  if (view.area) {
    const [first, last, left, right] = view.area.map((place) => place + 1);
    query.set("area", `${first}-${last}.${left}-${right}`);
  } else query.delete("area");
  if (query.get("area") !== before) change(query);
}

function selectTo(cell) {
  const [rowEnds, columnEnds] = [0, 1].map((axis) => [anchor[axis], cell[axis]].sort((one, other) => one - other));
  view.area = [...rowEnds, ...columnEnds];
  askFrame();
}

function setSelecting(isOn) {
  isSelecting = isOn;
  element("select").setAttribute("aria-pressed", String(isOn));
  canvas.classList.toggle("is-selecting", isOn);
}

function follow() {
  if (!map) return;
  showLegend(map.layer(element("colour").value));
  showArea();
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
  remember({ cell });
  location.assign(pairAddress(section.dataset.pair, number));
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
  else if (event.key === "Escape" && view.area) unselect();
  else if (event.shiftKey && ARROWS[event.key] && hasPairs) extend(event.key);
  else if (ARROWS[event.key]) moveCursor(...ARROWS[event.key]);
  else if (KEYS[event.key]) KEYS[event.key]();
  else return;
  if ("+=-".includes(event.key)) view.reveal(cursor);
  event.preventDefault();
  changed();
}

function extend(key) {
  if (!view.area || !anchor) anchor = cursor;
  moveCursor(...ARROWS[key]);
  selectTo(cursor);
  clearTimeout(selectingKeys);
  selectingKeys = setTimeout(keepArea, KEYS_MS);
}

function unselect() {
  [view.area, anchor] = [null, null];
  setSelecting(false);
  keepArea();
}

const placeIn = (event) => [event.offsetX, event.offsetY];

function down(event) {
  if (event.button) return;
  moved = pointers.size ? Infinity : 0; // two fingers click nothing
  anchor = map && hasPairs && !pointers.size && (isSelecting || event.shiftKey) ? view.cellAt(...placeIn(event)) : null;
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
  if (anchor && after.length === 1) {
    const last = view.cellAt(...placeIn(event));
    if (moved > CLICK_PX && last) selectTo(last);
    return;
  }
  if (after.length > 1) view.zoomBy(distance(after) / (distance(before) || 1), ...to);
  if (moved > CLICK_PX) view.move(to[0] - from[0], to[1] - from[1]);
  changed();
}

function hover(event) {
  const cell = view.cellAt(...placeIn(event));
  if (cell) describe(cell);
}

function up(event) {
  if (!pointers.delete(event.pointerId) || pointers.size) return;
  if (anchor && view.area && moved > CLICK_PX) {
    cursor = [view.area[1], view.area[3]];
    keepArea();
    return setSelecting(false);
  }
  if (moved > CLICK_PX || event.type !== "pointerup") return;
  const cell = map && view.cellAt(...placeIn(event));
  if (!cell) return;
  cursor = cell;
  if (anchor) {
    selectTo(cell);
    return keepArea();
  }
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
  section.style.setProperty("--map-height", `${map.nRows * LARGEST + 2}px`);
  view.resize();
  paint();
  if (isFirst) placeView();
  showArea();
  if (isFirst && before.cell) {
    cursor = before.cell;
    canvas.focus({ preventScroll: true });
  }
  moveCursor(0, 0);
  performance.mark("map-shown");
}

// The panel with the numbers is read anew by itself; when it has changed, so has the map.
function followNumbers() {
  document.addEventListener("htmx:afterSwap", () => {
    const newest = document.querySelector("#coverage [data-newest]")?.dataset.newest;
    if (newest && map && newest !== map.head.version) load(element("question").value);
  });
}

export function beginMap() {
  if (!section) return;
  section.hidden = false;
  texts = new Texts(section.dataset.texts);
  describer = makeDescriber(element("cell"), texts, section.dataset);
  element("colour").addEventListener("change", paint);
  for (const id of ["rows", "columns"]) element(id).addEventListener("change", reorder);
  element("question").addEventListener("change", () => {
    keepAddress();
    load(element("question").value);
  });
  element("again").addEventListener("click", () => load(asked().get("question")));
  element("select").hidden = !hasPairs;
  element("select").addEventListener("click", () => setSelecting(!isSelecting));
  element("unselect").addEventListener("click", unselect);
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
  const repaint = () => map && paint();
  dark.addEventListener("change", repaint);
  new MutationObserver(repaint).observe(root, { attributeFilter: ["data-theme"] });
  new ResizeObserver(() => {
    view.resize();
    if (map) askFrame();
  }).observe(canvas);
  document.addEventListener(CHANGED, follow);
  followNumbers();
  load(asked().get("question"));
}
