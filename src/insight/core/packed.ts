/** Whole numbers as bytes, seven bits each, so that a small one takes one byte; a text behind them. The first four say where it begins. */

/** Where to write. Grows as needed, and is used again. */
export interface Packer {
  bytes: Uint8Array;
  at: number;
  encoder: TextEncoder;
  /** the names of what is being packed, each once */
  names: string[];
  /** names of this and others: looking one up is quicker than comparing it */
  known: Map<string, { pack: number; place: number }>;
  pack: number;
}

export interface Unpacker {
  bytes: Uint8Array;
  at: number;
}

/** 2^53 has eight times seven bits. */
const LONGEST_NUMBER = 8;
/** of a UTF-16 unit in UTF-8 */
const LONGEST_LETTER = 3;

const HEADER = 4;
const MOST_KNOWN = 10_000;

export const newPacker = (): Packer => ({
  bytes: new Uint8Array(8192),
  at: 0,
  encoder: new TextEncoder(),
  names: [],
  known: new Map(),
  pack: 0,
});

export function beginPack(packer: Packer): void {
  packer.at = HEADER;
  packer.names = [];
  packer.pack++;
  if (packer.known.size > MOST_KNOWN) packer.known.clear();
}

/** Its place among the names. */
export function putName(packer: Packer, name: string): void {
  const known = packer.known.get(name);
  if (known !== undefined && known.pack === packer.pack) {
    putNumber(packer, known.place);
    return;
  }
  const place = packer.names.push(name) - 1;
  if (known === undefined) packer.known.set(name, { pack: packer.pack, place });
  else {
    known.pack = packer.pack;
    known.place = place;
  }
  putNumber(packer, place);
}

export const newUnpacker = (bytes: Uint8Array): Unpacker => ({ bytes, at: HEADER });

/** Has to be asked for before so many numbers are written. */
export const reserveNumbers = (packer: Packer, count: number): void => reserve(packer, count * LONGEST_NUMBER);

function reserve(packer: Packer, more: number): void {
  const { bytes, at } = packer;
  if (at + more <= bytes.length) return;
  packer.bytes = new Uint8Array(2 * (at + more));
  packer.bytes.set(bytes.subarray(0, at));
}

/** Not negative. */
export function putNumber(packer: Packer, value: number): void {
  const { bytes } = packer;
  let { at } = packer;
  let rest = value;
  for (; rest >= 0x80000000; rest = Math.floor(rest / 128)) bytes[at++] = (rest % 128) | 128;
  for (; rest >= 128; rest >>>= 7) bytes[at++] = (rest & 127) | 128;
  bytes[at++] = rest;
  packer.at = at;
}

export const putSigned = (packer: Packer, value: number): void =>
  putNumber(packer, value < 0 ? -2 * value - 1 : 2 * value);

/** The last that is put. */
export function putText(packer: Packer, text: string): void {
  reserve(packer, text.length * LONGEST_LETTER);
  const { bytes, at } = packer;
  for (let n = 0; n < HEADER; n++) bytes[n] = (at >>> (8 * n)) & 255;
  packer.at += packer.encoder.encodeInto(text, bytes.subarray(at)).written;
}

export function takeNumber(unpacker: Unpacker): number {
  const { bytes } = unpacker;
  let value = 0;
  let weight = 1;
  for (;;) {
    const byte = bytes[unpacker.at++];
    if (byte === undefined) throw new RangeError("packed numbers end too early");
    value += (byte & 127) * weight;
    if (byte < 128) return value;
    weight *= 128;
  }
}

export function takeSigned(unpacker: Unpacker): number {
  const value = takeNumber(unpacker);
  return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
}

const decoder = new TextDecoder();

export function takeText({ bytes }: Unpacker): string {
  let at = 0;
  for (let n = HEADER - 1; n >= 0; n--) at = at * 256 + (bytes[n] ?? 0);
  return decoder.decode(bytes.subarray(at));
}
