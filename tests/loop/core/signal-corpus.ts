/** What agents print, and what of it counts. `traps` look like a signal and are none, or hide one. */
const S = "<promise>SUCCESS</promise>";
const F = "<promise>FAILURE</promise>";

export interface Case {
  name: string;
  text: string;
  /** S, F, SF or nothing */
  says?: "S" | "F" | "SF";
  malformed?: string[];
  misplaced?: string[];
  quoted?: string[];
}

export const plain: Case[] = [
  { name: "alone", text: S, says: "S" },
  { name: "failure alone", text: F, says: "F" },
  { name: "both", text: `${S}\n\n${F}`, says: "SF" },
  { name: "explanation after", text: `${S}\n\nAll ready work completed:\n- task 42\n`, says: "S" },
  { name: "explanation before", text: `I looked everywhere.\n\nBlocked.\n${F}\n`, says: "F" },
  { name: "blanks behind it", text: `${S} \t \nbye`, says: "S" },
  { name: "between two lines of a paragraph", text: `Done.\n${S}\nAll of it.`, says: "S" },
  { name: "coloured, with Windows lines", text: `\u001b[32m${F}\u001b[0m\r\nso`, says: "F" },
  { name: "three spaces", text: `   ${S}`, says: "S" },
  { name: "Windows lines", text: `done\r\n\r\n${S}\r\nbye\r\n`, says: "S" },
  { name: "carriage returns only", text: `10 %\r50 %\r${S}\r`, says: "S" },
  { name: "after a fence", text: `\`\`\`\nx\n\`\`\`\n${S}`, says: "S" },
  { name: "after a fence that ends further in", text: `\`\`\`\nx\n   \`\`\`\`\t \n${S}`, says: "S" },
  { name: "behind three marks with one more", text: `\`\`\`a\`\n${S}`, says: "S" },
  { name: "after a fence of tildes", text: `~~~\n\`\`\`\n~~~\n${S}`, says: "S" },
  { name: "after a comment", text: `<!-- note -->\n\n${S}`, says: "S" },
  { name: "after a quote and a blank line", text: `> he said\n\n${S}`, says: "S" },
  { name: "a lone backtick before", text: `it\`s done\n\n${S}`, says: "S" },
  { name: "coloured", text: `\u001b[1;32m${S}\u001b[0m`, says: "S" },
  { name: "colour inside", text: "<promise>\u001b[1mSUCCESS\u001b[22m</promise>", says: "S" },
  { name: "colour inside the name", text: "<pro\u001b[0mmise>FAILURE</promise>", says: "F" },
  { name: "a link of the terminal", text: `\u001b]8;;http://x\u0007${S}\u001b]8;;\u001b\\`, says: "S" },
  { name: "twice", text: `${S}\n${S}`, says: "S" },
  { name: "after an open details of one line", text: `<details>x</details>\n\n${S}`, says: "S" },
  { name: "one right, one wrong", text: `<promise>success</promise>\n${F}`, says: "F", malformed: ["<promise>success</promise>"] }, // biome-ignore format: one line for each
  { name: "one right, one in code", text: `\`${F}\`\n\n${S}`, says: "S", quoted: [F] },
];

