/** The known word that a misspelt one is near enough to; null: none. */
export function nearest(word: string, known: readonly string[]): string | null {
  if (word.length > 64) return null;
  const ranked = known.map((candidate) => ({ candidate, steps: distance(word, candidate) }));
  const best = ranked.sort((a, b) => a.steps - b.steps)[0];
  return best && best.steps <= Math.max(1, Math.floor(best.candidate.length / 3)) ? best.candidate : null;
}

/** Edits (with neighbours swapped as one) between two words, letter case aside. */
export function distance(left: string, right: string): number {
  const a = left.toLowerCase();
  const b = right.toLowerCase();
  let older: number[] = [];
  let above = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const same = a[row - 1] === b[column - 1] ? 0 : 1;
      let best = Math.min(above[column]! + 1, current[column - 1]! + 1, above[column - 1]! + same);
      const swapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      if (swapped) best = Math.min(best, older[column - 2]! + 1);
      current.push(best);
    }
    older = above;
    above = current;
  }
  return above[b.length]!;
}
