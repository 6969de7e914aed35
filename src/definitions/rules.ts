/** How the words in files are written, where more than one shape needs it. */

export interface Rule {
  /** regular expression source, valid in JSON Schema too (no flags) */
  pattern: string;
  what: string;
  hint: string;
}

export const NAME: Rule = {
  pattern: "^[a-z][a-z0-9-]{0,47}$",
  what: "a name",
  hint: "use lower-case letters, digits and dashes, beginning with a letter, at most 48",
};
export const LINE: Rule = {
  pattern: "^[^\\r\\n]*\\S[^\\r\\n]*$",
  what: "one line of text",
  hint: "write it without line breaks",
};
export const INSIDE: Rule = {
  pattern: "^(?!/)(?!(?:.*/)?\\.\\.(?:/|$))[^\\\\\\u0000-\\u001f]*[^\\\\\\u0000-\\u001f/]$",
  what: "a relative path inside the project",
  hint: 'no leading or trailing "/", no ".." parts',
};