export const traps: Case[] = [
  { name: "both in one line", text: `${F}${S}`, misplaced: [F, S] },
  { name: "in a sentence", text: `So it is done: ${S} and that is all.`, misplaced: [S] },
  { name: "glued to words", text: `done${S}done`, misplaced: [S] },
  { name: "list item", text: `- ${S}`, misplaced: [S] },
  { name: "bold", text: `**${S}**`, misplaced: [S] },
  { name: "heading", text: `## ${S}`, misplaced: [S] },
  { name: "table cell", text: `| a | ${S} |`, misplaced: [S] },
  { name: "code elsewhere in the line", text: `Ran \`npm test\`: ${S}`, misplaced: [S] },
  { name: "code before and after", text: `\`a\` ${S} \`b\``, misplaced: [S] },
  { name: "after a comment in the line", text: `<!-- note --> ${S}`, misplaced: [S] },
  { name: "letters of many bytes around", text: `erledigt ✅${S}✅ schön`, misplaced: [S] },
  { name: "in JSON of one line", text: `{"text":"ok ${S}"}`, misplaced: [S] },
  { name: "nested", text: `<promise>${S}</promise>`, misplaced: [S] },
  { name: "a denial", text: `I must not emit ${S} yet.`, misplaced: [S] },
  { name: "a denial of failure", text: `There is no reason for ${F} here.`, misplaced: [F] },
  { name: "a denial over lines", text: `I must not\nemit ${S}\nyet`, misplaced: [S] },
  { name: "a denial at the line's beginning", text: `${S} would be too early.`, misplaced: [S] },
  { name: "a denial with Windows lines", text: `so\r\n${S} not yet\r\nbye\r\n`, misplaced: [S] },
  { name: "a coloured denial", text: `\u001b[31mnot\u001b[0m \u001b[1m${S}\u001b[0m yet`, misplaced: [S] },
  { name: "a full stop behind it", text: `${S}.`, misplaced: [S] },
  { name: "an exclamation mark", text: `${F}!`, misplaced: [F] },
  { name: "quotation marks", text: `"${S}"`, misplaced: [S] },
  { name: "numbered", text: `1. ${S}`, misplaced: [S] },
  { name: "checked off", text: `- [x] ${S}`, misplaced: [S] },
  { name: "a client's mark before it", text: `● ${S}`, misplaced: [S] },
  { name: "an invisible letter before it", text: `\u200b${S}`, misplaced: [S] },
  { name: "two in one line", text: `${S} ${S}`, misplaced: [S, S] },
  { name: "one misplaced, one right", text: `Not ${S}, but:\n\n${F}`, says: "F", misplaced: [S] },
  { name: "nothing", text: "" },
  { name: "only words", text: "I promise SUCCESS" },
  {
    name: "a reason inside",
    text: "<promise>FAILURE: no key</promise>",
    malformed: ["<promise>FAILURE: no key</promise>"],
  },
  { name: "a reason inside success", text: "<promise>SUCCESS - done</promise>", malformed: ["<promise>SUCCESS - done</promise>"] }, // biome-ignore format: one line for each
  { name: "lower case", text: "<promise>success</promise>", malformed: ["<promise>success</promise>"] },
  { name: "inner spaces", text: "<promise> SUCCESS </promise>", malformed: ["<promise> SUCCESS </promise>"] },
  { name: "a space in the tag", text: "< promise>SUCCESS</ promise>", malformed: ["< promise>SUCCESS</ promise>"] },
  { name: "tag with a capital", text: "<Promise>SUCCESS</Promise>", malformed: ["<Promise>SUCCESS</Promise>"] },
  { name: "all capitals", text: "<PROMISE>SUCCESS</PROMISE>", malformed: ["<PROMISE>SUCCESS</PROMISE>"] },
  { name: "unclosed", text: "<promise>SUCCESS", malformed: ["<promise>SUCCESS"] },
  { name: "unclosed, and goes on", text: "<promise>FAILURE\nbecause", malformed: ["<promise>FAILURE"] },
  { name: "closed by an opening", text: "<promise>SUCCESS<promise>", malformed: ["<promise>SUCCESS<promise>"] },
  { name: "over lines", text: "<promise>\nSUCCESS\n</promise>", malformed: ["<promise> SUCCESS </promise>"] },
  { name: "an attribute", text: '<promise status="SUCCESS"/>', malformed: ['<promise status="SUCCESS"/>'] },
  { name: "a colon", text: "<promise: FAILURE>", malformed: ["<promise: FAILURE>"] },
  { name: "another word", text: "<promise>DONE</promise>", malformed: ["<promise>DONE</promise>"] },
  { name: "empty", text: "<promise></promise>", malformed: ["<promise></promise>"] },
  { name: "an invisible letter inside", text: "<promise>\u200bSUCCESS</promise>", malformed: ["<promise>\u200bSUCCESS</promise>"] }, // biome-ignore format: one line for each
  { name: "a letter that looks like it", text: "<promise>SUCC\u0415SS</promise>", malformed: ["<promise>SUCC\u0415SS</promise>"] }, // biome-ignore format: one line for each
  { name: "about tags", text: "put the word between <promise> and </promise>" },
  { name: "about one tag", text: "I will print a <promise> tag in case of success" },
  { name: "a type", text: "Array<Promise<void>> and Map<string, Promise<SUCCESS>>" },
  { name: "closing only", text: "SUCCESS</promise>" },
  { name: "escaped", text: "&lt;promise&gt;SUCCESS&lt;/promise&gt;" },
  { name: "inline code", text: `say \`${S}\` then`, quoted: [S] },
  { name: "inline code over lines", text: `\`say\n${S}\nthen\``, quoted: [S] },
  { name: "double backticks", text: `\`\`a \` ${S} b\`\``, quoted: [S] },
  { name: "fence", text: `\`\`\`\n${S}\n\`\`\``, quoted: [S] },
  { name: "fence with a language", text: `\`\`\`xml\n${F}\n\`\`\`\nso`, quoted: [F] },
  { name: "open fence", text: `\`\`\`\n${S}`, quoted: [S] },
  { name: "fence of tildes", text: `~~~\n${S}\n~~~`, quoted: [S] },
  { name: "fence in a list", text: `- so:\n  \`\`\`\n  ${S}\n  \`\`\``, quoted: [S] },
  { name: "fence in a fence", text: `\`\`\`\`\n\`\`\`\n\`\`\`\n${S}\n\`\`\`\``, quoted: [S] },
  { name: "a fence much further in ends none", text: `\`\`\`\n    \`\`\`\n${S}\n\`\`\``, quoted: [S] },
  { name: "nor does one by a tab", text: `\`\`\`\n\t\`\`\`\n${S}\n\`\`\``, quoted: [S] },
  { name: "nor one with words behind it", text: `\`\`\`\n\`\`\` sh\n${S}\n\`\`\``, quoted: [S] },
  { name: "nor one of other marks", text: `\`\`\`\n~~~\n${S}\n\`\`\``, quoted: [S] },
  { name: "coloured fence", text: `\u001b[2m\`\`\`\u001b[0m\n${S}\n\u001b[2m\`\`\`\u001b[0m`, quoted: [S] },
  { name: "indented", text: `    ${S}`, quoted: [S] },
  { name: "tab", text: `\t${S}`, quoted: [S] },
  { name: "quote", text: `> ${S}`, quoted: [S] },
  { name: "lazy quote", text: `> he said\n${S}`, quoted: [S] },
  { name: "comment", text: `<!-- ${S} -->`, quoted: [S] },
  { name: "open comment", text: `<!-- so\n\n${S}`, quoted: [S] },
  { name: "pre", text: `<pre>\n\n${S}\n</pre>`, quoted: [S] },
  { name: "details", text: `<details>\n${S}\n\n${F}\n</details>`, quoted: [S, F] },
  { name: "malformed in code", text: "`<promise>FAILURE: why</promise>`" },
  { name: "only ten are kept", text: "<promise>no success</promise>\n".repeat(12), malformed: Array(10).fill("<promise>no success</promise>") }, // biome-ignore format: one line for each
  { name: "and not all of a long one", text: `<promise>FAILURE ${"x".repeat(200)}</promise>`, malformed: [`<promise>FAILURE ${"x".repeat(103)}`] }, // biome-ignore format: one line for each
];

