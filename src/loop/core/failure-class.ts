/** Why an iteration failed: can the agent try again now, later, after a reset, or only after a person fixes something? */
import { short } from "../../engine/core/run-view.ts";
import type { AgentReport } from "./agent-output.ts";
import { isLimit } from "./usage-limit.ts";

export type FailureClass = "agent" | "infra" | "limit" | "config";

export interface Failure {
  class: FailureClass;
  why: string;
  /** what the person must do; null: nothing */
  remedy: string | null;
}

export interface Ending {
  /** "killed": by a signal that Pawl did not send */
  how: "exited" | "killed" | "timeout" | "interrupted" | "not-started";
  exit: number | null;
  said: AgentReport;
  /** its last output, or why it was not started */
  text: string;
}

type Rule = [pattern: RegExp, remedy: string];

const LOG_IN = "log in to the agent or give it a valid key, then start the loop again";
const MODEL = "name a model that this account may use, then start the loop again";
const OPTIONS = "fix the agent's command line (--ai-cmd, or `loop: ai:` in pawl.yaml); its --help lists the options";
const PAY = "pay, or choose another plan or key: waiting does not help";
const ROOT = "run the loop as another user, or remove `permissions: skip`";
const TRUST = "start the agent once by hand in this folder and answer what it asks";

/** Trying again is pointless. */
const CONFIG: Rule[] = [
  [
    /\b(?:invalid|incorrect|missing|no|expired|unset)\b.{0,20}\b(?:api[ _-]?key|auth(?:entication)? token|credentials?)\b/i,
    LOG_IN,
  ],
  [/\bapi[ _-]?key\b.{0,40}\b(?:not (?:valid|found|set)|invalid|missing|required|expired|must be set)\b/i, LOG_IN],
  [
    /\b(?:not logged in|please (?:run )?\/?(?:log ?in|login)|no authentication|authentication_(?:failed|error)|failed to authenticate|unauthenticated|unauthori[sz]ed|sign in to)\b/i,
    LOG_IN,
  ],
  [
    /\b(?:oauth )?token (?:has )?(?:expired|been revoked)|(?:refresh token|session) (?:has )?(?:expired|was revoked)/i,
    LOG_IN,
  ],
  [/\b(?:set|specify|configure) an? auth method\b|\bno (?:auth|provider)\b.{0,30}\bconfigured\b/i, LOG_IN],
  [/\b(?:status|error|code|http)\b[ :=("']*40[13]\b|\bpermission_error\b|\bpermission_denied\b/i, LOG_IN],
  [/\bmodel_not_found\b|\bissue with the selected model\b|\bProviderModelNotFoundError\b/i, MODEL],
  [
    /\bmodel\b.{0,60}\b(?:not found|does not exist|not supported|not available|is not enabled|unknown|invalid)\b/i,
    MODEL,
  ],
  [/\b(?:unknown|invalid|unsupported) model\b/i, MODEL],
  [
    /\b(?:unknown|unrecogni[sz]ed|unexpected|invalid) (?:option|argument|flag|command)s?\b|\bunknown arguments?:/i,
    OPTIONS,
  ],
  [/\bcannot be used with root\b/i, ROOT],
  [
    /\b(?:credit balance|balance)\b.{0,10}\btoo low\b|\binsufficient_quota\b|\bpayment required\b|\bbilling_(?:error|hard_limit)\b|\bmonthly spend limit\b/i,
    PAY,
  ],
  [/\bnot inside a trusted directory\b|\bworkspace is not trusted\b|\btrust this folder\b/i, TRUST],
  [/\bsession id\b.{0,50}\balready in use\b/i, "start the loop again: it takes a new session"],
];

/** Usually goes away by itself. */
const INFRA: RegExp[] = [
  /\b(?:ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EPIPE|ENETUNREACH|EHOSTUNREACH|UND_ERR_\w+)\b/,
  /\bconnection ?(?:was )?(?:refused|reset|error|closed|timed out|aborted|lost)\b/i,
  /\b(?:unable|failed|could not|cannot) to? ?(?:connect|reach|resolve)\b/i,
  /\b(?:getaddrinfo|dns|name resolution|certificate has expired|tls handshake|socket hang up|fetch failed|network error|request timed out|stream (?:error|disconnected|closed)|error sending request)\b/i,
  /\b(?:overloaded(?:_error)?|server_error|internal_server_error|internal server error|bad gateway|service unavailable|gateway time-?out|api_error|server-side issue|model is (?:currently )?(?:overloaded|experiencing))\b/i,
  /\b(?:status|error|code|http)\b[ :=("']*(?:5\d\d|408)\b/i,
  /\b(?:UNAVAILABLE|DEADLINE_EXCEEDED|INTERNAL)\b/,
  /\b(?:no space left on device|ENOSPC|ENOMEM|out of memory|cannot allocate memory|heap out of memory|too many open files)\b/i,
];

const LONGEST = 300;

/** `why` may be text of others. */
const failure = (kind: FailureClass, why: string, remedy: string | null = null): Failure => ({
  class: kind,
  why: short(why, LONGEST),
  remedy,
});

export function classify(ending: Ending): Failure {
  const { how, exit, said } = ending;
  if (how === "not-started") return notStarted(ending.text);
  if (how === "timeout") return failure("agent", "it did not end in time");
  if (how === "interrupted") return failure("agent", "it was interrupted");
  const limit = said.limit ?? (said.error !== null && isLimit(said.error) ? said.error : null);
  if (limit !== null && !isConfigAlone(limit)) return failure("limit", limit);
  if (said.error !== null) return byText(said.error) ?? failure("agent", said.error);
  if (how === "killed") return failure("infra", "killed by a signal that Pawl did not send");
  if (exit === 0) return failure("agent", "it exited");
  // A client gives the reason in its last lines. Lines of its protocol are skipped: they quote tools and files.
  const lines = ending.text.slice(-16_384).split("\n");
  const told = lines
    .map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith('{"'))
    .slice(-LAST_LINES)
    .join("\n");
  const known = byText(told);
  if (known) return known;
  // Shells and containers report a child killed by a signal like this.
  if (exit === 137 || exit === 143) return failure("infra", `exit ${exit}: killed by a signal that Pawl did not send`);
  return failure("agent", `it ended with ${exit}${told === "" ? "" : `: ${lastLine(told)}`}`);
}

function byText(text: string): Failure | null {
  const rule = CONFIG.find(([pattern]) => pattern.test(text));
  if (rule) return failure("config", matching(text, rule[0]), rule[1]);
  const limit = text.split("\n").findLast(isLimit);
  if (limit !== undefined) return failure("limit", limit);
  const found = INFRA.find((pattern) => pattern.test(text));
  return found ? failure("infra", matching(text, found)) : null;
}

/** Waiting does not end this limit. */
const isConfigAlone = (text: string) => CONFIG.some(([pattern, remedy]) => remedy === PAY && pattern.test(text));

function notStarted(text: string): Failure {
  if (/\b(?:ENOMEM|EAGAIN|EMFILE|ENFILE)\b/.test(text)) return failure("infra", text);
  const why = text.trim() === "" ? "it could not be started" : text;
  return failure("config", why, "install the agent, or name another one with --ai or --ai-cmd");
}

const LAST_LINES = 8;

const lastLine = (text: string) => text.split("\n").at(-1) ?? "";
const matching = (text: string, pattern: RegExp) => text.split("\n").findLast((line) => pattern.test(line)) ?? text;
