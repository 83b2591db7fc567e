// An HS, and what it answers or translates, that are hidden until somebody asks for them, from eyes and screen readers alike.

const { t } = globalThis.fcpairLanguage;
const element = (id) => document.getElementById(id);

export const veiled = () => element("hs")?.classList.contains("veiled") ?? false;

// Hides the HS or shows it, and says on its button what that would do next.
export function veil(hidden) {
  const texts = ["hs", "answered-text", "untranslated-text"].map(element).filter(Boolean);
  for (const one of [...texts, ...document.querySelectorAll(".listed > legend")]) {
    one.classList.toggle("veiled", hidden);
    one.setAttribute("aria-hidden", hidden);
  }
  element("reveal").setAttribute("aria-expanded", !hidden);
  element("reveal-word").textContent = hidden ? t("Show it") : t("Hide it");
}
