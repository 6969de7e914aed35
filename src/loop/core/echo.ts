/**
 * Agents print their prompt, and the prompt shows both signals. A tag is an echo if the letters before it are those
 * before the same tag in the prompt. Only letters and digits count: then it does not matter how the echo was wrapped,
 * indented, framed or marked with `>`.
 */

/** As many letters before a tag make it unmistakable. */
const CONTEXT = 32;
/** A prompt that begins with so few letters before its first tag is known by its beginning. */
const LEAST_BEGINNING = 8;
/** Enough of the text before a tag to find the letters in. */
export const ECHO_REACH = 1024;

export interface Echo {
  letters: string;
  /** the prompt's last line with a letter, to look for; "": too short for that */
  lastLine: string;
}

export function echoOf(prompt: string): Echo {
  const lines = prompt.split(/[\r\n]/).filter(hasLetters);
  const lastLine = lines.at(-1)?.trim() ?? "";
  return { letters: lettersOf(prompt), lastLine: lastLine.length < LEAST_BEGINNING ? "" : lastLine };
}

export function isEchoed(echo: Echo, before: string, tag: string): boolean {
  if (echo.letters === "") return false;
  const context = lettersOf(before.slice(-ECHO_REACH)).slice(-CONTEXT);
  const wanted = lettersOf(tag);
  if (context.length === CONTEXT && echo.letters.includes(context + wanted)) return true;
  const at = echo.letters.indexOf(wanted);
  if (at < 0 || at >= CONTEXT) return false;
  const beginning = echo.letters.slice(0, at);
  return context === beginning || (at >= LEAST_BEGINNING && context.endsWith(beginning));
}

export const mayEndEcho = ({ lastLine }: Echo, line: string) => lastLine !== "" && line.includes(lastLine);

/** Behind the echo the agent speaks, whatever fence or quote the prompt left open. */
export const endsEcho = ({ letters }: Echo, text: string) =>
  lettersOf(text.slice(-ECHO_REACH)).endsWith(letters.slice(-CONTEXT));

export const hasLetters = (text: string) => /[\p{L}\p{N}]/u.test(text);

const lettersOf = (text: string) => text.replace(/[^\p{L}\p{N}]+/gu, "");
