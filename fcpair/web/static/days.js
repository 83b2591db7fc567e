// Charts of days: the day at which somebody points, or that is reached by the arrow keys, is read above the chart.

function read(chart, day) {
  for (const one of chart.querySelectorAll(".days-day")) one.classList.toggle("is-read", one === day);
  const line = chart.querySelector(".days-pointed");
  for (const end of ["x1", "x2"]) line.setAttribute(end, day.getAttribute("cx"));
  line.setAttribute("visibility", "visible");
  chart.querySelector("output").textContent = day.dataset.reading;
}

function nearest(chart, x) {
  const box = chart.querySelector(".days-plot").getBoundingClientRect();
  const at = (100 * (x - box.left)) / box.width;
  const far = (day) => Math.abs(Number.parseFloat(day.getAttribute("cx")) - at);
  return [...chart.querySelectorAll(".days-day")].reduce((best, day) => (far(day) < far(best) ? day : best));
}

function point(event) {
  const chart = event.target.closest?.(".days-plot")?.closest("[data-days]");
  if (chart) read(chart, nearest(chart, event.clientX));
}

for (const kind of ["pointermove", "pointerdown"]) document.addEventListener(kind, point);
document.addEventListener("keydown", (event) => {
  const chart = event.target.closest?.(".days-plot")?.closest("[data-days]");
  const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (!chart || !step) return;
  event.preventDefault();
  const days = [...chart.querySelectorAll(".days-day")];
  const now = days.findIndex((day) => day.classList.contains("is-read"));
  read(chart, days[Math.min(Math.max((now < 0 ? days.length - 1 : now) + (now < 0 ? 0 : step), 0), days.length - 1)]);
});
