/** `*` within a part, `**` across parts, `?` one character. One sweep of the text for each sign: nothing makes it slow. */
export function matchesGlob(text: string, glob: string): boolean {
  let reached = Array.from({ length: text.length + 1 }, (_, at) => at === 0);
  for (const sign of glob.match(/\*\*\/|\*\*|\*|[^*]/gs) ?? []) reached = sweep(sign, text, reached);
  return reached[text.length] === true;
}

/** Which places are reached behind the sign, from the places reached before it. */
function sweep(sign: string, text: string, reached: boolean[]): boolean[] {
  let open = false;
  return reached.map((here, at) => {
    if (sign === "*") open = here || (open && text[at - 1] !== "/");
    else if (sign.startsWith("**")) open ||= here;
    else return reached[at - 1] === true && (sign === "?" ? text[at - 1] !== "/" : text[at - 1] === sign);
    return sign === "**/" ? here || (open && text[at - 1] === "/") : open;
  });
}
