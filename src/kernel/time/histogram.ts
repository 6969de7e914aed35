/** Many durations in little room: buckets 2 % wide, so that a quantile is off by 1 % at most. */

/** how many in each bucket */
export type Histogram = Uint32Array;

const WIDTH = Math.log(1.02);
/** as long as a date can be */
const BUCKETS = 2 + Math.ceil(Math.log(8.64e15) / WIDTH);

export const newHistogram = (): Histogram => new Uint32Array(BUCKETS);

/** 0 is its own bucket; bucket 1 begins at 1 ms. */
const bucketIndex = (ms: number): number => (ms < 1 ? 0 : Math.min(BUCKETS - 1, 1 + Math.floor(Math.log(ms) / WIDTH)));
export function addTo(histogram: Histogram, ms: number): void {
  histogram[bucketIndex(ms)]!++;
}

/** As text: bucket and count, bucket and count … of those that are not empty. */
export function packHistogram(histogram: Histogram): string {
  const pairs: number[] = [];
  for (let bucket = 0; bucket < BUCKETS; bucket++) if (histogram[bucket] !== 0) pairs.push(bucket, histogram[bucket]!);
  return JSON.stringify(pairs);
}

export function mergePacked(into: Histogram, packed: string): void {
  const pairs = JSON.parse(packed) as number[];
  for (let n = 0; n + 1 < pairs.length; n += 2) into[pairs[n]!]! += pairs[n + 1]!;
}

/** Of the values themselves: the smallest that at least this share does not exceed. null: there are none. */
export function exactQuantile(sorted: ArrayLike<number>, share: number): number | null {
  return sorted.length === 0 ? null : sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)]!;
}

export function computeQuantile(histogram: Histogram, share: number): number | null {
  let total = 0;
  for (let bucket = 0; bucket < BUCKETS; bucket++) total += histogram[bucket]!;
  const wanted = Math.max(1, Math.ceil(total * share));
  let passed = 0;
  for (let bucket = 0; bucket < BUCKETS; bucket++) {
    passed += histogram[bucket]!;
    if (passed >= wanted) return bucket === 0 ? 0 : Math.round(Math.exp((bucket - 0.5) * WIDTH));
  }
  return null;
}
