// Copies to the clipboard, saves files, and makes PNG pictures.

const PNG_SCALE = 2;
const WIDEST_PNG = 16000; // pixels; browsers have limits of this size

/** Copies a text or a PNG; returns whether the browser allowed it. */
export async function copy(content) {
  try {
    if (content instanceof Blob) await navigator.clipboard.write([new ClipboardItem({ [content.type]: content })]);
    else await navigator.clipboard.writeText(content);
    return true;
  } catch {
    return content instanceof Blob ? false : copyTheOldWay(content);
  }
}

/** Without https, browsers only support this. */
function copyTheOldWay(text) {
  const area = document.createElement("textarea");
  area.value = text;
  area.className = "unseen";
  document.body.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  return done;
}

export function save(name, content, type) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

/** Returns an SVG picture as a PNG. */
export async function toPng(svg) {
  const address = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
  try {
    const image = new Image();
    image.src = address;
    await image.decode();
    const scale = Math.min(PNG_SCALE, WIDEST_PNG / image.width, WIDEST_PNG / image.height);
    const canvas = document.createElement("canvas");
    canvas.width = Math.round(image.width * scale);
    canvas.height = Math.round(image.height * scale);
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    return await new Promise((resolve) => { canvas.toBlob(resolve, "image/png"); });
  } finally {
    URL.revokeObjectURL(address);
  }
}
