// The part of a map that is in sight, and how it is drawn: the whole map is one picture with a pixel for each cell, so that
// to move or to zoom is to draw it once more, at another place and size.

export const LARGEST = 48; // pixels of a cell of the whole map
const CLOSEST = 144; // and of a zoomed one
const STEP = 1.5;
const LEAST_MARK = 7; // pixels of the mark around the cell at the cursor
const MARK_WIDTH = 2;
const DIMMED = 0.7; // of what is beside the selected cells, the share of the background
const LEAST_TICK = [20, 44]; // pixels from one number to the next, of rows and of columns
const LEAST_TEXT = [16, 96]; // and of a row and of a column with the beginning of its text
const LEAST_GUTTER = 100; // pixels beside the map, in which texts have room

export class MapView {
  #canvas;
  #picture = document.createElement("canvas");
  #nRows = 1;
  #nColumns = 1;
  #width = 1;
  #height = 1;
  zoom = 1;
  area = null; // of selected cells: first and last row, first and last column, as they are shown
  x = 0; // the column and the row at the left and at the top, with fractions
  y = 0;

  constructor(canvas) {
    this.#canvas = canvas;
  }

  // Takes the class of every place and the colours of the classes, as bytes in the order in which a picture has them.
  paint({ nRows, nColumns }, classes, rows, columns, palette) {
    [this.#nRows, this.#nColumns] = [nRows, nColumns];
    this.#picture.width = nColumns;
    this.#picture.height = nRows;
    const image = new ImageData(nColumns, nRows);
    const pixels = new Uint32Array(image.data.buffer);
    let at = 0;
    for (const row of rows) {
      const first = row * nColumns;
      for (const column of columns) {
        pixels[at] = palette[classes[first + column]];
        at += 1;
      }
    }
    this.#picture.getContext("2d").putImageData(image, 0, 0);
    this.move(0, 0);
  }

  resize() {
    const [ratio, box] = [window.devicePixelRatio || 1, this.#canvas.getBoundingClientRect()];
    [this.#width, this.#height] = [Math.max(box.width, 1), Math.max(box.height, 1)];
    this.#canvas.width = Math.round(this.#width * ratio);
    this.#canvas.height = Math.round(this.#height * ratio);
    this.move(0, 0);
  }

  get #whole() {
    return [Math.min(this.#width / this.#nColumns, LARGEST), Math.min(this.#height / this.#nRows, LARGEST)];
  }

  // Width and height of a cell on the page.
  get scale() {
    return this.#whole.map((size) => Math.min(size * this.zoom, CLOSEST));
  }

  get mostZoom() {
    return Math.max(...this.#whole.map((size) => CLOSEST / size));
  }

  get isWhole() {
    return this.zoom === 1;
  }

  // The column and the row in the middle, with fractions.
  get centre() {
    const [width, height] = this.scale;
    return [this.x + this.#width / width / 2, this.y + this.#height / height / 2];
  }

  set centre([column, row]) {
    const [width, height] = this.scale;
    this.x = column - this.#width / width / 2;
    this.y = row - this.#height / height / 2;
    this.move(0, 0);
  }

  // Moves the map by so many pixels, never beyond its end.
  move(right, down) {
    const [width, height] = this.scale;
    this.x = between(0, this.x - right / width, Math.max(this.#nColumns - this.#width / width, 0));
    this.y = between(0, this.y - down / height, Math.max(this.#nRows - this.#height / height, 0));
  }

  // Zooms so that what is at (left, top) stays there; in the middle where no place is said.
  zoomBy(factor, left = this.#width / 2, top = this.#height / 2) {
    const [width, height] = this.scale;
    const [column, row] = [this.x + left / width, this.y + top / height];
    this.zoom = between(1, this.zoom * factor, this.mostZoom);
    const [newWidth, newHeight] = this.scale;
    [this.x, this.y] = [column - left / newWidth, row - top / newHeight];
    this.move(0, 0);
  }

  zoomIn() {
    this.zoomBy(STEP);
  }

  zoomOut() {
    this.zoomBy(1 / STEP);
  }

  showWhole() {
    this.zoomBy(1 / this.zoom);
  }

  // The row and the column, as they are shown, of what is at a place on the canvas; null beside the map.
  cellAt(left, top) {
    const [width, height] = this.scale;
    const [row, column] = [Math.floor(this.y + top / height), Math.floor(this.x + left / width)];
    return row >= 0 && row < this.#nRows && column >= 0 && column < this.#nColumns ? [row, column] : null;
  }

  // Moves the map until a cell is in sight.
  reveal([row, column]) {
    const [width, height] = this.scale;
    this.x = between(column + 1 - this.#width / width, this.x, column);
    this.y = between(row + 1 - this.#height / height, this.y, row);
    this.move(0, 0);
  }

  draw(cursor, isFocused) {
    const context = this.#canvas.getContext("2d");
    const [width, height] = this.scale;
    const ratio = this.#canvas.width / this.#width;
    const columns = Math.min(this.#width / width, this.#nColumns - this.x);
    const rows = Math.min(this.#height / height, this.#nRows - this.y);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, this.#width, this.#height);
    context.imageSmoothingEnabled = false;
    context.drawImage(this.#picture, this.x, this.y, columns, rows, 0, 0, columns * width, rows * height);
    if (this.area) this.#select(context, width, height);
    if (cursor && isFocused) this.#mark(context, cursor, width, height);
  }

  // What is beside the selected cells is dimmed, and a line goes around them.
  #select(context, width, height) {
    const [first, last, left, right] = this.area;
    const [x, y] = [(left - this.x) * width, (first - this.y) * height];
    const [across, down] = [(right + 1 - left) * width, (last + 1 - first) * height];
    const style = getComputedStyle(this.#canvas);
    context.save();
    context.globalAlpha = DIMMED;
    context.fillStyle = style.backgroundColor;
    context.beginPath();
    context.rect(0, 0, this.#width, this.#height);
    context.rect(x, y, across, down);
    context.fill("evenodd");
    context.restore();
    context.strokeStyle = style.color;
    context.lineWidth = MARK_WIDTH;
    context.strokeRect(x, y, across, down);
  }

  // Writes beside the map, at its side and at its top, what `name` says of the rows and of the columns in sight: by their
  // places as they are shown, and with their texts where there is room.
  drawAxes(side, top, name) {
    [side, top].forEach((canvas, axis) => {
      const [ratio, box] = [window.devicePixelRatio || 1, canvas.getBoundingClientRect()];
      [canvas.width, canvas.height] = [Math.round(box.width * ratio), Math.round(box.height * ratio)];
      const context = canvas.getContext("2d");
      const style = getComputedStyle(canvas);
      context.setTransform(ratio, 0, 0, ratio, 0, 0);
      [context.font, context.fillStyle, context.textBaseline] = [`12px ${style.fontFamily}`, style.color, "middle"];
      const size = this.scale[1 - axis];
      const hasTexts = size >= LEAST_TEXT[axis] && (axis || box.width >= LEAST_GUTTER);
      const step = hasTexts ? 1 : stepOf(LEAST_TICK[axis] / size);
      const [begin, end] = axis
        ? [this.x, Math.min(this.x + this.#width / size, this.#nColumns)]
        : [this.y, Math.min(this.y + this.#height / size, this.#nRows)];
      for (let at = Math.ceil(Math.floor(begin) / step) * step; at < end; at += step) {
        const middle = (at + 0.5 - begin) * size;
        const text = name(axis ? "columns" : "rows", at, hasTexts);
        const room = axis ? Math.max(size - 8, LEAST_TICK[1]) : box.width - 8;
        const shown = shorten(context, text, room);
        if (axis) context.fillText(shown, hasTexts ? middle - size / 2 + 4 : middle - context.measureText(shown).width / 2, box.height / 2);
        else context.fillText(shown, hasTexts ? 0 : Math.max(box.width - 8 - context.measureText(shown).width, 0), middle);
      }
    });
  }

  // A ring in two colours, one of which stands out on whatever is below it.
  #mark(context, [row, column], width, height) {
    const [across, down] = [Math.max(width, LEAST_MARK), Math.max(height, LEAST_MARK)];
    const left = (column + 0.5 - this.x) * width - across / 2;
    const top = (row + 0.5 - this.y) * height - down / 2;
    ["#000000", "#ffffff"].forEach((colour, at) => {
      context.strokeStyle = colour;
      context.lineWidth = MARK_WIDTH;
      const out = MARK_WIDTH * at;
      context.strokeRect(left - out, top - out, across + 2 * out, down + 2 * out);
    });
  }
}

// The least round number, 1, 2 or 5 times a power of ten, that is at least this.
function stepOf(least) {
  const power = 10 ** Math.floor(Math.log10(Math.max(least, 1)));
  return [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= least);
}

// The beginning of a text that has room.
function shorten(context, text, room) {
  if (context.measureText(text).width <= room) return text;
  let [short, long] = [0, text.length];
  while (long - short > 1) {
    const middle = (short + long) >> 1;
    if (context.measureText(`${text.slice(0, middle)}…`).width <= room) short = middle;
    else long = middle;
  }
  return `${text.slice(0, short)}…`;
}

function between(least, value, most) {
  return Math.min(Math.max(value, least), most);
}
