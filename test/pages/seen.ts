/** What people see of a page: its texts and their colours, and whether these stand out from the background. */

export interface Text {
  text: string;
  colour: string;
  behind: string;
  /** Large, or bold and nearly large: less contrast is enough. */
  isLarge: boolean;
}

/** Runs in the browser: every text with its colour and the first opaque one behind it; the marks of pictures as well. */
export const textsOf = `(() => {
  const behind = (element) => {
    for (let one = element; one; one = one.parentElement) {
      const colour = getComputedStyle(one).backgroundColor;
      if (!/, 0\\)$|^transparent$/.test(colour)) return colour;
    }
    return 'rgb(255, 255, 255)';
  };
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    const text = walker.currentNode.data.trim();
    if (text === '' || element.closest('title, desc, style')) continue;
    const style = getComputedStyle(element);
    const size = parseFloat(style.fontSize);
    found.push({
      text: text.slice(0, 40),
      colour: element.closest('svg') ? style.fill : style.color,
      behind: behind(element),
      isLarge: size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 600),
    });
  }
  for (const mark of document.querySelectorAll('path.line, circle.dot, line.mark, line.stem')) {
    const style = getComputedStyle(mark);
    const colour = mark.matches('circle') ? style.fill : style.stroke;
    found.push({ text: mark.getAttribute('class'), colour, behind: behind(mark), isLarge: true });
  }
  return found;
})()`;

const channels = (colour: string): number[] => {
  const numbers = /^rgba?\((\d+), (\d+), (\d+)(?:, 1)?\)$/.exec(colour);
  if (!numbers) throw new Error(`Not an opaque colour: ${colour}`);
  return numbers.slice(1, 4).map(Number);
};

/** WCAG 2.2: relative luminance. */
function luminance(colour: string): number {
  const [red, green, blue] = channels(colour).map((channel) => {
    const share = channel / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!;
}

export function contrast(one: string, other: string): number {
  const [dark, bright] = [luminance(one), luminance(other)].sort((first, second) => first - second);
  return (bright! + 0.05) / (dark! + 0.05);
}

/** Texts whose contrast is below WCAG's AA, each pair of colours once. */
export function worstContrasts(texts: readonly Text[]): string[] {
  const low = texts.filter(({ colour, behind, isLarge }) => contrast(colour, behind) < (isLarge ? 3 : 4.5));
  return [
    ...new Map(
      low.map(({ text, colour, behind }) => [
        `${colour} ${behind}`,
        `${text}: ${colour} on ${behind}, ${contrast(colour, behind).toFixed(2)}`,
      ]),
    ).values(),
  ];
}
