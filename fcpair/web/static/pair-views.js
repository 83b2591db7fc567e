// Views of the pairs that somebody has named: addresses, kept in this browser.

import { asked } from "./grid-address.js";

const { t } = globalThis.fcpairLanguage;
const ON_PAGE = ["after", "run", "zoom", "x", "y"]; // what is no part of a view

export function beginViews() {
  const [open, list, form] = ["open", "kept", "form"].map((part) => document.getElementById(`views-${part}`));
  if (!open) return;
  const key = `fcpair-views-${location.pathname}-${asked().get("grid") ?? ""}`;

  function read() {
    try {
      return JSON.parse(localStorage.getItem(key)) ?? {};
    } catch {
      return {};
    }
  }

  function show() {
    list.replaceChildren(
      ...Object.entries(read()).map(([name, search]) => {
        const line = document.createElement("li");
        const link = Object.assign(document.createElement("a"), { href: location.pathname + search, textContent: name, dir: "auto" });
        const forget = Object.assign(document.createElement("button"), { type: "button", className: "icon", textContent: "✕" });
        forget.setAttribute("aria-label", t("Forget the view “%(name)s”", { name }));
        forget.addEventListener("click", () => keep({ ...read(), [name]: undefined }));
        line.append(link, forget);
        return line;
      }),
    );
  }

  function keep(views) {
    localStorage.setItem(key, JSON.stringify(views));
    show();
  }

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const query = asked();
    for (const name of ON_PAGE) query.delete(name);
    keep({ ...read(), [form.elements.name.value.trim()]: `?${query}` });
    form.elements.name.value = "";
  });
  open.hidden = false;
  show();
}
