/** Many durations in little room: buckets 2 % wide, so that a quantile is off by 1 % at most. */

/** bucket → how many */
export type Histogram = Record<number, number>;

const WIDTH = Math.log(1.02);

/** 0 is its own bucket; bucket 1 begins at 1 ms. */
const bucketOf = (ms: number): number => (ms < 1 ? 0 : 1 + Math.floor(Math.log(ms) / WIDTH));
const middleOf = (bucket: number): number => (bucket === 0 ? 0 : Math.round(Math.exp((bucket - 0.5) * WIDTH)));

export function addTo(histogram: Histogram, ms: number): void {
  const bucket = bucketOf(ms);
  histogram[bucket] = (histogram[bucket] ?? 0) + 1;
}

export function merge(into: Histogram, more: Histogram): void {
  for (const bucket in more) into[bucket] = (into[bucket] ?? 0) + more[bucket]!;
}

/** Of the values themselves: the smallest that at least this share does not exceed. null: there are none. */
export function exactQuantile(sorted: ArrayLike<number>, share: number): number | null {
  return sorted.length === 0 ? null : sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)]!;
}

export function quantileOf(histogram: Histogram, share: number): number | null {
  const buckets = Object.keys(histogram).map(Number);
  const total = buckets.reduce((sum, bucket) => sum + histogram[bucket]!, 0);
  const wanted = Math.max(1, Math.ceil(total * share));
  let passed = 0;
  for (const bucket of buckets.sort((a, b) => a - b)) {
    passed += histogram[bucket]!;
    if (passed >= wanted) return middleOf(bucket);
  }
  return null;
}
