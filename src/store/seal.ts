/**
 * What Pawl alone may write carries a seal: an HMAC with a key that lies outside every repository. An edit by anyone
 * else is seen. It does not stop someone who reads the key: it makes forging deliberate, not easy (SECURITY.md).
 */
import { isObject, linkIfFree, lookAt, makeDirs, parseJson, readText, withTemp } from "./files.ts";
import { homeDir, PlaceError } from "./home.ts";
import { HEX, isMadeOf, join } from "./names.ts";

const HEAD = '{"seal":"';
const DIGITS = 64;

/** `json` is an object; `context` says where the text belongs, so that a sealed text cannot be put elsewhere. */
export function seal(context: string, json: string): string {
  return `${HEAD}${computeMac(knownKey() ?? makeKey(), context, json)}",${json.slice(1)}`;
}

/** The object as it was sealed; null: it was not written by this Pawl, or not for this place. */
export function unseal(context: string, text: string): string | null {
  const known = text.startsWith(HEAD) ? knownKey() : null;
  if (known === null) return null;
  const json = `{${text.slice(HEAD.length + DIGITS + 2)}`;
  return text.slice(HEAD.length, HEAD.length + DIGITS) === computeMac(known, context, json) ? json : null;
}

/** The object in a sealed file; null: there is none, or it was not written by this Pawl, or not for this place. */
export function readSealed(context: string, path: string, maxBytes?: number): Record<string, unknown> | null {
  const file = readText(path, maxBytes);
  const json = file.ok ? unseal(context, file.text.trimEnd()) : null;
  const value = json === null ? null : parseJson(json);
  return isObject(value) ? value : null;
}

function computeMac(key: string, context: string, json: string): string {
  const hasher = new Bun.CryptoHasher("sha256", key);
  return hasher.update(`${context.length}:${context}`).update(json).digest("hex");
}

let last: { path: string; key: string } | undefined;

/** Read once per home. null: there is none yet, so nothing was ever sealed; only sealing makes one. */
function knownKey(): string | null {
  const path = keyPath();
  if (last?.path === path) return last.key;
  const key = readKey();
  if (key !== null) last = { path, key };
  return key;
}

export const keyPath = () => join(homeDir(), ".local/share/pawl/key");

function readKey(): string | null {
  const path = keyPath();
  const file = readText(path, 1024);
  if (!file.ok && file.why === "missing") return null;
  if (!file.ok) throw new PlaceError(`the key ${path} cannot be read (${file.detail ?? file.why})`);
  const mode = lookAt(path)?.mode ?? 0;
  if ((mode & 0o077) !== 0) throw new PlaceError(`others can read the key ${path}: chmod 600 it`);
  if (file.text.length !== DIGITS || !isMadeOf(file.text, HEX)) throw new PlaceError(`the key ${path} is damaged`);
  return file.text;
}

/** The first process to link makes the key; the others use that one. */
function makeKey(): string {
  const path = keyPath();
  const folder = join(homeDir(), ".local/share/pawl");
  makeDirs(folder, 0o700);
  const fresh = crypto.getRandomValues(new Uint8Array(32)).toHex();
  withTemp(folder, fresh, 0o600, (temp) => linkIfFree(temp, path));
  return readKey() ?? fresh;
}
