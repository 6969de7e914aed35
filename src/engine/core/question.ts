import type { Ask, Choice, Json, ToolCall } from "../../kernel/types/run.ts";
import type { Draft } from "./draft.ts";

/** Finding the person's choice in their own words. Anything else leaves the question open. */

const plain = (text: string) =>
  text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, " ")
    .trim();

export function findChoice(ask: Ask, text: string): { name: string; choice: Choice } | null {
  const said = plain(text);
  if (said === "" || text.length > 80) return null;
  const entries = Object.entries(ask.choices);
  const index = entries.findIndex(([name, choice], i) => {
    const number = String(i + 1);
    const label = plain(choice.label);
    return [number, plain(name), label, `${number} ${label}`, ...choice.words.map(plain)].includes(said);
  });
  const hit = entries[index];
  return hit ? { name: hit[0], choice: hit[1] } : null;
}

/** The answer the person gave in the host's own question dialogue, since the question was put. */
export function choiceByTool(draft: Draft): { name: string; choice: Choice } | null {
  const { run, facts, workflow } = draft;
  const ask = workflow.asks[run.question?.ask ?? ""];
  if (!ask || !facts.tools?.ok) return null;
  const calls = facts.tools.value.filter((call) => call.name === "AskUserQuestion" && call.agent === "");
  for (const call of calls.toReversed()) {
    for (const answer of answersOf(call)) {
      const found = findChoice(ask, answer);
      if (found) return found;
    }
  }
  return null;
}

/** Only the structured answers count, never the text around them, which repeats the questions. */
function answersOf(call: ToolCall): string[] {
  const data = call.result?.data;
  if (!data || call.result?.error || typeof data !== "object" || Array.isArray(data)) return [];
  const answers: Json = data.answers ?? null;
  if (!answers || typeof answers !== "object") return [];
  return Object.values(answers).flatMap((answer) => (typeof answer === "string" ? [answer] : []));
}
