/** A command line as words, without a shell: nothing is expanded. */

/** A quotation or an escape (the line may end inside it), `>` with what belongs to it, one sign, a piece of a word. */
const PIECE = /'[^']*'?|"[^"\\]*(?:\\[\s\S][^"\\]*)*\\?"?|\\[\s\S]?|>[>&|]*|[\s<;&|(){}`$]|[^\s<>;&|(){}`$'"\\]+/g;

const splitPieces = (line: string): string[] => line.match(PIECE) ?? [];

/** Quotes and escapes are taken off; a backslash before the line's end joins the lines. */
function unquote(piece: string): string {
  if (piece[0] === "'") return piece.slice(1).replace(/'$/, "");
  // An unescaped double quote is the first or the last sign of its piece.
  if (piece[0] === '"') return piece.replace(/\\(["\\$`\n])|"/g, (_, sign = "") => sign.replace("\n", ""));
  return piece[0] === "\\" ? piece.slice(1).replace("\n", "") : piece;
}

// ── What a shell would run ──────────────────────────────────────────────────

/**
 * The simple commands in a shell line; what is in a command substitution counts as commands of its own.
 * What cannot be read plainly names no file.
 */
export function commandsIn(line: string): string[][] {
  const commands: string[][] = [[]];
  let word: string | null = null;
  /** the next word is where output goes: nothing is run from there */
  let isTarget = false;
  for (const piece of [...splitPieces(line), "\n"]) {
    if (!/^[\s<>;&|(){}`]/.test(piece)) {
      word = (word ?? "") + unquote(piece);
      continue;
    }
    if (word !== null && !isTarget) commands.at(-1)!.push(word);
    isTarget = piece.startsWith(">") || (isTarget && word === null && /^[ \t\r<]/.test(piece));
    word = null;
    if (/^[\n;&|(){}`]/.test(piece)) commands.push([]);
  }
  return commands.filter((words) => words.length > 0);
}

// ── What can be started without one ─────────────────────────────────────────

type Problem = { error: string; hint: string };

const WRAP = "no shell is run: put it in quotes, or wrap all of it: sh -c '…'";

/** Split as a shell would; what only a shell can do is refused. */
export function splitCommand(line: string): { words: string[] } | Problem {
  const words: string[] = [];
  let word: string | null = null;
  for (const piece of [...splitPieces(line), " "]) {
    const problem = findProblem(piece);
    if (problem) return problem;
    if (/\S/.test(piece)) word = (word ?? "") + unquote(piece);
    else if (word !== null) words.push(word);
    if (/^\s$/.test(piece)) word = null;
  }
  return programProblem(words[0] ?? "") ?? { words };
}

function findProblem(piece: string): Problem | null {
  const [sign = ""] = piece;
  const inDouble = /^"(?:[^\\$`]|\\[\s\S])*([$`])/.exec(piece)?.[1];
  if (inDouble) return { error: `\`${inDouble}\` in double quotes has a meaning to shells only`, hint: WRAP };
  if (/[|&;<>()$`]/.test(sign))
    return { error: `\`${sign}\` in the command line has a meaning to shells only`, hint: WRAP };
  if (piece === "\\") return { error: "the command line ends with a backslash", hint: "take it away" };
  const isClosed = /^'[^']*'$|^"(?:[^"\\]|\\[\s\S])*"$|^[^'"]/.test(piece);
  if (isClosed) return null;
  return {
    error: `a ${sign} in the command line is not closed`,
    hint: `close it, or write \\${sign} for the character itself`,
  };
}

function programProblem(program: string): Problem | null {
  if (program === "") return { error: "the command line names no program", hint: "such as --ai-cmd 'my-agent --flag'" };
  if (/^[A-Za-z_]\w*=/.test(program))
    return {
      error: `${program} is no program: only shells set variables so`,
      hint: `begin it with env: env ${program} …`,
    };
  return program.startsWith("~")
    ? { error: `${program}: only shells know what ~ is`, hint: "write the whole path" }
    : null;
}

/** One word of a command line, as a shell reads it back. */
export const quoteWord = (word: string) =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
