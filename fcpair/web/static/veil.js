// An HS that is hidden until somebody asks for it, from eyes and screen readers alike.

const element = (id) => document.getElementById(id);

export const veiled = () => element("hs")?.classList.contains("veiled") ?? false;

// Hides the HS or shows it, and says on its button what that would do next.
export function veil(hidden) {
  element("hs").classList.toggle("veiled", hidden);
  element("hs").setAttribute("aria-hidden", hidden);
  element("reveal").setAttribute("aria-expanded", !hidden);
  element("reveal-word").textContent = hidden ? "Show" : "Hide";
}
