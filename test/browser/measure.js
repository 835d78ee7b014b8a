/** Runs in the page, and gives one line for each thing that a reader would stumble over. */
(() => {
  for (const details of document.querySelectorAll('details')) details.open = true;
  const found = [];
  const named = (text) => JSON.stringify(text.trim().slice(0, 60));

  const width = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth > width) {
    found.push(`the page is ${document.documentElement.scrollWidth} px wide, in a window of ${width}`);
  }

  const pieces = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const element = node.parentElement;
    const range = document.createRange();
    range.selectNodeContents(node);
    // What is meant for screen readers alone stands far outside of the window.
    const boxes = [...range.getClientRects()].filter((box) => box.width > 1 && box.height > 1 && box.right > 0);
    if (node.data.trim() !== '') for (const box of boxes) pieces.push({ node, element, box });
  }

  for (const { node, element, box } of pieces) {
    const frame = (element.closest('.card, .totals, header, main, footer') ?? document.body).getBoundingClientRect();
    if (box.left < frame.left - 1 || box.right > frame.right + 1)
      found.push(`runs out of its frame: ${named(node.data)}`);
  }

  for (const [at, one] of pieces.entries()) {
    for (const other of pieces.slice(at + 1)) {
      if (one.node === other.node) continue;
      const across = Math.min(one.box.right, other.box.right) - Math.max(one.box.left, other.box.left);
      const down = Math.min(one.box.bottom, other.box.bottom) - Math.max(one.box.top, other.box.top);
      // Line boxes are higher than their letters.
      if (across > 1 && down > Math.min(one.box.height, other.box.height) / 2) {
        found.push(`overlap: ${named(one.node.data)} and ${named(other.node.data)}`);
      }
    }
  }

  const colourOf = (text) => {
    const [red = 0, green = 0, blue = 0, alpha = 1] = (text.match(/[\d.]+/g) ?? []).map(Number);
    return [red, green, blue, alpha];
  };
  const luminance = (colour) => {
    const [red = 0, green = 0, blue = 0] = colour
      .slice(0, 3)
      .map((part) => part / 255)
      .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const backgroundOf = (element) => {
    for (let one = element; one; one = one.parentElement) {
      const colour = colourOf(getComputedStyle(one).backgroundColor);
      if (colour[3] === 1) return colour;
    }
    return [255, 255, 255, 1];
  };
  for (const { node, element } of pieces) {
    const style = getComputedStyle(element);
    const text = element.closest('svg') ? style.fill : style.color;
    const [lighter = 0, darker = 0] = [luminance(colourOf(text)), luminance(backgroundOf(element))].sort(
      (a, b) => b - a,
    );
    const ratio = (lighter + 0.05) / (darker + 0.05);
    const isLarge = Number.parseFloat(style.fontSize) >= (Number(style.fontWeight) >= 700 ? 18.66 : 24);
    if (ratio < (isLarge ? 3 : 4.5)) found.push(`contrast of ${ratio.toFixed(1)}: ${named(node.data)}`);
  }
  return [...new Set(found)];
})();
