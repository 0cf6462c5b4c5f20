// How trees are shown: what the reader has chosen. Everything but tags and features, which links contain, is remembered.

const KEY = "longarc-view";
const REMEMBERED = ["layout", "colours", "shading"];
export const LAYOUTS = ["auto", "across", "down"];

export const options = { layout: "auto", colours: true, shading: false, tags: true, features: false };

try {
  const stored = JSON.parse(localStorage.getItem(KEY) ?? "{}");
  if (LAYOUTS.includes(stored.layout)) options.layout = stored.layout;
  for (const name of ["colours", "shading"]) if (typeof stored[name] === "boolean") options[name] = stored[name];
} catch {
  // Nothing is stored, or storage is blocked.
}

export function setOption(name, value) {
  options[name] = value;
  try {
    localStorage.setItem(KEY, JSON.stringify(Object.fromEntries(REMEMBERED.map((key) => [key, options[key]]))));
  } catch {
    // The choice holds until the page is closed.
  }
}
