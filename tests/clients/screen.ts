/** As much of a terminal as the client's drawing needs: from bytes to what a person would read. */

interface Grid {
  rows: string[][];
  row: number;
  column: number;
  height: number;
  width: number;
}

const ESCAPE =
  /\x1b(?:\[([0-9;?<>=!]*)[ -/]*([@-~])|\][^\x07\x1b]*(?:\x07|\x1b\\)|[P_^][^\x1b]*\x1b\\|[()*+][A-Za-z0-9]|([=>78cDEHMNOZ]))/y;

export function makeScreen(width: number, height: number) {
  const grid: Grid = { rows: blank(height), row: 0, column: 0, height, width };
  let pending = "";

  function feed(text: string): void {
    pending += text;
    while (pending !== "") {
      const taken = step(grid, pending);
      if (taken === 0) return;
      pending = pending.slice(taken);
    }
  }

  return { feed, text: () => grid.rows.map((row) => row.join("").trimEnd()).join("\n") };
}

const blank = (height: number): string[][] => Array.from({ length: height }, () => []);

/** Applies what stands first and says how much it took; 0 = an escape that is not complete yet. */
function step(grid: Grid, text: string): number {
  if (text[0] !== "\x1b") return plain(grid, text);
  ESCAPE.lastIndex = 0;
  const found = ESCAPE.exec(text);
  if (!found) return text.length > 4096 ? 1 : 0;
  if (found[2]) control(grid, found[2], found[1] ?? "");
  return found[0].length;
}

function plain(grid: Grid, text: string): number {
  const symbol = String.fromCodePoint(text.codePointAt(0) ?? 32);
  if (symbol === "\r") grid.column = 0;
  else if (symbol === "\n") newline(grid);
  else if (symbol === "\b") grid.column = Math.max(0, grid.column - 1);
  else if (symbol >= " ") put(grid, symbol);
  return symbol.length;
}

function newline(grid: Grid): void {
  grid.row += 1;
  if (grid.row < grid.height) return;
  grid.rows.shift();
  grid.rows.push([]);
  grid.row = grid.height - 1;
}

function put(grid: Grid, symbol: string): void {
  const wide = Bun.stringWidth(symbol);
  if (wide === 0) return;
  if (grid.column + wide > grid.width) {
    grid.column = 0;
    newline(grid);
  }
  const row = rowAt(grid);
  while (row.length < grid.column) row.push(" ");
  row[grid.column] = symbol;
  if (wide === 2) row[grid.column + 1] = "";
  grid.column += wide;
}

function rowAt(grid: Grid): string[] {
  const row = grid.rows[grid.row] ?? [];
  grid.rows[grid.row] = row;
  return row;
}

function control(grid: Grid, name: string, parameters: string): void {
  const numbers = parameters.split(";").map((one) => Number.parseInt(one, 10));
  const first = Number.isNaN(numbers[0] ?? Number.NaN) ? undefined : numbers[0];
  const by = Math.max(1, first ?? 1);
  const moves: Record<string, () => void> = {
    A: () => goto(grid, grid.row - by, grid.column),
    B: () => goto(grid, grid.row + by, grid.column),
    C: () => goto(grid, grid.row, grid.column + by),
    D: () => goto(grid, grid.row, grid.column - by),
    E: () => goto(grid, grid.row + by, 0),
    F: () => goto(grid, grid.row - by, 0),
    G: () => goto(grid, grid.row, by - 1),
    d: () => goto(grid, by - 1, grid.column),
    H: () => goto(grid, by - 1, (numbers[1] || 1) - 1),
    f: () => goto(grid, by - 1, (numbers[1] || 1) - 1),
    K: () => eraseLine(grid, first ?? 0),
    J: () => eraseScreen(grid, first ?? 0),
    X: () => void rowAt(grid).fill(" ", grid.column, grid.column + by),
    P: () => void rowAt(grid).splice(grid.column, by),
    h: () => parameters === "?1049" && eraseScreen(grid, 2),
    l: () => parameters === "?1049" && eraseScreen(grid, 2),
  };
  moves[name]?.();
}

function goto(grid: Grid, row: number, column: number): void {
  grid.row = Math.min(Math.max(0, row), grid.height - 1);
  grid.column = Math.min(Math.max(0, column), grid.width - 1);
}

function eraseLine(grid: Grid, how: number): void {
  const row = rowAt(grid);
  if (how === 0) row.length = Math.min(row.length, grid.column);
  else if (how === 1) row.fill(" ", 0, grid.column + 1);
  else row.length = 0;
}

function eraseScreen(grid: Grid, how: number): void {
  if (how >= 2) grid.rows = blank(grid.height);
  else if (how === 0) {
    eraseLine(grid, 0);
    for (let row = grid.row + 1; row < grid.height; row += 1) grid.rows[row] = [];
  }
}
