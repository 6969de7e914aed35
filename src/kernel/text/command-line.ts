/** A command line as words, split as a shell would. No shell is run, so what only a shell can do is refused. */

type Split = { words: string[] } | { error: string; hint: string };

const WRAP = "no shell is run: put it in quotes, or wrap all of it: sh -c '…'";

export function splitCommand(line: string): Split {
  const words: string[] = [];
  let word: string | null = null;
  for (let at = 0; at < line.length; ) {
    const char = line[at]!;
    if (/\s/.test(char)) {
      if (word !== null) words.push(word);
      word = null;
      at++;
      continue;
    }
    const piece = pieceAt(line, at);
    if ("error" in piece) return piece;
    word = (word ?? "") + piece.text;
    at = piece.end;
  }
  if (word !== null) words.push(word);
  return checked(words);
}

type Piece = { text: string; end: number } | { error: string; hint: string };

function pieceAt(line: string, at: number): Piece {
  const char = line[at]!;
  if (char === "'") return singleAt(line, at);
  if (char === '"') return doubleAt(line, at);
  if (char === "\\") return escapeAt(line, at);
  if (/[|&;<>()$`]/.test(char))
    return { error: `\`${char}\` in the command line has a meaning to shells only`, hint: WRAP };
  return { text: char, end: at + 1 };
}

const unclosed = (quote: string): Piece => ({
  error: `a ${quote} in the command line is not closed`,
  hint: `close it, or write \\${quote} for the character itself`,
});

function singleAt(line: string, at: number): Piece {
  const end = line.indexOf("'", at + 1);
  return end < 0 ? unclosed("'") : { text: line.slice(at + 1, end), end: end + 1 };
}

function doubleAt(line: string, start: number): Piece {
  let text = "";
  for (let at = start + 1; at < line.length; at++) {
    const char = line[at]!;
    if (char === '"') return { text, end: at + 1 };
    if (char === "$" || char === "`")
      return { error: `\`${char}\` in double quotes has a meaning to shells only`, hint: WRAP };
    const escaped = char === "\\" && /["\\$`]/.test(line[at + 1] ?? "");
    if (escaped) at++;
    text += line[at];
  }
  return unclosed('"');
}

function escapeAt(line: string, at: number): Piece {
  const next = line[at + 1];
  if (next === undefined) return { error: "the command line ends with a backslash", hint: "take it away" };
  return { text: next === "\n" ? "" : next, end: at + 2 };
}

function checked(words: string[]): Split {
  const [program] = words;
  if (program === undefined || program === "")
    return { error: "the command line names no program", hint: "such as --ai-cmd 'my-agent --flag'" };
  if (/^[A-Za-z_]\w*=/.test(program))
    return {
      error: `${program} is no program: only shells set variables so`,
      hint: `begin it with env: env ${program} …`,
    };
  if (program.startsWith("~")) return { error: `${program}: only shells know what ~ is`, hint: "write the whole path" };
  return { words };
}
