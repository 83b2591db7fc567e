// Light, dark, or as the system is: kept in a cookie, so that the server sends the next page as it will be.

const YEAR_S = 365 * 24 * 60 * 60;
const root = document.documentElement;
function show(look) {
  if (look) root.dataset.theme = look;
  else delete root.dataset.theme;
  for (const button of document.querySelectorAll("[data-look]")) {
    button.setAttribute("aria-pressed", button.dataset.look === look);
  }
}

for (const button of document.querySelectorAll("[data-look]")) {
  button.closest("fieldset").hidden = false;
  button.addEventListener("click", () => {
    const { look } = button.dataset;
    document.cookie = `look=${look}; path=/; max-age=${look ? YEAR_S : 0}; samesite=lax`;
    show(look);
  });
}