/** `{prompt}` is the prompt as the client prints it. */
export const PROMPT = `═══════════════
PAWL PROCEDURE build
═══════════════
Iteration: 1 of 5

# Emit Success

You must output a SUCCESS promise when the procedure's goal is fully achieved.
- Output the exact signal: ${S}
- After the signal, include a summary

Example (build procedure, no work remaining):
${S}

All ready work completed, never \`<promise>FAILURE: why</promise>\`, never <promise>failure</promise>

# Emit Failure
If blocked, output the exact signal: ${F}
Then explain the blockers.
`;

const framed = (prefix: string, suffix = "") =>
  PROMPT.split("\n")
    .map((line) => prefix + line + suffix)
    .join("\n");
const wrapped = PROMPT.replace(/(.{20}\S*) /g, "$1\n");
const grey = PROMPT.split("\n").map((line) => `\u001b[90m${line}\u001b[0m`).join("\n"); // biome-ignore format: one thought

export const echoes: Case[] = [
  { name: "as it is", text: PROMPT },
  { name: "as it is, then success", text: `${PROMPT}\n${S}\n`, says: "S" },
  { name: "as it is, then failure at once", text: `${PROMPT}${F}`, says: "F" },
  { name: "as it is, then the words of the example", text: `${PROMPT}\nDone.\n\n${S}\n\nAll ready work completed`, says: "S" }, // biome-ignore format: one line for each
  { name: "twice", text: `${PROMPT}${PROMPT}` },
  { name: "with Windows lines", text: PROMPT.replaceAll("\n", "\r\n") },
  { name: "behind a word of the client", text: `user\n${PROMPT}\nassistant\n${F}`, says: "F" },
  { name: "quoted", text: framed("> ") },
  { name: "quoted, then success at once", text: `${framed("> ").trimEnd()}\n${S}`, says: "S" },
  { name: "framed", text: framed("│ ", " │") },
  { name: "framed, then success", text: `${framed("│ ", " │")}\n╰──╯\n${S}`, says: "S" },
  { name: "indented", text: framed("      ") },
  { name: "grey", text: `${grey}\n${S}`, says: "S" },
  { name: "wrapped", text: `${wrapped}\n\n${S}`, says: "S" },
  { name: "in a fence that is never closed", text: `\`\`\`\n${PROMPT}\n${S}`, says: "S" },
  { name: "only its middle", text: PROMPT.slice(120) },
  { name: "then words, then a tag in code", text: `${PROMPT}\nI read.\n\n\`\`\`\n${S}\n\`\`\`\n`, quoted: [S] },
  { name: "then a denial", text: `${PROMPT}\nNot yet ${S}, more to do.`, misplaced: [S] },
  {
    name: "malformed after it",
    text: `${PROMPT}\n<promise>failure</promise>`,
    malformed: ["<promise>failure</promise>"],
  },
];
