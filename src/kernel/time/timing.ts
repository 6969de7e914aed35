/** Count, bounds, mean and deviation of times, one after the other and without keeping them (Welford's way). */
export interface Timing {
  count: number;
  min: number;
  max: number;
  mean: number;
  /** sum of squared distances from the mean */
  squares: number;
}

export const noTiming: Timing = { count: 0, min: 0, max: 0, mean: 0, squares: 0 };

export function timed({ count, min, max, mean, squares }: Timing, ms: number): Timing {
  const more = count + 1;
  const moved = mean + (ms - mean) / more;
  return {
    count: more,
    min: count === 0 ? ms : Math.min(min, ms),
    max: Math.max(max, ms),
    mean: moved,
    squares: squares + (ms - mean) * (ms - moved),
  };
}

/** Of all that were timed, not of a sample. */
export const deviation = ({ count, squares }: Timing) => (count < 2 ? 0 : Math.sqrt(squares / count));
