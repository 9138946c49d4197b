// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The picture as a PNG file, with title and legend when asked for. Call it right after drawing: the canvas is cleared afterwards.
export function savePicture(source, name, caption) {
  const canvas = document.createElement("canvas"), to = canvas.getContext("2d");
  canvas.width = source.width;
  canvas.height = source.height;
  to.drawImage(source, 0, 0);
  if (caption) drawCaption(to, canvas, caption);
  canvas.toBlob((blob) => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }, "image/png");
}

function drawCaption(to, canvas, { title, words, legend }) {
  const style = getComputedStyle(document.documentElement), unit = canvas.height / 720, edge = 20 * unit;
  const font = (size, weight = 400) => { to.font = `${weight} ${size * unit}px ${getComputedStyle(document.body).fontFamily}`; };
  to.fillStyle = style.getPropertyValue("--text");
  font(16, 600);
  to.fillText(title, edge, edge + 14 * unit);
  to.fillStyle = style.getPropertyValue("--dim");
  font(13);
  to.fillText(words, edge, edge + 34 * unit);
  if (!legend) return;
  const wide = 240 * unit, high = 10 * unit, top = canvas.height - edge - 18 * unit - high;
  const bar = document.createElement("canvas");
  bar.width = 256;
  bar.height = 1;
  bar.getContext("2d").putImageData(new ImageData(new Uint8ClampedArray(legend.table), 256, 1), 0, 0);
  to.fillText(legend.title, edge, top - 7 * unit);
  to.drawImage(bar, edge, top, wide, high);
  font(12);
  to.textAlign = "center";
  for (const [mark, text] of legend.marks) {
    const part = legend.high > legend.low ? (mark - legend.low) / (legend.high - legend.low) : 0;
    to.fillText(text, edge + part * wide, top + high + 15 * unit);
  }
}
