// Light or dark: follows the system until the switch is used, and then remembers the choice.
// A classic script in the head, so that the first paint already has the right colours.

{
  const KEY = "longarc-theme";
  const root = document.documentElement;
  const prefersDark = matchMedia("(prefers-color-scheme: dark)");

  const read = () => {
    try {
      return localStorage.getItem(KEY);
    } catch {
      return null; // storage is blocked
    }
  };
  const isDark = () => (root.dataset.theme ?? (prefersDark.matches ? "dark" : "light")) === "dark";

  if (["light", "dark"].includes(read())) root.dataset.theme = read();

  document.addEventListener("DOMContentLoaded", () => {
    const toggle = document.getElementById("theme");
    const show = () => toggle.setAttribute("aria-pressed", String(isDark()));
    show();
    prefersDark.addEventListener("change", show);
    toggle.addEventListener("click", () => {
      root.dataset.theme = isDark() ? "light" : "dark";
      show();
      for (const drawing of document.querySelectorAll("svg.drawing")) {
        drawing.classList.remove("longarc-auto", "longarc-light", "longarc-dark");
        drawing.classList.add(`longarc-${root.dataset.theme}`);
      }
      try {
        localStorage.setItem(KEY, root.dataset.theme);
      } catch {
        // The choice holds until the page is closed.
      }
    });
  });
}
